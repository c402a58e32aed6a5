#include "client/script/launch_command.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <set>

#include "client/script/launch_program.h"
#include "client/script/own_path.h"
#include "client/script/script_text.h"
#include "client/shell/shell_text.h"
#include "client/shell/shell_words.h"
#include "common/base/text.h"

namespace gpuadvise::client {
namespace {

constexpr int kMostNesting = 5;        // of nested variables and of nested shells
constexpr size_t kMostWords = 10'000;  // per command; beyond that, variables are not expanded

// Removes the escapes of a double-quoted text; keeps variables.
std::string Unescaped(const std::string& inside) {
  std::string text;
  for (size_t i = 0; i < inside.size(); ++i) {
    const bool escape = inside[i] == '\\' && i + 1 < inside.size() &&
                        std::string_view("$`\"\\\n").find(inside[i + 1]) != std::string_view::npos;
    if (escape) ++i;
    if (!escape || inside[i] != '\n') text += inside[i];
  }
  return text;
}

// Appends the words of a command; variables with several words are replaced by those words.
// `again`: a shell reads the result once more, as that of `bash -c "$TEXT"`.
void Inline(const std::vector<std::string>& raw, const ScriptVariables& variables, int depth,
            bool again, LaunchCommand& into) {
  for (const std::string& written : raw) {
    const std::string word = again && depth > 0 ? Unescaped(written) : written;
    const bool expands = depth < kMostNesting && into.words.size() < kMostWords;
    const auto several = expands ? variables.WordsOf(word) : std::nullopt;
    if (several) {
      const std::string name = ScriptVariables::OnlyVariable(word);
      into.held.push_back(name);
      if (variables.MayHoldMore(name)) into.open.push_back(name);
      Inline(*several, variables, depth + 1, again, into);
    } else if (!word.empty()) {
      into.words.push_back({word, variables.ValueOf(word)});
    }
  }
}

void TakeAssignments(LaunchCommand& command) {
  size_t count = 0;
  while (count < command.words.size() && IsAssignment(command.words[count].raw)) {
    const std::string& raw = command.words[count].raw;
    const size_t equals = raw.find('=');
    command.env.emplace_back(raw.substr(0, equals), raw.substr(equals + 1));
    const std::optional<std::string>& value = command.words[count].value;
    command.env_values.push_back(value ? std::optional(value->substr(equals + 1)) : std::nullopt);
    ++count;
  }
  command.words.erase(command.words.begin(), command.words.begin() + static_cast<long>(count));
}

// Options of srun that the advice decides, and those that change nothing here.
bool IsOfSize(std::string_view option) {
  constexpr std::array<std::string_view, 22> kNames = {
      "--nodes",         "--ntasks",        "--ntasks-per-node",
      "--gpus",          "--gres",          "--gpus-per-node",
      "--gpus-per-task", "--cpus-per-task", "--mem",
      "--jobid",         "--unbuffered",    "--kill-on-bad-exit",
      "--wait",          "--mpi",           "--exclusive",
      "--overlap",       "--partition",     "--account",
      "--time",          "--job-name",      "--pty",
      "--exact"};
  const std::string_view name = option.substr(0, option.find('='));
  return !name.starts_with("--") || IsOneOf(name, kNames);
}

// Whether srun reads the word behind `option` as its value.
bool TakesNextWord(std::string_view option) {
  return option.starts_with('-') && option.find('=') == std::string_view::npos &&
         !IsOneOf(option, {"-l", "-u", "-K", "-v", "-Q", "-s", "-X", "--label", "--unbuffered",
                           "--exclusive", "--overlap", "--exact", "--pty", "--kill-on-bad-exit"});
}

// Moves `srun OPTIONS` from the front of the words to `srun`.
void TakeSrun(LaunchCommand& command) {
  std::vector<std::string> arguments;
  for (size_t i = 1; i < command.words.size(); ++i) arguments.push_back(WordAt(command.words, i));
  const Result<ParsedArguments> parsed = ParseSbatchArguments(arguments);
  size_t left = parsed ? parsed->rest.size() : 0;
  // srun has options that sbatch lacks (--mpi, --label): then searches for the launcher.
  const auto is_command = [&](size_t at) {
    const std::string name = BaseName(WordAt(command.words, at));
    return LauncherAt(command.words, at).has_value() || IsShell(name) || IsWrapper(name) ||
           name.ends_with(".sh") || name.ends_with(".bash");
  };
  size_t begin = command.words.size() - left;
  if (left == 0 || !is_command(begin)) {
    begin = 1;
    while (begin < command.words.size() && !is_command(begin)) ++begin;
  }
  command.srun.emplace(SrunUse{parsed ? parsed->options : SbatchOptions(), {}});
  for (size_t i = 1; i < begin; ++i) {
    const std::string word = WordAt(command.words, i);
    const std::string& raw = command.words[i].raw;
    const bool is_open = !command.words[i].value && raw.find('$') < 2;  // $ARGS, "${ARGS[@]}"
    const bool of_option = TakesNextWord(WordAt(command.words, i - 1));
    if ((is_open && !of_option) || (word.starts_with('-') && !IsOfSize(word))) {
      command.srun->left.push_back(word);
    }
  }
  command.words.erase(command.words.begin(), command.words.begin() + static_cast<long>(begin));
}

// Whether a job has the variable from the start: what a script assigns to it is exported.
bool IsOfEnvironment(const std::string& name) {
  return name.ends_with("PATH") || name.ends_with("HOME") || IsSetByTheJob(name) ||
         name.starts_with("CUDA") || IsOneOf(name, {"USER", "SHELL", "LANG", "PWD", "HOSTNAME"});
}

// Index of the shell script that the words run, "srun bash x.sh 4"; words.size(): none.
size_t CalledAt(const std::vector<LaunchWord>& words) {
  const std::string first = BaseName(WordAt(words, 0));
  const bool runs = IsShell(first) || IsOneOf(first, {"source", ".", "timeout"}) ||
                    IsWrapper(first) || IsContainerWord(first);
  for (size_t at = 0; at < words.size() && !LauncherAt(words, at); ++at) {
    const std::string name = WordAt(words, at);
    const bool script = name.ends_with(".sh") || name.ends_with(".bash");
    if (script && !name.starts_with('-') && !IsTrainingScript(BaseName(name))) {
      return at == 0 || runs ? at : words.size();
    }
  }
  return words.size();
}

class Finder {
 public:
  Finder(ScriptVariables& variables, const ReadNamedFile& read)
      : variables_(variables), read_(read) {}

  // `again`: the text was a word of another shell, which expanded it once.
  void Take(const ScriptStatement& statement, size_t index, int depth, bool again) {
    for (size_t i = 0; i < statement.commands.size(); ++i) {
      const ScriptCommand& command = statement.commands[i];
      if (Assigns(command)) continue;
      LaunchCommand launch;
      launch.statement = index;
      launch.line = command.line;
      launch.block = command.block;
      launch.in_loop = command.in_loop;
      launch.tail = command.redirections;
      for (size_t pipe = i;
           statement.commands[pipe].piped_on && pipe + 1 < statement.commands.size(); ++pipe) {
        const ScriptCommand& next = statement.commands[pipe + 1];
        launch.tail += (launch.tail.empty() ? "| " : " | ") + Join(next.words, " ");
        if (!next.redirections.empty()) launch.tail += " " + next.redirections;
      }
      Inline(command.words, variables_, 0, again, launch);
      const size_t before = found_.size();
      Unwrap(std::move(launch), depth);
      for (size_t f = before; f < found_.size(); ++f) found_[f].command = i;
    }
  }

  std::vector<LaunchCommand> Found() { return std::move(found_); }

 private:
  // NAME=value, export NAME=value: runs no program.
  bool Assigns(const ScriptCommand& command) {
    if (command.words[0] == "read" && !command.here_document.empty()) {
      variables_.AssignText(command.words.back(), command.here_document);
      return true;
    }
    const std::string& first = command.words[0];
    if (first == "cd" && command.words.size() == 2) {
      folder_ =
          PathBeside(folder_, variables_.ValueOf(command.words[1]).value_or(command.words[1]));
      return true;
    }
    if (first == ":") {
      for (const std::string& word : command.words) AssignDefault(word);
      return true;
    }
    if (first == "unset") {
      for (const std::string& name : command.words) variables_.Unset(name);
      return true;
    }
    if (IsOneOf(first, {"set", "shift"})) {
      TakeOption(command);
      return true;
    }
    if (first == "let") {
      for (size_t i = 1; i < command.words.size(); ++i) AssignSum(command.words[i]);
      return true;
    }
    const bool declares =
        IsOneOf(command.words[0], {"export", "declare", "readonly", "local", "typeset"});
    for (size_t i = declares ? 1 : 0; i < command.words.size(); ++i) {
      const std::string& word = command.words[i];
      const bool name = declares && (word.starts_with('-') || IsVariableName(word));
      if (!IsAssignment(word) && !name) return false;
    }
    for (const std::string& word : command.words) {
      const std::string name = word.substr(0, word.find('='));
      if (first == "export" || exports_all_ || IsOneOf("-x", command.words)) exported_.insert(name);
      if (IsAssignment(word)) {
        variables_.Assign(word, command.block == ScriptBlock::kNone && !command.may_be_skipped);
      }
    }
    return true;
  }

  // : "${BATCH:=8}"
  void AssignDefault(std::string_view word) {
    if (word.starts_with('"') && word.ends_with('"') && word.size() > 1) {
      word = word.substr(1, word.size() - 2);
    }
    const size_t equals = word.find('=');
    if (!word.starts_with("${") || !word.ends_with('}') || equals == std::string_view::npos) return;
    const size_t end = word[equals - 1] == ':' ? equals - 1 : equals;
    const std::string name(word.substr(2, end - 2));
    if (!IsVariableName(name) || variables_.IsAssigned(name)) return;
    variables_.AssignText(name, std::string(word.substr(equals + 1, word.size() - equals - 2)));
  }

  // set -a, set -- a b, shift
  void TakeOption(const ScriptCommand& command) {
    const std::vector<std::string>& words = command.words;
    const std::string option = words.size() > 1 ? words[1] : "";
    if (words[0] == "shift") {
      const bool one = command.block == ScriptBlock::kNone && IsOneOf(option, {"", "1"});
      one ? variables_.ShiftArguments() : variables_.SetArguments(std::nullopt);
    } else if (option == "--") {
      variables_.SetArguments(std::vector<std::string>(words.begin() + 2, words.end()));
    } else if (option.find('a') != std::string::npos || Join(words, " ").ends_with("allexport")) {
      exports_all_ = option[0] == '-';
    }
  }

  // let TOTAL=BATCH*GPUS
  void AssignSum(const std::string& word) {
    if (!IsAssignment(word)) return;
    const size_t equals = word.find('=');
    variables_.Assign(word.substr(0, equals + 1) + "$((" + word.substr(equals + 1) + "))", true);
  }

  void Unwrap(LaunchCommand launch, int depth) {
    TakeAssignments(launch);
    TakeWrappersOfSrun(launch);
    if (launch.words.empty()) return;
    if (BaseName(WordAt(launch.words, 0)) == "srun") {
      TakeSrun(launch);
      TakeAssignments(launch);
      if (launch.words.empty()) return;
    }
    const std::string name = BaseName(WordAt(launch.words, 0));
    for (size_t at = 0; at + 2 < launch.words.size() && !LauncherAt(launch.words, at); ++at) {
      if (IsShell(BaseName(WordAt(launch.words, at))) && RunsText(launch, at)) {
        launch.in_login_shell = WordAt(launch.words, at + 1).find('l') != std::string::npos;
        return UnwrapText(launch, at + 2, at + 3, at, depth);
      }
    }
    if (name == "eval") return UnwrapText(launch, 1, launch.words.size(), 0, depth);
    if (const size_t at = CalledAt(launch.words);
        at < launch.words.size() && UnwrapScript(launch, at, depth)) {
      return;
    }
    const bool script = IsShell(name) && IsTrainingScript(BaseName(WordAt(launch.words, 1)));
    if (IsWrapper(name) || script) {
      const size_t count = launch.words.size();
      size_t& at = launch.launcher_at;
      while (at < count && !LauncherAt(launch.words, at)) ++at;
    }
    const auto launcher = LauncherAt(launch.words, launch.launcher_at);
    if (!launcher && !IsNamedTraining(name)) return;
    if (!launcher) launch.launcher_at = 0;
    launch.launcher = launcher.value_or(Launcher::kOther);
    FindProgram(launch);
    if (ProgramOf(launch).find("axolotl") != std::string::npos) {
      launch.launcher = Launcher::kAxolotl;
    }
    launch.visible_devices = variables_.ValueOf("$CUDA_VISIBLE_DEVICES").value_or("");
    launch.likeness = launcher ? RateLikeness(launch) : CountTrainingFlags(launch.words);
    found_.push_back(std::move(launch));
  }

  // "stdbuf -oL srun python": an srun behind wrappers. Programs go into the tasks, the shell's own
  // words go.
  void TakeWrappersOfSrun(LaunchCommand& launch) {
    std::vector<LaunchWord>& words = launch.words;
    size_t srun = 0;
    while (srun < words.size() && BaseName(WordAt(words, srun)) != "srun") {
      const std::string name = BaseName(WordAt(words, srun));
      const bool wraps =
          IsOneOf(name, {"exec", "command", "time", "nohup", "nice", "env", "stdbuf", "unbuffer"});
      const bool option = srun > 0 && (name.starts_with('-') || IsAssignment(name) ||
                                       std::all_of(name.begin(), name.end(), IsDigit));
      if (!wraps && !option) return;
      ++srun;
    }
    if (srun == 0 || srun == words.size()) return;
    const auto begin = words.begin();
    std::vector<LaunchWord> wrappers(begin, begin + static_cast<long>(srun));
    words.erase(begin, begin + static_cast<long>(srun));
    TakeSrun(launch);
    std::erase_if(wrappers, [](const LaunchWord& word) {
      return IsOneOf(word.raw, {"exec", "command", "time"});
    });
    words.insert(words.begin(), wrappers.begin(), wrappers.end());
  }

  static bool RunsText(const LaunchCommand& launch, size_t shell) {
    const std::string option = WordAt(launch.words, shell + 1);
    return option.starts_with('-') && option.ends_with('c');
  }

  // Searches the text of `bash -c TEXT` and `eval TEXT`, words `begin` to `end`, for commands. The
  // first `around` words start that shell ("apptainer exec image") and stay before the training.
  void UnwrapText(const LaunchCommand& outer, size_t begin, size_t end, size_t around, int depth) {
    if (depth >= kMostNesting || begin >= outer.words.size()) return;
    if (const std::string held = HeldText(outer.words[begin].raw); !held.empty()) {
      EnterScript(outer, around, begin + 2, begin == 1, held, depth);
      return;
    }
    std::string text;
    for (size_t i = begin; i < end; ++i) text += Unquoted(outer.words[i].raw) + " ";
    const auto statements = ReadStatements(text);
    if (!statements) return;
    const std::string folder = folder_;
    const ScriptVariables caller = variables_;
    if (end < outer.words.size()) GiveArguments(outer, end + 1);
    TakeInner(outer, *statements, around, depth, true);
    if (end < outer.words.size()) variables_ = caller;
    folder_ = folder;
  }

  void GiveArguments(const LaunchCommand& outer, size_t begin) {
    std::vector<std::string> words;
    for (size_t i = begin; i < outer.words.size(); ++i) words.push_back(outer.words[i].raw);
    variables_.SetArguments(words);
  }

  // "bash x.sh 4", "source x.sh": reads the script as if its lines stood here, with what it gets
  // of its caller. False: not readable, or without a training.
  bool UnwrapScript(const LaunchCommand& outer, size_t at, int depth) {
    const std::string path = WordAt(outer.words, at);
    if (!read_ || depth >= kMostNesting || path.find_first_of("$`") != std::string::npos)
      return false;
    std::optional<std::string> text = read_(PathBeside(folder_, path));
    if (!text) text = read_(path);
    if (!text) return false;
    size_t begin = at;
    while (begin > 0 && WordAt(outer.words, begin - 1).starts_with('-')) --begin;
    const std::string shell = begin > 0 ? BaseName(WordAt(outer.words, begin - 1)) : "";
    ScriptCall call{path, WithOwnPath(*text, path), outer.words[at].raw, "", {}, false};
    call.is_sourced = shell == "source" || shell == ".";
    if (call.is_sourced || IsShell(shell)) call.shell = outer.words[begin - 1].raw;
    for (size_t i = at + 1; i < outer.words.size(); ++i) {
      call.arguments.push_back(outer.words[i].raw);
    }
    const size_t around = call.shell.empty() ? at : begin - 1;
    const size_t before = found_.size();
    if (!EnterScript(outer, around, at + 1, call.is_sourced, call.text, depth)) return false;
    for (size_t i = before; i < found_.size(); ++i) found_[i].call = call;
    return true;
  }

  // Searches the text of a script that a shell of its own runs, or the caller's where it is
  // sourced. `arguments`: index of its first. False: it has no training.
  bool EnterScript(const LaunchCommand& outer, size_t around, size_t arguments, bool is_sourced,
                   const std::string& text, int depth) {
    const std::string given = GivenBy(outer, arguments, is_sourced, text);
    const auto statements = ReadStatements(given + text);
    if (!statements) return false;
    const ScriptVariables caller = variables_;
    const std::string folder = folder_;
    LaunchCommand inside = outer;
    inside.env.clear();  // exported before its lines
    inside.env_values.clear();
    const size_t before = found_.size();
    TakeInner(inside, *statements, around, depth, false);
    const bool found =
        std::any_of(found_.begin() + static_cast<long>(before), found_.end(), IsLikeTraining);
    if (!found) found_.resize(before);
    if (!found || !is_sourced) {
      variables_ = caller;
      folder_ = folder;
    }
    return found;
  }

  static bool IsLikeTraining(const LaunchCommand& launch) {
    return launch.likeness >= kLooksLikeTraining;
  }

  // Lines that give a called script its environment and arguments.
  std::string GivenBy(const LaunchCommand& outer, size_t first, bool sourced,
                      const std::string& text) const {
    std::string lines;
    for (const auto& [name, raw] : outer.env) lines += "export " + name + "=" + raw + "\n";
    std::string unset;
    for (const std::string& name : variables_.Names()) {
      const bool hidden =
          !sourced && !exported_.contains(name) && !IsOfEnvironment(name) && UsesName(text, name);
      if (hidden && !UsesName(lines, name)) unset += " " + name;
    }
    std::string arguments;
    for (size_t i = first; i < outer.words.size(); ++i) arguments += " " + outer.words[i].raw;
    const bool reads = !ScriptArgumentIn(text).empty() || text.find("getopts") != std::string::npos;
    if (!arguments.empty() || (reads && !sourced)) lines += "set --" + arguments + "\n";
    return unset.empty() ? lines : lines + "unset" + unset + "\n";
  }

  // Searches the statements of an inner shell, which the first `around` words of `outer` start.
  void TakeInner(const LaunchCommand& outer, const std::vector<ScriptStatement>& statements,
                 size_t around, int depth, bool again) {
    const size_t before = found_.size();
    for (const ScriptStatement& statement : statements) {
      Take(statement, outer.statement, depth + 1, again);
    }
    const bool alone = statements.size() == 1 && statements[0].commands.size() == 1;
    for (size_t i = before; i < found_.size(); ++i) {
      LaunchCommand& inner = found_[i];
      inner.line = outer.line;
      inner.has_neighbours = inner.has_neighbours || !alone;
      if (inner.block == ScriptBlock::kNone) inner.block = outer.block;
      inner.in_loop = inner.in_loop || outer.in_loop;
      if (!inner.srun) inner.srun = outer.srun;
      inner.env.insert(inner.env.begin(), outer.env.begin(), outer.env.end());
      inner.env_values.insert(inner.env_values.begin(), outer.env_values.begin(),
                              outer.env_values.end());
      if (inner.tail.empty()) inner.tail = outer.tail;
      inner.of_text = true;
      inner.in_login_shell = inner.in_login_shell || outer.in_login_shell;
      inner.words.insert(inner.words.begin(), outer.words.begin(),
                         outer.words.begin() + static_cast<long>(around));
      inner.launcher_at += around;
      inner.program_at += around;
    }
  }

  // A quoted word as the inner shell reads it: 'a '"$x"' b' is a $x b.
  std::string Unquoted(const std::string& raw) const {
    if (const auto known = variables_.TextOf(raw)) return Unescaped(*known);
    if (raw.empty() || (raw[0] != '\'' && raw[0] != '"')) return raw;
    std::string text;
    for (size_t at = 0; at < raw.size();) {
      const char quote = raw[at];
      if (quote != '\'' && quote != '"') {
        text += raw[at++];
        continue;
      }
      size_t end = at + 1;
      while (end < raw.size() && raw[end] != quote) end += quote == '"' && raw[end] == '\\' ? 2 : 1;
      const std::string inside = raw.substr(at + 1, std::min(end, raw.size()) - at - 1);
      text += quote == '\'' ? inside : Unescaped(inside);
      at = end + 1;
    }
    return text;
  }

  ScriptVariables& variables_;
  const ReadNamedFile& read_;
  std::string folder_ = ".";  // that `cd` changed to
  std::set<std::string> exported_;
  bool exports_all_ = false;
  std::vector<LaunchCommand> found_;
};

}  // namespace

std::vector<LaunchCommand> FindLaunches(const std::vector<ScriptStatement>& statements,
                                        ScriptVariables& variables, const ReadNamedFile& read) {
  Finder finder(variables, read);
  for (size_t i = 0; i < statements.size(); ++i) finder.Take(statements[i], i, 0, false);
  return finder.Found();
}

std::optional<LaunchCommand> LaunchOf(const std::string& command, ScriptVariables& variables) {
  const auto statements = ReadStatements(command);
  if (!statements) return {};
  std::vector<LaunchCommand> found = FindLaunches(*statements, variables);
  const auto best = std::max_element(
      found.begin(), found.end(),
      [](const LaunchCommand& a, const LaunchCommand& b) { return a.likeness < b.likeness; });
  return best == found.end() ? std::nullopt : std::optional(std::move(*best));
}

std::string TextOf(const LaunchCommand& command) {
  std::string text;
  for (const LaunchWord& word : command.words) text += (text.empty() ? "" : " ") + word.raw;
  return command.tail.empty() ? text : text + " " + command.tail;
}

}  // namespace gpuadvise::client
