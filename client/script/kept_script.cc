#include "client/script/kept_script.h"

#include <algorithm>

#include "client/sbatch/job_words.h"
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
        return IsOneOf(command.words[0], {"trap", "wait", "shift", "getopts", "coproc"}) ||
               (command.words[0] == "set" && !IsIdle(command));
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

// Whether what follows a command gives its output to a file: "2>&1 | tee log", not "2>&1" alone.
bool WritesAFile(std::string_view tail) {
  for (size_t at = tail.find_first_of("|>"); at != std::string_view::npos;
       at = tail.find_first_of("|>", at + 1)) {
    const std::string_view to = tail.substr(at + 1);
    if (tail[at] == '>' && to.starts_with('&') && to.size() > 1 && (IsDigit(to[1]) || to[1] == '-'))
      continue;
    if (Trim(to).starts_with("/dev/null")) continue;
    return true;
  }
  return false;
}

// Whether a word that the job's shell expands before srun would be another one on each node:
// "$HOSTNAME", "$(date +%s)". A lone $RANDOM is drawn once by submit.
bool VariesByNode(std::string_view raw) {
  const bool computes = raw.find('(') != std::string_view::npos;
  if (computes && raw.find("RANDOM") != std::string_view::npos) return true;
  for (const std::string_view part : {"$HOSTNAME", "${HOSTNAME", "$$", "$BASHPID"}) {
    if (raw.find(part) != std::string_view::npos) return true;
  }
  if (raw.find("$(") == std::string_view::npos && raw.find('`') == std::string_view::npos) {
    return false;
  }
  for (const std::string_view program : {"date", "hostname", "uuidgen", "shuf", "mktemp"}) {
    if (raw.find(program) != std::string_view::npos) return true;
  }
  return false;
}

bool VariesByNode(const LaunchCommand& launch) {
  if (launch.of_text) return false;  // each node's shell expands it
  for (const LaunchWord& word : launch.words) {
    // submit gives the address of the job
    const bool is_address = word.raw.find("hostname") != std::string::npos &&
                            (word.raw.find("--rdzv") == 0 || word.raw.find("--master") == 0);
    if (!is_address && VariesByNode(word.raw)) return true;
  }
  return false;
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

bool MustStayWhole(const std::vector<ScriptStatement>& statements, const LaunchCommand& launch,
                   int64_t nodes) {
  if (launch.has_neighbours || DependsOnSrun(launch) || StartsNodes(launch)) return true;
  const bool of_nodes = launch.srun && nodes > 1;
  if (of_nodes && (WritesAFile(launch.tail) || VariesByNode(launch))) return true;
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

KeptScript::KeptScript(std::string text, const std::vector<ScriptStatement>& statements,
                       const LaunchCommand& launch)
    : text_(std::move(text)) {
  const ScriptCommand& training = statements[launch.statement].commands[launch.command];
  last_word_ = training.words.back();
  areas_.push_back({training.begin, training.end});
  const auto holds_words = [&](const ScriptCommand& command) {
    return std::any_of(command.words.begin(), command.words.end(), [&](const std::string& word) {
      return IsOneOf(word.substr(0, word.find_first_of("+=")), launch.held);
    });
  };
  std::vector<Area> others;  // CMD="python train.py …" comes before them
  for (const ScriptStatement& statement : statements) {
    for (const ScriptCommand& command : statement.commands) {
      const std::string& word = command.words[0];
      const bool assigns = IsAssignment(word) || word == "read" ||
                           IsOneOf(word, {"export", "declare", "readonly", "local", "typeset"});
      if (!assigns) continue;
      // The text of a here-document belongs to its command.
      const Area area{command.begin, command.end + command.here_document.size()};
      (holds_words(command) ? areas_ : others).push_back(area);
    }
  }
  areas_.insert(areas_.end(), others.begin(), others.end());
  areas_.push_back({0, text_.size()});
}

int KeptScript::Put(std::string_view name, std::string_view raw, std::string_view now) {
  int count = PutIn(0, name, raw, now);
  for (size_t i = 1; count == 0 && i + 1 < areas_.size(); ++i) count = PutIn(i, name, raw, now);
  return count;
}

int KeptScript::PutOfTraining(std::string_view name, std::string_view raw, std::string_view now) {
  return PutIn(0, name, raw, now);
}

int KeptScript::PutAnywhere(std::string_view name, std::string_view raw, std::string_view now) {
  return PutIn(areas_.size() - 1, name, raw, now);
}

int KeptScript::PutIn(size_t area, std::string_view name, std::string_view raw,
                      std::string_view now) {
  const std::string escaped = ReplaceAll(ReplaceAll(std::string(raw), "$", "\\$"), "\"", "\\\"");
  int count = 0;
  for (size_t at = text_.find(name, areas_[area].begin); at < areas_[area].end;
       at = text_.find(name, at + 1)) {
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

namespace {

// The end of a value that begins at `at`: a blank or an operator outside its quotes and brackets,
// the line's end, or a quote that it did not open.
size_t EndOfValue(std::string_view text, size_t at) {
  char quote = '\0';
  int depth = 0;
  for (size_t end = at; end < text.size(); ++end) {
    const char c = text[end];
    if (c == '\n') return end;
    if (c == '"' || c == '\'') {
      if (quote == '\0' && end > at && depth == 0) return end;
      quote = quote == '\0' ? c : quote == c ? '\0' : quote;
    } else if (quote == '\0' && depth == 0 &&
               std::string_view(" \t;&|").find(c) != std::string_view::npos) {
      return end;
    } else if (quote == '\0') {
      depth += c == '(' || c == '{' ? 1 : c == ')' || c == '}' ? -1 : 0;
    }
  }
  return text.size();
}

}  // namespace

int KeptScript::PutSlotsOfHosts(const std::string& slots) {
  int count = 0;
  const std::string word = ":" + slots;
  for (size_t at = text_.find(word); at != std::string::npos; at = text_.find(word, at + 1)) {
    const size_t begin = text_.rfind('\n', at) + 1;  // npos + 1 is 0
    const std::string line = LowerCase(text_.substr(begin, text_.find('\n', at) - begin));
    const bool of_hosts =
        line.find("host") != std::string::npos || line.find("nodelist") != std::string::npos;
    const size_t end = at + word.size();
    const bool ends =
        end >= text_.size() || std::string_view(" \t\n,/\"'").find(text_[end]) != std::string::npos;
    const bool of_training = at >= areas_.front().begin && at < areas_.front().end;
    if (!of_hosts || !ends || of_training || IsInComment(at)) continue;
    ReplaceAt(at + 1, slots.size(), "{gpus_per_node}");
    ++count;
  }
  return count;
}

std::vector<std::string> KeptScript::AssignedNames() const {
  std::vector<std::string> names;
  for (size_t i = 0; i + 1 < areas_.size(); ++i) {
    for (size_t at = text_.find('=', areas_[i].begin); at < areas_[i].end;
         at = text_.find('=', at + 1)) {
      size_t begin = at;
      while (begin > 0 && IsNamePart(text_[begin - 1])) --begin;
      const std::string name = text_.substr(begin, at - begin);
      const bool of_program = i == 0 && LowerCase(name) == name;  // num_gpus=4 of Hydra
      if (of_program || !IsVariableName(name) || !BeginsWord(begin)) continue;
      if (!IsOneOf(name, names)) names.push_back(name);
    }
  }
  return names;
}

// Where the text has that value; empty: nowhere.
KeptScript::Area KeptScript::AssignedIn(std::string_view variable) const {
  const std::string begin = std::string(variable) + "=";
  std::vector<size_t> found;
  for (size_t i = 0; i + 1 < areas_.size(); ++i) {
    for (size_t at = text_.find(begin, areas_[i].begin); at < areas_[i].end;
         at = text_.find(begin, at + 1)) {
      const bool starts =
          at == 0 || std::string_view(" \t\n;&|(").find(text_[at - 1]) != std::string_view::npos;
      const bool seen = std::find(found.begin(), found.end(), at + begin.size()) != found.end();
      if (starts && !seen && !IsInComment(at)) found.push_back(at + begin.size());
    }
  }
  if (found.size() != 1) return {};
  const Area value{found[0], EndOfValue(text_, found[0])};
  const std::string text = text_.substr(value.begin, value.end - value.begin);
  const bool number = std::all_of(text.begin(), text.end(),
                                  [](char c) { return IsDigit(c) || c == '"' || c == '\''; });
  const bool is_default = text.find(":-") != std::string::npos;
  return number || is_default || text.starts_with("$((") ? value : Area{};
}

std::string KeptScript::Assigned(std::string_view variable) const {
  const Area value = AssignedIn(variable);
  std::string text = text_.substr(value.begin, value.end - value.begin);
  if (text.find('$') == std::string::npos) {
    std::erase_if(text, [](char c) { return c == '"' || c == '\''; });
  }
  return text;
}

bool KeptScript::Assign(std::string_view variable, std::string_view now) {
  const Area value = AssignedIn(variable);
  if (value.begin == value.end) return false;
  ReplaceAt(value.begin, value.end - value.begin, now);
  return true;
}

size_t KeptScript::FindWord(std::string_view word, size_t from, size_t end) const {
  for (size_t at = word.empty() ? end : text_.find(word, from); at < end;
       at = text_.find(word, at + 1)) {
    if (BeginsWord(at) && EndsWord(at + word.size()) && !IsInComment(at)) return at;
  }
  return std::string::npos;
}

bool KeptScript::Replace(std::string_view word, std::string_view now) {
  for (size_t i = 0; i + 1 < areas_.size(); ++i) {
    const size_t at = FindWord(word, areas_[i].begin, areas_[i].end);
    if (at == std::string::npos) continue;
    ReplaceAt(at, word.size(), now);
    return true;
  }
  return false;
}

bool KeptScript::Append(const LaunchCommand& launch, std::string_view words) {
  const Area& training = areas_.front();
  const size_t program =
      FindWord(launch.words[std::min(launch.program_at, launch.words.size() - 1)].raw,
               training.begin, training.end);
  const size_t from = program == std::string::npos ? training.begin : program;
  for (const std::string& last : {launch.words.back().raw, last_word_}) {
    const size_t at = FindWord(last, from, training.end);
    if (at == std::string::npos) continue;
    ReplaceAt(at + last.size(), 0, words);
    return true;
  }
  const std::string& last = launch.words.back().raw;
  return Replace(last, last + std::string(words));
}

void KeptScript::ReplaceAt(size_t at, size_t length, std::string_view now) {
  text_.replace(at, length, now);
  const size_t grown = now.size() - length;  // wraps around, as the sums below do
  for (Area& area : areas_) {
    if (at < area.begin) area.begin += grown;
    if (at <= area.end) area.end += grown;
  }
}

bool KeptScript::BeginsWord(size_t at) const {
  return at == 0 || std::string_view(" \t\r\n\"'(=;&|`+,").find(text_[at - 1]) != std::string::npos;
}

bool KeptScript::EndsWord(size_t at) const {
  return at >= text_.size() ||
         std::string_view(" \t\r\n\"');&|\\`,").find(text_[at]) != std::string::npos ||
         (text_[at] == '/' && at > 0 && IsDigit(text_[at - 1]));  // sed 's/$/ slots=8/'
}

bool KeptScript::IsInComment(size_t at) const {
  const size_t begin = at == 0 ? 0 : text_.rfind('\n', at - 1) + 1;  // npos + 1 is 0
  char quote = '\0';
  for (size_t i = begin; i < at; ++i) {
    const char c = text_[i];
    if (c == '"' || c == '\'') quote = quote == '\0' ? c : quote == c ? '\0' : quote;
    const bool starts = i == begin || text_[i - 1] == ' ' || text_[i - 1] == '\t';
    if (c == '#' && starts && quote == '\0') return true;
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

bool KeptScript::Mentions(std::string_view text) const {
  for (size_t at = text_.find(text); at != std::string::npos; at = text_.find(text, at + 1)) {
    if (BeginsWord(at) && !IsInComment(at)) return true;
  }
  return false;
}

bool KeptScript::ChangesFolder() const {
  for (const std::string_view word : {"cd ", "pushd "}) {
    for (size_t at = text_.find(word); at < areas_.front().begin; at = text_.find(word, at + 1)) {
      const size_t before = at == 0 ? std::string::npos : text_.find_last_not_of(" \t", at - 1);
      const bool starts = before == std::string::npos ||
                          std::string_view("\n;&|").find(text_[before]) != std::string::npos;
      if (starts && !IsInComment(at)) return true;
    }
  }
  return false;
}

std::string KeptScript::Body() const {
  std::string body;
  bool is_header = true;
  std::string_view rest = text_;
  while (!rest.empty()) {
    const std::string_view line = TakeLine(rest);
    is_header = is_header && (line.starts_with('#') || Trim(line).empty());
    const bool has_a_key = line.starts_with("#SBATCH") || line.starts_with("#!");
    if (is_header && (has_a_key || (body.empty() && Trim(line).empty()))) continue;
    body += std::string(line) + "\n";
  }
  return WithoutLineEnd(body);
}

}  // namespace gpuadvise::client
