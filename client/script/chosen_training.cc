#include "client/script/chosen_training.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "client/script/kept_script.h"
#include "client/script/launch_program.h"
#include "client/script/script_text.h"
#include "client/shell/shell_text.h"
#include "client/shell/shell_words.h"
#include "common/base/text.h"

namespace gpuadvise::client {
namespace {

constexpr int kMostCalls = 5;          // of scripts within scripts
constexpr size_t kMostOfCommand = 80;  // bytes of it in a message

// Whether it may start a training in a way that is not known.
bool MayTrain(const ScriptCommand& command) {
  const std::string& name = command.words[0];
  if (IsAssignment(name) || OnlyPrints({"", 0, 0, false, {command}}) ||
      IsOneOf(name, {"export", "source", "cd", "mkdir", "cp", "rm", "module", "conda", "pip"})) {
    return false;
  }
  const bool trains =
      std::any_of(command.words.begin(), command.words.end(),
                  [](const std::string& word) { return word.find("train") != std::string::npos; });
  const bool is_variable =
      !ScriptVariables::OnlyVariable(name).empty() || !ScriptArgumentIn(name).empty();
  const bool runs_argument = IsOneOf(name, {"bash", "sh"}) && command.words.size() > 1 &&
                             !ScriptArgumentIn(command.words[1]).empty();
  return trains || is_variable || runs_argument || IsContainerWord(name) ||
         IsOneOf(name, {"srun", "eval", "mpirun", "make", "just", "invoke"});
}

// The last command that may start a training, as far as its text goes.
std::optional<LaunchCommand> UnknownTraining(const std::vector<ScriptStatement>& statements) {
  std::optional<LaunchCommand> last;
  for (size_t s = 0; s < statements.size(); ++s) {
    for (size_t c = 0; c < statements[s].commands.size(); ++c) {
      const ScriptCommand& command = statements[s].commands[c];
      if (!MayTrain(command)) continue;
      last.emplace();
      last->launcher = Launcher::kOther;
      for (const std::string& word : command.words) {
        const bool is_plain = word.find_first_of("$`'\"\\") == std::string::npos;
        last->words.push_back({word, is_plain ? std::optional(word) : std::nullopt});
      }
      last->statement = s;
      last->command = c;
      last->line = command.line;
      last->block = command.block;
      last->in_loop = command.in_loop;
    }
  }
  return last;
}

// The last line that runs another shell script ("srun ./train.sh", "source finetune.sh 7b"), which
// may have the training; "": none.
std::string CalledScript(const std::vector<ScriptStatement>& statements,
                         const ScriptVariables& variables, const std::string& file,
                         const ReadNamedFile& read) {
  std::string sentence;
  for (const ScriptStatement& statement : statements) {
    for (const ScriptCommand& command : statement.commands) {
      for (size_t i = 0; i < command.words.size(); ++i) {
        const std::string word = variables.ValueOf(command.words[i]).value_or(command.words[i]);
        const bool script = word.ends_with(".sh") || word.ends_with(".bash");
        const bool own = ("/" + word).ends_with("/" + file.substr(file.rfind('/') + 1));
        if (!script || own || word.find_first_of("$`*{(=") != std::string::npos) continue;
        const std::vector<std::string> arguments(command.words.begin() + static_cast<long>(i) + 1,
                                                 command.words.end());
        const std::string place = fmt::format("{}:{}: {}", file, command.line, word);
        sentence =
            read(word)
                ? place +
                      " starts no known kind of training (torchrun, accelerate launch, "
                      "deepspeed, python, …) that can be told from its text; write train.yaml "
                      "with `gpuadvise init`"
                : fmt::format(
                      "{} may have the training and cannot be read here: give that script, "
                      "`gpuadvise init --from {}`; the #SBATCH lines, the setup and the exports of "
                      "{}{} are then yours to write",
                      place, word, file,
                      arguments.empty() ? ""
                                        : ", and the arguments " +
                                              Join(arguments, " ").substr(0, kMostOfCommand));
      }
    }
  }
  return sentence;
}

// The one of `found` that is most like a training, else the last command that may start one in a
// way that is not known. Errors: there is neither, or another script may have it.
Result<FoundTraining> TheTraining(const std::vector<LaunchCommand>& found,
                                  const std::vector<ScriptStatement>& statements,
                                  const ScriptVariables& variables, const std::string& file,
                                  const ReadNamedFile& read) {
  const LaunchCommand* best = nullptr;
  for (const LaunchCommand& launch : found) {
    if (launch.likeness > -5 && (best == nullptr || launch.likeness > best->likeness)) {
      best = &launch;
    }
  }
  if (best == nullptr) {
    const std::string called = CalledScript(statements, variables, file, read);
    if (!called.empty()) return BadInput(called);
    auto launch = UnknownTraining(statements);
    const bool submits = launch && launch->words[0].raw == "sbatch";
    if (const int line = SubmissionIn(statements); line > 0 && (submits || !launch)) {
      return BadInput(
          fmt::format("{}:{}: sbatch submits another job, which has the training: give the script "
                      "of that one",
                      file, line));
    }
    if (launch) return FoundTraining{std::move(*launch), "", true};
    return BadInput(file +
                    ": no line starts a known kind of training (torchrun, accelerate launch, "
                    "deepspeed, python, …); write train.yaml with `gpuadvise init`");
  }
  const char* where = nullptr;
  if (RunsSeveralTimes(statements, *best)) where = best->in_loop ? "a loop" : "a function";
  if (where == nullptr) return FoundTraining{*best, ""};
  return FoundTraining{
      *best, fmt::format("line {}: the training starts inside {}, so what it runs depends on the "
                         "script; write one training{}",
                         best->line, where, best->in_loop ? ", and slurm.array for many" : "")};
}

// Refuses a mark in what runs up to the training; texts in quotes, here-documents and functions are
// for readers.
Result<void> CheckFilledIn(const std::vector<ScriptStatement>& statements, size_t last,
                           const std::string& file) {
  for (size_t i = 0; i <= last && i < statements.size(); ++i) {
    for (const ScriptCommand& command : statements[i].commands) {
      if (command.block == ScriptBlock::kFunction) continue;
      // The shell reads "<path>" as two redirections.
      std::string mark = FillInMark(ReplaceAll(command.redirections, " ", ""));
      if (statements[i].text.find(mark) == std::string::npos) mark.clear();
      for (const std::string& word : command.words) {
        if (mark.empty() && word.find_first_of("'\"") == std::string::npos) mark = FillInMark(word);
      }
      if (mark.empty()) continue;
      return BadInput(
          fmt::format("{}:{}: {} is a placeholder; fill it in first", file, command.line, mark));
    }
  }
  return {};
}

// Gives what follows statement `index`, which has grown by `lines`, the line numbers of the file.
void ShiftLines(size_t index, int lines, std::vector<ScriptStatement>& statements) {
  for (size_t i = index + 1; i < statements.size(); ++i) {
    statements[i].line -= lines;
    for (ScriptCommand& command : statements[i].commands) command.line -= lines;
  }
}

}  // namespace

int SubmissionIn(const std::vector<ScriptStatement>& statements) {
  for (const ScriptStatement& statement : statements) {
    for (const ScriptCommand& command : statement.commands) {
      const bool within =
          std::any_of(command.words.begin(), command.words.end(), [](const std::string& word) {
            return word.find("$(sbatch ") != std::string::npos ||
                   word.find("`sbatch ") != std::string::npos;
          });
      if (within || command.words[0] == "sbatch") return command.line;
    }
  }
  return 0;
}

std::string FillInMark(std::string_view text) {
  for (size_t at = text.find('<'); at != std::string_view::npos; at = text.find('<', at + 1)) {
    size_t end = at + 1;
    while (end < text.size() && (IsNamePart(text[end]) || text[end] == '-')) ++end;
    const bool mark =
        end < text.size() && text[end] == '>' && end > at + 2 && !IsDigit(text[at + 1]);
    if (mark) return std::string(text.substr(at, end + 1 - at));
  }
  return {};
}

Result<ReadScript> FindTraining(const std::string& text, const SbatchOptions& options,
                                const std::string& file, const ReadNamedFile& read) {
  ReadScript script{text, {}, {}, ScriptVariables(options), {}, {}};
  int grown = 0;  // lines of called scripts
  for (int calls = 0;; ++calls) {
    auto statements = ReadStatements(script.text);
    if (!statements) return BadInput(file + ": " + statements.error().message);
    if (grown > 0) ShiftLines(script.chosen.launch.statement, grown, *statements);
    script.statements = std::move(*statements);
    script.variables = ScriptVariables(options);
    script.found = FindLaunches(script.statements, script.variables, read);
    auto chosen = TheTraining(script.found, script.statements, script.variables, file, read);
    const size_t last = chosen ? chosen->launch.statement : script.statements.size();
    if (auto filled = CheckFilledIn(script.statements, last, file); !filled) {
      return tl::unexpected<Error>(filled.error());
    }
    if (!chosen) return tl::unexpected<Error>(chosen.error());
    script.chosen = std::move(*chosen);
    const std::optional<ScriptCall>& call = script.chosen.launch.call;
    if (!call) return script;
    const ScriptStatement& statement = script.statements[script.chosen.launch.statement];
    const size_t command = statement.commands[script.chosen.launch.command].begin;
    const std::string now = WithCalledText(statement.text, command - statement.begin, *call);
    if (now.empty() || calls == kMostCalls) {
      return BadInput(fmt::format(
          "{}:{}: {} has the training, and is called inside quotes or too deep: give that script, "
          "`gpuadvise init --from {}`; the #SBATCH lines, the setup and the exports of {} are then "
          "yours to write",
          file, statement.line, call->path, call->path, file));
    }
    script.called.push_back(fmt::format("line {}: {} → its text, which the job runs in its place",
                                        script.chosen.launch.line, call->path));
    grown += static_cast<int>(std::count(now.begin(), now.end(), '\n') -
                              std::count(statement.text.begin(), statement.text.end(), '\n'));
    script.text.replace(statement.begin, statement.text.size(), now);
  }
}

}  // namespace gpuadvise::client
