#include "client/script/kept_script.h"

#include <algorithm>

#include "client/script/script_text.h"
#include "client/shell/shell_text.h"
#include "client/shell/shell_words.h"
#include "common/base/text.h"

namespace gpuadvise::client {
namespace {

// `set -e`, `set -euo pipefail`, `set -o errexit`.
bool EndsOnFailure(const std::vector<ScriptStatement>& statements) {
  return std::any_of(statements.begin(), statements.end(), [](const ScriptStatement& statement) {
    if (statement.compound || statement.commands.empty()) return false;
    const std::vector<std::string>& words = statement.commands[0].words;
    if (words[0] != "set") return false;
    return std::any_of(words.begin() + 1, words.end(), [](const std::string& word) {
      const bool letters = word.size() > 1 && word[0] == '-' && word[1] != '-';
      return word == "errexit" || (letters && word.find('e') != std::string::npos);
    });
  });
}

// Whether a command prepares a training in a way that setup has, too: it does not fail in normal
// use, and what it leaves is environment.
bool OnlyPrepares(const ScriptCommand& command) {
  const std::string& name = command.words[0];
  if (command.may_be_skipped) return IsIdle(command);
  if (name == "mkdir") return IsOneOf("-p", command.words);
  if (name == "set") return !IsOneOf("--", command.words) && !IsOneOf("-a", command.words);
  return IsIdle(command) || IsAssignment(name) ||
         IsOneOf(name,
                 {"export", "declare", "readonly", "cd", "module", "ml", "source", ".", "conda",
                  "mamba", "micromamba", "eval", "spack", "ulimit", "umask", "unset", ":"});
}

bool RunsInBackground(const ScriptStatement& statement) { return statement.text.ends_with('&'); }

bool IsPlainSetup(const ScriptStatement& statement, bool ends_on_failure) {
  if (RunsInBackground(statement)) return false;
  if (OnlyPrints(statement)) return true;
  const bool acts = std::any_of(
      statement.commands.begin(), statement.commands.end(), [](const ScriptCommand& command) {
        return IsOneOf(command.words[0], {"trap", "wait", "shift", "getopts", "coproc"});
      });
  if (acts) return false;
  if (ends_on_failure) {
    return std::none_of(statement.commands.begin(), statement.commands.end(),
                        [](const ScriptCommand& command) {
                          return command.may_be_skipped && IsAssignment(command.words[0]);
                        });
  }
  return !statement.compound &&
         std::all_of(statement.commands.begin(), statement.commands.end(), OnlyPrepares);
}

// Whether nothing but the training is in its statement: "cd x && torchrun … | tee log" is plain.
bool IsPlainStart(const ScriptStatement& statement, const LaunchCommand& launch) {
  if (statement.compound || RunsInBackground(statement)) return false;
  size_t behind = launch.command;
  while (behind < statement.commands.size() && statement.commands[behind].piped_on) ++behind;
  for (size_t i = 0; i < statement.commands.size(); ++i) {
    const bool before = i < launch.command && !OnlyPrepares(statement.commands[i]);
    if (before || (i > behind && !IsIdle(statement.commands[i]))) return false;
  }
  return true;
}

// The tasks of srun are processes of the program, or it starts them in its own way.
bool DependsOnSrun(const LaunchCommand& launch) {
  if (!launch.srun) return false;
  const bool single = IsOneOf(launch.srun->options.Get("ntasks").value_or(""), {"1"});
  return !launch.srun->left.empty() || launch.launcher == Launcher::kOther ||
         (launch.launcher == Launcher::kPython && !single);
}

// mpirun, and deepspeed with a list of hosts, start the other nodes themselves.
bool StartsNodes(const LaunchCommand& launch) {
  return launch.launcher == Launcher::kMpi || TextOf(launch).find("hostfile") != std::string::npos;
}

// "train" of "train() { … }" and of "function train { … }".
std::string FunctionOf(const ScriptStatement& statement) {
  std::string_view text = statement.text;
  if (text.starts_with("function ")) text = Trim(text.substr(9));
  size_t end = 0;
  while (end < text.size() && (IsNamePart(text[end]) || text[end] == '-')) ++end;
  return std::string(text.substr(0, end));
}

}  // namespace

bool MustStayWhole(const std::vector<ScriptStatement>& statements, const LaunchCommand& launch) {
  if (launch.has_neighbours || DependsOnSrun(launch) || StartsNodes(launch)) return true;
  const bool ends_on_failure = EndsOnFailure(statements);
  for (size_t i = 0; i < statements.size(); ++i) {
    const ScriptStatement& statement = statements[i];
    const bool plain = i == launch.statement  ? IsPlainStart(statement, launch)
                       : i < launch.statement ? IsPlainSetup(statement, ends_on_failure)
                                              : std::all_of(statement.commands.begin(),
                                                            statement.commands.end(), IsIdle);
    if (!plain) return true;
  }
  return false;
}

bool RunsSeveralTimes(const std::vector<ScriptStatement>& statements, const LaunchCommand& launch) {
  if (launch.in_loop) return true;
  if (launch.block != ScriptBlock::kFunction) return false;
  const std::string name = FunctionOf(statements[launch.statement]);
  int calls = 0;
  for (size_t i = 0; i < statements.size(); ++i) {
    for (const ScriptCommand& command : statements[i].commands) {
      const bool own = i == launch.statement && command.block == ScriptBlock::kFunction;
      if (own || command.words[0] == "export" || !IsOneOf(name, command.words)) continue;
      calls += command.in_loop ? 2 : 1;
    }
  }
  return calls != 1;
}

KeptScript::KeptScript(std::string text, const ScriptStatement& training,
                       const LaunchCommand& launch)
    : text_(std::move(text)),
      begin_(training.begin),
      end_(training.begin + training.text.size()),
      last_word_(training.commands[launch.command].words.back()) {}

int KeptScript::Put(std::string_view name, std::string_view raw, std::string_view now) {
  return PutFrom(0, name, raw, now);
}

int KeptScript::PutOfTraining(std::string_view name, std::string_view raw, std::string_view now) {
  return PutFrom(begin_, name, raw, now);
}

int KeptScript::PutFrom(size_t from, std::string_view name, std::string_view raw,
                        std::string_view now) {
  const std::string escaped = ReplaceAll(ReplaceAll(std::string(raw), "$", "\\$"), "\"", "\\\"");
  int count = 0;
  for (size_t at = text_.find(name, from); at < end_; at = text_.find(name, at + 1)) {
    if (!BeginsWord(at) || IsInComment(at)) continue;
    const size_t value = ValueAt(at + name.size());
    if (value == std::string::npos) continue;
    for (const std::string_view each : {raw, std::string_view(escaped)}) {
      if (text_.compare(value, each.size(), each) != 0 || !EndsWord(value + each.size())) continue;
      if (now.empty()) {
        ReplaceAt(at, value + each.size() - at, "");
      } else {
        ReplaceAt(value, each.size(), now);
      }
      ++count;
      break;
    }
  }
  return count;
}

bool KeptScript::Assign(std::string_view variable, std::string_view now) {
  const std::string begin = std::string(variable) + "=";
  size_t found = std::string::npos;
  for (size_t at = text_.find(begin); at != std::string::npos; at = text_.find(begin, at + 1)) {
    const bool option = at > 0 && (text_[at - 1] == '-' || text_[at - 1] == '.');
    if (option || (at > 0 && IsNamePart(text_[at - 1])) || IsInComment(at)) continue;
    if (found != std::string::npos) return false;
    found = at + begin.size();
  }
  if (found == std::string::npos) return false;
  size_t end = found;
  for (int depth = 0; end < text_.size(); ++end) {
    const char c = text_[end];
    if (c == '\n' || (depth == 0 && std::string_view(" \t;&|").find(c) != std::string_view::npos))
      break;
    if (c == '(' || c == '{') ++depth;
    if (c == ')' || c == '}') --depth;
  }
  const std::string value = text_.substr(found, end - found);
  const bool number = std::all_of(value.begin(), value.end(),
                                  [](char c) { return IsDigit(c) || c == '"' || c == '\''; });
  const bool is_default = value.find(":-") != std::string::npos;
  if (value.empty() || (!number && !is_default && !value.starts_with("$(("))) return false;
  ReplaceAt(found, value.size(), now);
  return true;
}

bool KeptScript::Replace(std::string_view word, std::string_view now) {
  if (word.empty()) return false;
  for (size_t at = text_.rfind(word, end_); at != std::string::npos;
       at = at == 0 ? std::string::npos : text_.rfind(word, at - 1)) {
    const size_t end = at + word.size();
    if (end > end_ || !BeginsWord(at) || !EndsWord(end) || IsInComment(at)) continue;
    ReplaceAt(at, word.size(), now);
    return true;
  }
  return false;
}

bool KeptScript::Append(const LaunchCommand& launch, std::string_view words) {
  const std::string& last = launch.words.back().raw;
  return Replace(last, last + std::string(words)) ||
         Replace(last_word_, last_word_ + std::string(words));
}

void KeptScript::ReplaceAt(size_t at, size_t length, std::string_view now) {
  text_.replace(at, length, now);
  const size_t grown = now.size() - length;  // wraps around, as the sums below do
  if (at < begin_) begin_ += grown;
  if (at <= end_) end_ += grown;
}

bool KeptScript::BeginsWord(size_t at) const {
  return at == 0 || std::string_view(" \t\r\n\"'(=;&|`+,").find(text_[at - 1]) != std::string::npos;
}

bool KeptScript::EndsWord(size_t at) const {
  return at >= text_.size() ||
         std::string_view(" \t\r\n\"');&|\\`,").find(text_[at]) != std::string::npos;
}

bool KeptScript::IsInComment(size_t at) const {
  const size_t begin = at == 0 ? 0 : text_.rfind('\n', at - 1) + 1;  // npos + 1 is 0
  bool quoted = false;
  for (size_t i = begin; i < at; ++i) {
    if (text_[i] == '"' || text_[i] == '\'') quoted = !quoted;
    const bool starts = i == begin || text_[i - 1] == ' ' || text_[i - 1] == '\t';
    if (text_[i] == '#' && starts && !quoted) return true;
  }
  return false;
}

// Where the value of a name that ends at `at` begins: behind "=", or behind blanks and continued
// lines; npos: there is none.
size_t KeptScript::ValueAt(size_t at) const {
  if (at >= text_.size()) return std::string::npos;
  if (text_[at] == '=') return at + 1;
  const bool quote = text_[at] == '"' || text_[at] == '\'';  // "--batch" 8
  const size_t gap = at + (quote ? 1 : 0);
  size_t value = gap;
  while (value < text_.size()) {
    const bool continues = text_.compare(value, 2, "\\\n") == 0;
    if (!continues && !IsOneOf(text_.substr(value, 1), {" ", "\t", "\r", "\n"})) break;
    value += continues ? 2 : 1;
  }
  return value == gap ? std::string::npos : value;
}

std::string KeptScript::Body() const {
  std::string body;
  std::string_view rest = text_;
  while (!rest.empty()) {
    const std::string_view line = TakeLine(rest);
    const bool is_header = line.starts_with("#SBATCH") || (body.empty() && line.starts_with("#!"));
    if (is_header || (body.empty() && Trim(line).empty())) continue;
    body += std::string(line) + "\n";
  }
  while (body.ends_with('\n') || body.ends_with(' ')) body.pop_back();
  return body;
}

}  // namespace gpuadvise::client
