#include "client/shell_quote.h"

#include <algorithm>
#include <cctype>

namespace gpuadvise {
namespace {

bool IsPlain(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         std::string_view("_-./:=,+@%").find(c) != std::string_view::npos;
}

bool NeedsNoQuotes(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), IsPlain);
}

bool StartsVariable(std::string_view after_dollar) {
  if (after_dollar.empty()) return false;
  if (after_dollar[0] != '{') {
    return std::isalpha(static_cast<unsigned char>(after_dollar[0])) != 0 || after_dollar[0] == '_';
  }
  size_t end = 1;
  while (end < after_dollar.size() &&
         (std::isalnum(static_cast<unsigned char>(after_dollar[end])) != 0 ||
          after_dollar[end] == '_')) {
    ++end;
  }
  return end > 1 && end < after_dollar.size() && after_dollar[end] == '}';
}

}  // namespace

std::string ShellQuoted(std::string_view text) {
  if (NeedsNoQuotes(text)) return std::string(text);
  std::string quoted = "'";
  for (char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

std::string ShellExpanding(std::string_view text) {
  std::string quoted = "\"";
  if (text == "~" || text.starts_with("~/")) {
    quoted += "$HOME";
    text.remove_prefix(1);
  }
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool literal_dollar = c == '$' && !StartsVariable(text.substr(i + 1));
    if (c == '"' || c == '\\' || c == '`' || literal_dollar) quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

std::string DirectiveQuoted(std::string_view text) {
  std::string clean;
  bool quotes = text.empty();
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) c = '_';
    quotes =
        quotes || (!IsPlain(c) && std::string_view("[]|&*!()").find(c) == std::string_view::npos);
    if (c == '"' || c == '\\') clean += '\\';
    clean += c;
  }
  return quotes ? "\"" + clean + "\"" : clean;
}

std::string SafeName(std::string_view text) {
  std::string name;
  for (char c : text) {
    const bool kept =
        std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '.' || c == '_';
    name += kept ? c : '_';
  }
  while (name.starts_with('-') || name.starts_with('.')) name.erase(0, 1);
  constexpr size_t kLongest = 64;
  return name.empty() ? "train" : name.substr(0, kLongest);
}

}  // namespace gpuadvise
