#include "client/script/own_path.h"

#include <algorithm>
#include <string_view>

#include "client/shell/shell_text.h"
#include "common/base/text.h"

namespace gpuadvise::client {
namespace {

bool IsPlain(std::string_view path) {
  return !path.empty() && std::all_of(path.begin(), path.end(), [](char c) {
    return IsNamePart(c) || c == '/' || c == '.' || c == '-' || c == '+';
  });
}

// The length of the script's own name at the start of `text`; 0: it is something else.
size_t OwnNameAt(std::string_view text) {
  for (const std::string_view form :
       {"${BASH_SOURCE[0]}", "${BASH_SOURCE}", "$BASH_SOURCE", "${0}", "$0"}) {
    if (!text.starts_with(form)) continue;
    const bool ends =
        form.ends_with('}') || form.size() == text.size() || !IsNamePart(text[form.size()]);
    if (ends) return form.size();
  }
  return 0;
}

// Whether `before` ends with a command that takes a path apart, and perhaps its options.
bool EndsWithPathCommand(std::string_view before) {
  while (!before.empty()) {
    while (!before.empty() && (before.back() == '"' || before.back() == ' ')) {
      before.remove_suffix(1);
    }
    const size_t start = before.find_last_of(" (`\"\n\t;") + 1;
    const std::string_view word = before.substr(start);
    if (IsOneOf(word, {"dirname", "realpath", "readlink"})) return true;
    if (!word.starts_with('-')) return false;
    before = before.substr(0, start);
  }
  return false;
}

// Whether the name at `at` is meant as the script's path: awk's '{print $0}' is not.
bool IsMeantAsPath(std::string_view text, size_t at) {
  const size_t line = text.rfind('\n', at) + 1;  // npos + 1 is 0
  return EndsWithPathCommand(text.substr(line, at - line));
}

}  // namespace

std::string WithOwnPath(const std::string& text, const std::string& path) {
  if (!IsPlain(path)) return text;
  std::string changed;
  for (size_t at = 0; at < text.size();) {
    const std::string_view rest = std::string_view(text).substr(at);
    const size_t length = rest[0] == '$' ? OwnNameAt(rest) : 0;
    if (length > 0 && IsMeantAsPath(text, at)) {
      changed += path;
      at += length;
    } else {
      changed += text[at++];
    }
  }
  return changed;
}

bool UsesOwnPath(std::string_view text) {
  for (size_t at = text.find('$'); at != std::string_view::npos; at = text.find('$', at + 1)) {
    const std::string_view rest = text.substr(at);
    if (rest.starts_with("$BASH_SOURCE") || rest.starts_with("${BASH_SOURCE")) return true;
    if (rest.starts_with("${0") && rest.size() > 3 && !IsNamePart(rest[3])) return true;
    const bool quoted = at > 0 && text[at - 1] == '"';
    if (OwnNameAt(rest) > 0 && (quoted || IsMeantAsPath(text, at))) return true;
  }
  return false;
}

}  // namespace gpuadvise::client
