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

}  // namespace

std::string WithCalledText(const std::string& statement, const ScriptCall& call) {
  size_t at = 0;
  if (!call.shell.empty()) at = statement.find(call.shell);
  if (at != std::string::npos) at = statement.find(call.word, at);
  if (at == std::string::npos || IsInQuotes(statement, at)) return {};
  std::string mark = "END_OF_" + LowerCase(SafeName(call.path.substr(call.path.rfind('/') + 1)));
  std::replace_if(
      mark.begin(), mark.end(), [](char c) { return !IsNamePart(c); }, '_');
  while (call.text.find(mark) != std::string::npos) mark += '_';
  std::string text = call.text;
  if (call.is_sourced && !call.arguments.empty())
    text = "set -- " + Join(call.arguments, " ") + "\n" + text;
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
  return statement.substr(0, statement.rfind(call.shell, at)) + "eval " + held +
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

}  // namespace gpuadvise::client
