#include "client/script/script_text.h"

#include <algorithm>
#include <array>

#include "client/shell/shell_text.h"
#include "common/base/text.h"

namespace gpuadvise::client {
namespace {

// Commands that only print or wait and can be left out.
constexpr std::array<std::string_view, 16> kIdle = {
    "set",   "echo",   "date", "hostname",   "printf", "sleep", "wait", "exit",
    "which", "whoami", "pwd",  "nvidia-smi", "ls",     "true",  ":",    "uptime"};

// Whether redirections write a file: "> hosts.txt", but not "2>&1" or ">/dev/null".
bool WritesFile(std::string_view text) {
  for (size_t at = text.find('>'); at != std::string_view::npos; at = text.find('>', at)) {
    at = std::min(text.find_first_not_of(">| \t", at), text.size());
    const std::string_view target = text.substr(at, text.find_first_of(" \t\n;)", at) - at);
    if (!target.starts_with('&') && !target.starts_with("/dev/")) return true;
  }
  return false;
}

// Whether the words of a `set` change how the script fails or what it prints: -e, -euo pipefail,
// +x; not -f or --, on which the training's own words depend.
bool OnlyGuards(const std::vector<std::string>& words) {
  return std::all_of(words.begin() + 1, words.end(), [](const std::string& word) {
    if (word.empty()) return false;
    const bool letters = (word[0] == '-' || word[0] == '+') && word.size() > 1 &&
                         word.find_first_not_of("euxvo", 1) == std::string::npos;
    return letters || IsOneOf(word, {"pipefail", "errexit", "nounset", "xtrace", "verbose"});
  });
}

bool AllIdle(const ScriptStatement& statement) {
  return std::all_of(statement.commands.begin(), statement.commands.end(), IsIdle);
}

}  // namespace

bool IsIdle(const ScriptCommand& command) {
  const std::string& word = command.words[0];
  if (word == "set" && !OnlyGuards(command.words)) return false;
  const auto decides = [](const std::string& each) {  // : "${BATCH:=8}" "${DATA:?not set}"
    return each.find("${") != std::string::npos && each.find_first_of("=?") != std::string::npos;
  };
  if (word == ":" && std::any_of(command.words.begin(), command.words.end(), decides)) return false;
  return IsOneOf(word.substr(word.rfind('/') + 1), kIdle) && !WritesFile(command.redirections);
}

bool OnlyPrints(const ScriptStatement& statement) {
  const bool decides = !statement.text.starts_with("exit") &&
                       std::any_of(statement.commands.begin(), statement.commands.end(),
                                   [](const auto& command) { return command.words[0] == "exit"; });
  const bool waits =
      std::any_of(statement.commands.begin(), statement.commands.end(), [](const auto& command) {
        return IsOneOf(command.words[0], {"sleep", "wait"});
      });
  const bool writes = statement.compound && WritesFile(statement.text);
  return !decides && !waits && !writes && AllIdle(statement);
}

bool UsesName(std::string_view text, std::string_view variable) {
  for (size_t at = text.find(variable); at != std::string_view::npos;
       at = text.find(variable, at + 1)) {
    const size_t end = at + variable.size();
    const bool begins = at == 0 || !IsNamePart(text[at - 1]);
    const bool ends = end >= text.size() || !IsNamePart(text[end]);
    if (begins && ends) return true;
  }
  return false;
}

std::string ScriptArgumentIn(std::string_view text) {
  bool single = false;
  bool twice = false;
  for (size_t at = 0; at + 1 < text.size(); ++at) {
    if (text[at] == '\\' && !single) {
      ++at;
      continue;
    }
    if (text[at] == '\'' && !twice) single = !single;
    if (text[at] == '"' && !single) twice = !twice;
    if (text[at] != '$' || single) continue;
    const bool braces = text[at + 1] == '{';
    const size_t name = at + (braces ? 2 : 1);
    if (name >= text.size()) return {};
    const char c = text[name];
    const bool count = c == '#' && (!braces || (name + 1 < text.size() && text[name + 1] == '}'));
    if ((IsDigit(c) && c != '0') || c == '@' || c == '*' || count) {
      return std::string("$") + c;
    }
  }
  return {};
}

}  // namespace gpuadvise::client
