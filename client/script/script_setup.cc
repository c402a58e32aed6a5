#include "client/script/script_setup.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "client/script/script_text.h"
#include "client/shell/shell_text.h"
#include "client/shell/shell_words.h"
#include "common/base/text.h"

namespace gpuadvise::client {
namespace {

constexpr size_t kMostShown = 70;  // bytes of a line shown in a message

std::string Shown(const std::string& text) {
  const std::string line = text.substr(0, text.find('\n'));
  const bool cut = line.size() < text.size() || line.size() > kMostShown;
  return line.substr(0, kMostShown) + (cut ? " …" : "");
}

// Variables that Slurm sets to assign GPUs.
bool IsSlurms(const std::string& name) {
  return IsOneOf(name, {"CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "ROCR_VISIBLE_DEVICES",
                        "HIP_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL", "ZE_AFFINITY_MASK"});
}

class SetupReader {
 public:
  SetupReader(const LaunchCommand& launch, const std::vector<LaunchCommand>& others,
              const ScriptVariables& variables)
      : launch_(launch), others_(others), variables_(variables) {}

  void Take(const ScriptStatement& statement, size_t index) {
    if (index > launch_.statement) return TakeAfter(statement, index);
    if (index == launch_.statement) return TakeOfLaunch(statement);
    if (const int line = OtherTraining(index); line > 0) {
      return Leave(
          fmt::format("line {}: {}: it starts a training, too", line, Shown(statement.text)));
    }
    if (statement.compound) return TakeBlock(statement);
    SayWhatIsUnset(statement);
    if (OnlyPrints(statement)) return;
    if (IsOnlyAssignment(statement)) return TakeAssignments(statement.commands[0]);
    if (IsFolderChange(statement) && TakeFolder(statement.commands[0].words[1])) return;
    Keep(statement.text, statement.line, "");
  }

  ScriptSetup Done() { return std::move(setup_); }

 private:
  void Leave(std::string sentence) { setup_.left.push_back(std::move(sentence)); }

  int OtherTraining(size_t index) const {
    for (const LaunchCommand& other : others_) {
      if (other.statement == index && other.likeness >= kLooksLikeTraining) return other.line;
    }
    return 0;
  }

  void TakeAfter(const ScriptStatement& statement, size_t index) {
    if (std::all_of(statement.commands.begin(), statement.commands.end(), IsIdle)) return;
    const bool trains = OtherTraining(index) > 0;
    Leave(fmt::format("line {}: {}: {}", statement.line, Shown(statement.text),
                      trains ? "it starts a training, too" : "it comes after the training"));
  }

  // Keeps commands before the launch: "cd x && torchrun …".
  void TakeOfLaunch(const ScriptStatement& statement) {
    if (launch_.block == ScriptBlock::kLoop) {
      return Leave(fmt::format("line {}: {}: the loop around the training", statement.line,
                               Shown(statement.text)));
    }
    for (size_t i = 0; i < statement.commands.size(); ++i) {
      const ScriptCommand& command = statement.commands[i];
      if (command.line >= launch_.line && IsTheLaunch(command)) {
        return LeaveBehindLaunch(statement, i);
      }
      if (command.piped_on || IsIdle(command)) continue;
      if (IsAssignment(command.words[0])) {
        TakeAssignments(command);
        continue;
      }
      const bool folder = command.words[0] == "cd" && command.words.size() == 2;
      if (folder && TakeFolder(command.words[1])) continue;
      std::string text = Join(command.words, " ");
      if (!command.redirections.empty()) text += " " + command.redirections;
      Keep(std::move(text), command.line, "");
    }
  }

  // "torchrun … && python merge.py": pipes belong to the training, other commands do not.
  void LeaveBehindLaunch(const ScriptStatement& statement, size_t launch) {
    if (statement.compound) return;
    while (launch < statement.commands.size() && statement.commands[launch].piped_on) ++launch;
    for (size_t i = launch + 1; i < statement.commands.size(); ++i) {
      const ScriptCommand& command = statement.commands[i];
      if (!IsIdle(command)) LeaveBehind(Join(command.words, " "), command.line);
    }
  }

  void LeaveBehind(const std::string& text, int line) {
    Leave(
        fmt::format("line {}: {}: it comes after the training; submit it as a job with "
                    "--dependency=afterok",
                    line, Shown(text)));
  }

  bool IsTheLaunch(const ScriptCommand& command) const {
    const auto only_assigns = [](const std::string& word) { return IsAssignment(word); };
    return command.line == launch_.line &&
           !std::all_of(command.words.begin(), command.words.end(), only_assigns) &&
           command.words[0] != "cd" && command.words[0] != "source" &&
           command.words[0] != "export" && command.words[0] != "module" &&
           command.words[0] != "conda" && command.words[0] != ".";
  }

  // set -u, set -euo pipefail: the job's own lines are not written for it.
  void SayWhatIsUnset(const ScriptStatement& statement) {
    if (statement.commands.empty() || statement.commands[0].words[0] != "set") return;
    const std::vector<std::string>& words = statement.commands[0].words;
    const bool unset = std::any_of(words.begin() + 1, words.end(), [](const std::string& word) {
      return word == "nounset" || (word.starts_with('-') && !word.starts_with("--") &&
                                   word.find('u') != std::string::npos);
    });
    if (unset) {
      Leave(fmt::format("line {}: {}: of -u, in the job a variable that is not set is empty",
                        statement.line, Shown(statement.text)));
    }
  }

  void TakeBlock(const ScriptStatement& statement) {
    if (statement.commands.empty() || OnlyPrints(statement)) return;
    const std::string argument = ScriptArgumentIn(statement.text);
    const bool is_function = statement.commands[0].block == ScriptBlock::kFunction;
    if (!argument.empty() && !is_function) {
      return Leave(fmt::format("line {}: {}: it reads {}, an argument of the script",
                               statement.line, Shown(statement.text), argument));
    }
    Keep(statement.text, statement.line, "");
  }

  static bool IsOnlyAssignment(const ScriptStatement& statement) {
    if (statement.commands.size() != 1 || !statement.commands[0].redirections.empty()) return false;
    const std::vector<std::string>& words = statement.commands[0].words;
    const size_t from = words[0] == "export" ? 1 : 0;
    return words.size() > from && std::all_of(words.begin() + static_cast<long>(from), words.end(),
                                              [](const std::string& w) { return IsAssignment(w); });
  }

  void TakeAssignments(const ScriptCommand& command) {
    const bool exported = command.words[0] == "export";
    for (size_t i = exported ? 1 : 0; i < command.words.size(); ++i) {
      const std::string& word = command.words[i];
      const size_t equals = word.find('=');
      const std::string name = word.substr(0, equals);
      if (IsSlurms(name)) {
        Leave(fmt::format("line {}: {}: Slurm gives the job its GPUs", command.line, Shown(word)));
      } else if (exported && IsPlainValue(word.substr(equals + 1)) && !IsInLines(name) &&
                 !has_lines_that_set_variables_) {
        std::erase_if(setup_.env, [&](const auto& earlier) { return earlier.first == name; });
        setup_.env.emplace_back(name, *variables_.ValueOf(word.substr(equals + 1)));
      } else {
        TakeAssignment(name, word, exported, command.line);
      }
    }
  }

  void TakeAssignment(const std::string& name, const std::string& word, bool exported, int line) {
    const std::string argument = ScriptArgumentIn(word);
    std::string text = WithArgumentDefaults(word);
    if (text != word && ScriptArgumentIn(text).empty()) {
      setup_.changed.push_back(fmt::format("line {}: {} → {}", line, Shown(word), Shown(text)));
    } else if (!argument.empty()) {
      const auto value = variables_.ValueOf(word.substr(word.find('=') + 1));
      if (!value) {
        return Leave(fmt::format("line {}: {}: {} is an argument of the script; write its value",
                                 line, Shown(word), argument));
      }
      text = name + "=" + ShellQuoted(*value);
    }
    // An exported variable may be read by the program itself, so it is always kept.
    Keep(exported ? "export " + text : text, line, exported ? "" : PlainName(name));
  }

  // "${1:-x}" becomes "x", and "${2:-${BATCH:-8}}" "${BATCH:-8}": a job has no arguments.
  static std::string WithArgumentDefaults(std::string text) {
    for (size_t at = text.find("${"); at != std::string::npos; at = text.find("${", at + 1)) {
      size_t name = at + 2;
      while (name < text.size() && IsDigit(text[name])) ++name;
      if (name == at + 2 || (text.compare(name, 2, ":-") != 0 && text[name] != '-')) continue;
      const size_t from = name + (text[name] == ':' ? 2 : 1);
      const bool quoted = std::count(text.begin(), text.begin() + static_cast<long>(at), '"') % 2;
      const size_t end = ClosingBrace(text, from, quoted);
      if (end == std::string::npos) break;
      text = text.substr(0, at) + text.substr(from, end - from) + text.substr(end + 1);
    }
    return text;
  }

  static std::string PlainName(const std::string& name) {
    return name.ends_with('+') ? name.substr(0, name.size() - 1) : name;
  }

  // Whether a value does not depend on its place in the script.
  bool IsPlainValue(const std::string& raw) const {
    return raw.find_first_of("$`(~") == std::string::npos && variables_.ValueOf(raw).has_value();
  }

  bool IsInLines(const std::string& name) const {
    return std::any_of(setup_.lines.begin(), setup_.lines.end(), [&](const SetupLine& line) {
      return line.assigns == name || UsesName(line.text, name);
    });
  }

  static bool IsFolderChange(const ScriptStatement& statement) {
    return statement.commands.size() == 1 && statement.commands[0].words.size() == 2 &&
           statement.commands[0].words[0] == "cd" && statement.commands[0].redirections.empty();
  }

  // Makes the first folder `workdir` if it is known before the script runs.
  bool TakeFolder(const std::string& raw) {
    if (!setup_.workdir.empty() || has_lines_of_a_folder_) return false;
    const auto value = variables_.ValueOf(raw);
    const std::string folder = value.value_or(raw);
    const bool known = value || folder.find_first_of("`(\"'{") == std::string::npos;
    if (!known || !ScriptArgumentIn(folder).empty() || folder == "-") return false;
    if (!value && UsesOwnVariable(folder)) return false;
    setup_.workdir = folder;
    return true;
  }

  bool UsesOwnVariable(std::string_view text) const {
    for (size_t at = text.find('$'); at != std::string_view::npos; at = text.find('$', at + 1)) {
      const VariableReference variable = ReferenceAt(text.substr(at + 1));
      if (variable.length == 0 || variables_.IsAssigned(variable.name)) return true;
    }
    return false;
  }

  // Whether a kept line may depend on the folder that it runs in.
  static bool IsOfAFolder(const SetupLine& line) {
    const std::string& text = line.text;
    if (ReadsTheFolder(text)) return true;
    constexpr std::array<std::string_view, 10> kAnywhere = {
        "module ",  "ml ",      "conda ",   "export ", "ulimit ",
        "source /", "source ~", "source $", "mkdir ",  "eval "};
    return line.assigns.empty() &&
           std::none_of(kAnywhere.begin(), kAnywhere.end(),
                        [&](std::string_view start) { return text.starts_with(start); });
  }

  // Whether a kept line may give the program variables that a later one replaces: a sourced file, a
  // module, a block or function of the script.
  static bool MaySetVariables(std::string_view text) {
    if (IsOneOf(text, {"module purge", "ml purge"})) return false;
    if (text.find('\n') != std::string_view::npos) return true;
    for (const std::string_view word : {"source ", ". ", "module ", "ml ", "eval ", "conda ",
                                        "mamba ", "micromamba ", "spack "}) {
      for (size_t at = text.find(word); at != std::string_view::npos;
           at = text.find(word, at + 1)) {
        if (at == 0 || std::string_view("\t ;&|({").find(text[at - 1]) != std::string_view::npos) {
          return true;
        }
      }
    }
    return false;
  }

  // "$PWD", a relative folder that is made, the output of a command that may read files here.
  static bool ReadsTheFolder(const std::string& text) {
    constexpr std::array<std::string_view, 12> kReadNothing = {
        "date",  "hostname", "whoami",     "nproc", "scontrol", "shuf",
        "conda", "mamba",    "micromamba", "expr",  "seq",      "id"};
    if (UsesName(text, "PWD") || UsesName(text, "OLDPWD")) return true;
    for (size_t at = text.find("$("); at != std::string::npos; at = text.find("$(", at + 1)) {
      if (text.compare(at, 3, "$((") == 0) continue;
      const size_t begin = std::min(text.find_first_not_of(" \t", at + 2), text.size());
      const size_t end = std::min(text.find_first_of(" \t)|;", begin), text.size());
      if (!IsOneOf(text.substr(begin, end - begin), kReadNothing)) return true;
    }
    if (text.find('`') != std::string::npos) return true;
    if (!text.starts_with("mkdir ")) return false;
    const std::vector<std::string_view> words = SplitAt(text, ' ');
    return std::any_of(words.begin() + 1, words.end(), [](std::string_view word) {
      while (word.starts_with('"')) word.remove_prefix(1);
      return !word.empty() && std::string_view("-/~$").find(word[0]) == std::string_view::npos;
    });
  }

  void Keep(std::string text, int line, std::string assigns) {
    const std::string argument = ScriptArgumentIn(text);
    const bool function = text.find("()") != std::string::npos || text.starts_with("function ");
    if (!argument.empty() && !function) {
      return Leave(
          fmt::format("line {}: {}: {} is an argument of the script", line, Shown(text), argument));
    }
    setup_.lines.push_back({std::move(text), std::move(assigns)});
    const SetupLine& kept = setup_.lines.back();
    has_lines_of_a_folder_ = has_lines_of_a_folder_ || IsOfAFolder(kept);
    has_lines_that_set_variables_ = has_lines_that_set_variables_ || MaySetVariables(kept.text);
  }

  const LaunchCommand& launch_;
  const std::vector<LaunchCommand>& others_;
  const ScriptVariables& variables_;
  ScriptSetup setup_;
  bool has_lines_of_a_folder_ = false;
  bool has_lines_that_set_variables_ = false;
};

// Whether the text of another file, or of a command's output, runs in this shell and may read any
// of its variables; those that set up environments do not.
bool ReadsAnyVariable(const std::string& line) {
  if (line.starts_with("eval ")) {
    return line.find("conda") == std::string::npos && line.find("mamba") == std::string::npos &&
           line.find("module") == std::string::npos;
  }
  if (!line.starts_with("source ") && !line.starts_with(". ")) return false;
  std::string_view file = line;
  file = Trim(file.substr(file.find(' ')));
  file = file.substr(0, file.find_first_of(" \t;&|"));
  while (file.ends_with('"') || file.ends_with('\'')) file.remove_suffix(1);
  const std::string_view name = file.substr(file.rfind('/') + 1);  // npos + 1 is 0
  return !file.starts_with("/etc/") && !IsOneOf(name, {"activate", ".bashrc", ".bash_profile",
                                                       ".profile", "conda.sh", "mamba.sh"});
}

}  // namespace

ScriptSetup ReadSetup(const std::vector<ScriptStatement>& statements, const LaunchCommand& launch,
                      const std::vector<LaunchCommand>& others, const ScriptVariables& variables) {
  SetupReader reader(launch, others, variables);
  for (size_t i = 0; i < statements.size(); ++i) reader.Take(statements[i], i);
  return reader.Done();
}

void DropUnused(ScriptSetup& setup, const std::string& command) {
  bool others_read = false;
  // Backwards, to drop a variable too that only a dropped line uses.
  for (size_t i = setup.lines.size(); i-- > 0;) {
    const std::string name = setup.lines[i].assigns;
    others_read = others_read || ReadsAnyVariable(setup.lines[i].text);
    if (name.empty()) continue;
    bool used = others_read || UsesName(command, name) || UsesName(setup.workdir, name);
    for (size_t j = i + 1; j < setup.lines.size(); ++j)
      used = used || UsesName(setup.lines[j].text, name);
    if (!used) setup.lines.erase(setup.lines.begin() + static_cast<long>(i));
  }
}

namespace {

// Whether `name` stands in `text` as a whole word, with or without `$`.
bool UsesWord(const std::string& text, const std::string& name) {
  for (size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
    const size_t end = at + name.size();
    const bool begins = at == 0 || !IsNamePart(text[at - 1]);
    if (begins && (end == text.size() || !IsNamePart(text[end]))) return true;
  }
  return false;
}

}  // namespace

std::string WordsAlone(const ScriptSetup& setup) {
  std::string lines;
  for (const SetupLine& line : setup.lines) {
    if (!IsOneOf(line.assigns, {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "NODE_RANK",
                                "GROUP_RANK", "GLOBAL_RANK"})) {
      continue;
    }
    const bool is_exported =
        std::any_of(setup.lines.begin(), setup.lines.end(), [&](const SetupLine& other) {
          return other.assigns.empty() && UsesWord(other.text, line.assigns);
        });
    if (!is_exported) lines += "export -n " + line.assigns + "\n";
  }
  return lines;
}

}  // namespace gpuadvise::client
