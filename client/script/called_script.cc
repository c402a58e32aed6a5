#include "client/script/called_script.h"

#include <algorithm>
#include <string_view>

#include "client/sbatch/job_words.h"
#include "client/shell/shell_text.h"
#include "common/base/text.h"

namespace gpuadvise::client {
namespace {

constexpr std::string_view kHeld = "\"$(cat <<'";

// Whether `at` lies within quotes of `text`; a called script's text in it begins anew.
bool IsInQuotes(const std::string& text, size_t at) {
  const size_t held = text.rfind(kHeld, at);
  size_t from = held == std::string::npos ? 0 : text.find('\n', held);
  char quote = '\0';
  for (; from < at; ++from) {
    const char c = text[from];
    if (c == '\\' && quote != '\'') {
      ++from;
    } else if (quote == '\0' && (c == '\'' || c == '"')) {
      quote = c;
    } else if (c == quote) {
      quote = '\0';
    }
  }
  return quote != '\0';
}

// Where `statement` has the path of the call, behind the shell or at the start of a command; npos:
// nowhere.
size_t PlaceOf(const ScriptCall& call, const std::string& statement, size_t from) {
  for (size_t at = statement.find(call.word, from); at != std::string::npos;
       at = statement.find(call.word, at + 1)) {
    const size_t end = at + call.word.size();
    const bool ends =
        end >= statement.size() ||
        std::string_view(" \t\n;&|)\"").find(statement[end]) != std::string_view::npos;
    std::string_view before = std::string_view(statement).substr(0, at);
    const bool begins = before.empty() ||
                        std::string_view(" \t\n;&|(").find(before.back()) != std::string_view::npos;
    if (!begins || !ends) continue;
    while (before.ends_with(' ') || before.ends_with('\t')) before.remove_suffix(1);
    const std::string_view word = before.substr(before.find_last_of(" \t\n;&|(") + 1);
    if (call.shell.empty()) {
      const bool is_argument =
          IsOneOf(word, {"chmod", "+x", "-f", "-x", "-e", "cat", "cp", "test"});
      if (!is_argument) return at;
    } else if (word == call.shell || (word.starts_with('-') && word != "-f" && word != "-x")) {
      return at;
    }
  }
  return std::string::npos;
}

// "set -e" for a script that begins with "#!/bin/bash -e" and is run by itself; "": nothing.
std::string OptionsOfShell(std::string_view text) {
  const std::string_view line = TakeLine(text);
  const size_t options = line.find(" -");
  if (!line.starts_with("#!") || options == std::string_view::npos) return "";
  const std::string_view words = Trim(line.substr(options));
  return words == "-l" ? "" : "set " + std::string(words) + "\n";
}

}  // namespace

std::string WithCalledText(const std::string& statement, size_t from, const ScriptCall& call) {
  const size_t at = PlaceOf(call, statement, from);
  if (at == std::string::npos || IsInQuotes(statement, at)) return {};
  std::string mark = "END_OF_" + LowerCase(SafeName(call.path.substr(call.path.rfind('/') + 1)));
  std::replace_if(
      mark.begin(), mark.end(), [](char c) { return !IsNamePart(c); }, '_');
  while ((call.text + statement).find(mark) != std::string::npos) mark += '_';
  std::string text = call.text;
  if (call.is_sourced && !call.arguments.empty())
    text = "set -- " + Join(call.arguments, " ") + "\n" + text;
  if (call.shell.empty()) text = OptionsOfShell(text) + text;
  const std::string held =
      "\"$(cat <<'" + mark + "'\n" + WithoutTrailingNewlines(text) + "\n" + mark + "\n)\"";
  if (!call.is_sourced) {
    const std::string start = (call.shell.empty() ? "bash -c " : "-c ") + held + " ";
    return statement.substr(0, at) + start + statement.substr(at);
  }
  size_t end = at + call.word.size();
  for (const std::string& argument : call.arguments) {
    const size_t found = statement.find(argument, end);
    if (found == std::string::npos) return {};
    end = found + argument.size();
  }
  return statement.substr(0, statement.rfind(call.shell, at - 1)) + "eval " + held +
         statement.substr(end);
}

std::string HeldText(const std::string& raw) {
  if (!raw.starts_with(kHeld)) return {};
  const size_t end = raw.find("'\n", kHeld.size());
  if (end == std::string::npos) return {};
  const std::string mark = raw.substr(kHeld.size(), end - kHeld.size());
  const size_t text = end + 2;
  const size_t close = raw.find("\n" + mark + "\n)\"", text - 1);
  return close == std::string::npos || close < text ? "" : raw.substr(text, close + 1 - text);
}

HeldCall HeldCallIn(const std::string& statement) {
  const size_t at = statement.find(kHeld);
  HeldCall call{statement.substr(0, at), {}, false};
  if (at != std::string::npos) call.text = HeldText(statement.substr(at));
  if (call.text.empty()) return {statement, {}, false};
  const std::string_view rest =
      std::string_view(statement).substr(statement.find("\n)\"", at + call.text.size()) + 3);
  const size_t name = rest.find_first_not_of(" \t");  // $0
  const size_t end =
      std::min(rest.find_first_of(" \t\n;&|)", std::min(name, rest.size())), rest.size());
  const size_t argument = rest.find_first_not_of(" \t", end);
  call.has_arguments = argument != std::string_view::npos &&
                       std::string_view("\n;&|)<>").find(rest[argument]) == std::string_view::npos;
  return call;
}

}  // namespace gpuadvise::client
