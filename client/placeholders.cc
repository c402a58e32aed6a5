#include "client/placeholders.h"

namespace gpuadvise {
namespace {

bool IsWordCharacter(char c) { return (c >= 'a' && c <= 'z') || c == '_'; }

}  // namespace

std::string Filled(std::string_view text, const Placeholders& values) {
  std::string filled;
  while (!text.empty()) {
    const size_t open = text.find('{');
    filled += text.substr(0, open);
    if (open == std::string_view::npos) break;
    text.remove_prefix(open);
    size_t end = 1;
    while (end < text.size() && IsWordCharacter(text[end])) ++end;
    const bool closed = end < text.size() && text[end] == '}';
    const auto value = closed ? values.find(text.substr(1, end - 1)) : values.end();
    // "${name}" is the shell's own even where the word is one of ours.
    const bool shells = !filled.empty() && filled.back() == '$';
    if (value == values.end() || shells) {
      filled += '{';
      text.remove_prefix(1);
    } else {
      filled += value->second;
      text.remove_prefix(end + 1);
    }
  }
  return filled;
}

}  // namespace gpuadvise
