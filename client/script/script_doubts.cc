#include "client/script/script_doubts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "client/script/called_script.h"
#include "client/script/launch_program.h"
#include "client/script/own_path.h"
#include "client/script/script_text.h"
#include "client/shell/shell_text.h"
#include "common/base/text.h"
#include "common/base/words.h"

namespace gpuadvise::client {
namespace {

constexpr size_t kMostShownOfCommand = 60;  // bytes of it in a message

// Parts of flags that name results, or change neither memory nor run time.
constexpr std::array<std::string_view, 8> kOfResults = {"seed", "output", "run_name", "log",
                                                        "save", "dir",    "tag",      "gpu"};

// "#!/bin/bash -l", "#!/usr/bin/env -S bash --login".
bool IsLoginShell(std::string_view script) {
  const std::string_view line = script.substr(0, script.find('\n'));
  return line.starts_with("#!") && (line.find(" -l") != std::string_view::npos ||
                                    line.find(" --login") != std::string_view::npos);
}

// The arguments of an array's command that differ between its tasks, "--lr, --data"; seeds and
// names of results change neither memory nor run time. "": none.
std::string FlagsOfTasks(const std::vector<SetupLine>& setup, const LaunchCommand& launch) {
  std::vector<std::string> variables = {"SLURM_ARRAY_TASK_ID"};
  for (const SetupLine& line : setup) {
    const bool depends = std::any_of(variables.begin(), variables.end(), [&](const auto& variable) {
      return UsesName(line.text, variable);
    });
    if (depends && !line.assigns.empty()) variables.push_back(line.assigns);
  }
  std::vector<std::string> flags;
  for (size_t i = launch.program_at + 1; i < launch.words.size(); ++i) {
    const std::string& raw = launch.words[i].raw;
    const bool differs = std::any_of(variables.begin(), variables.end(), [&](const auto& variable) {
      return raw.find('$') != std::string::npos && UsesName(raw, variable);
    });
    if (!differs) continue;
    const size_t equals = raw.find('=');
    const std::string before = launch.words[i - 1].raw;
    const std::string name = equals != std::string::npos ? raw.substr(0, equals)
                             : before.starts_with('-')   ? before
                                                         : raw;
    const std::string lower = LowerCase(name);
    const bool harmless =
        std::any_of(kOfResults.begin(), kOfResults.end(),
                    [&](std::string_view part) { return lower.find(part) != std::string::npos; });
    if (!harmless && !IsOneOf(name, flags)) flags.push_back(name);
  }
  return Join(flags, ", ");
}

struct MissingArgument {
  std::string word;  // "$1"; "": none
  int line = 0;
};

// The first of the script's own arguments that statements use outside functions, without a default
// and before a `set --`; also in called scripts that are given none.
MissingArgument ArgumentOutside(const std::vector<ScriptStatement>& statements) {
  for (const ScriptStatement& statement : statements) {
    if (statement.text.starts_with("set -- ")) return {};
    const bool function =
        !statement.commands.empty() && statement.commands[0].block == ScriptBlock::kFunction;
    if (function) continue;
    const bool reads_options =
        std::any_of(statement.commands.begin(), statement.commands.end(),
                    [](const ScriptCommand& command) { return command.words[0] == "getopts"; });
    if (reads_options) return {"what getopts reads", statement.line};
    const HeldCall held = HeldCallIn(statement.text);
    const std::string argument = ScriptArgumentIn(held.before);
    const bool has_default =
        argument.size() == 2 && IsDigit(argument[1]) &&
        held.before.find("${" + argument.substr(1) + ":-") != std::string::npos;
    if (!argument.empty() && !has_default) return {argument, statement.line};
    if (held.text.empty() || held.has_arguments) continue;
    const auto inner = ReadStatements(held.text);
    const MissingArgument missing = inner ? ArgumentOutside(*inner) : MissingArgument{};
    if (!missing.word.empty()) return {missing.word, statement.line};
  }
  return {};
}

// What a script that is kept whole does beside the training that is counted.
void SayWhatTheTextDoes(const std::vector<ScriptStatement>& statements,
                        const std::vector<LaunchCommand>& found, const LaunchCommand& launch,
                        ScriptReport& report) {
  for (const LaunchCommand& other : found) {
    const bool same = other.statement == launch.statement && other.command == launch.command &&
                      TextOf(other) == TextOf(launch);
    if (same || other.likeness < kLooksLikeTraining) continue;
    report.unclear.push_back(fmt::format(
        "line {}: {} starts a training, too: {}, and neither its time nor its memory is counted; "
        "take it out, or write stages:",
        other.line, TextOf(other).substr(0, kMostShownOfCommand),
        other.block == ScriptBlock::kCondition ? "a condition says whether it runs"
                                               : "it runs as well"));
  }
  if (const int line = SubmissionIn(statements); line > 0) {
    report.unclear.push_back(fmt::format(
        "line {}: sbatch submits another job, which no advice reaches: take it out, or convert "
        "that one, too",
        line));
  }
  const MissingArgument missing = ArgumentOutside(statements);
  if (missing.word.empty()) return;
  report.unclear.push_back(
      fmt::format("line {}: {} is what you write after the script's name, and empty here: give it "
                  "by a line set -- … at the top of command",
                  missing.line, missing.word));
}

// torchrun that does not say of how many nodes its training is: it is one of each, or of the first
// alone.
void SayWhichNodesTrain(const ScriptAsRead& source, ScriptReport& report) {
  const LaunchCommand& launch = source.script.chosen.launch;
  const int64_t nodes = source.nodes;
  if (source.stays || nodes < 2 || launch.launcher != Launcher::kTorchrun) return;
  if (UsesName(source.script.text, "PET_NNODES")) return;
  for (size_t i = launch.launcher_at; i < launch.program_at && i < launch.words.size(); ++i) {
    const std::string word = WordAt(launch.words, i);
    if (word.starts_with("--nnodes") || word.starts_with("--rdzv")) return;
    if (word == "--standalone") {
      report.unclear.push_back(
          fmt::format("line {}: torchrun --standalone is a training of each node by itself, {} as "
                      "the script asks; the job is one, on one node",
                      launch.line, nodes));
      return;
    }
  }
  report.unclear.push_back(
      launch.srun
          ? fmt::format("line {}: torchrun without --nnodes is a training on each of {} nodes; in "
                        "the job it is one of all of them: write --nnodes=1 into command to keep "
                        "them apart",
                        launch.line, nodes)
          : fmt::format("line {}: torchrun without srun runs on the first of {} nodes; in the job "
                        "it is one training of all of them",
                        launch.line, nodes));
}

// Of the training, of how it is started, and of what surrounds it.
void AddDoubtsOfTraining(const ScriptAsRead& source, ScriptReport& report) {
  const FoundTraining& chosen = source.script.chosen;
  const LaunchCommand& launch = chosen.launch;
  if (IsLoginShell(source.text) || (launch.in_login_shell && !source.stays)) {
    report.unclear.emplace_back(
        "the training runs in a login shell (-l), in the job it does not: where setup needs one, "
        "as for `module`, write source /etc/profile as its first line");
  }
  const auto uses_path = [](const SetupLine& line) { return UsesOwnPath(line.text); };
  if (source.stays ? UsesOwnPath(source.script.text)
                   : UsesOwnPath(TextOf(launch)) ||
                         std::any_of(source.setup.begin(), source.setup.end(), uses_path)) {
    report.unclear.emplace_back(
        "the script's own path ($0, BASH_SOURCE) is not that of this file in a job: write it in "
        "full");
  }
  const std::string flags =
      source.options.options.Has("array") ? FlagsOfTasks(source.setup, launch) : "";
  if (!flags.empty()) {
    report.unclear.push_back(flags +
                             ": the tasks of the array differ in it, and one num_samples, memory "
                             "and time limit is for all: write those of the largest");
  }
  if (ProgramOf(launch).find("submitit") != std::string::npos) {
    report.unclear.push_back(
        ProgramOf(launch) +
        " submits a job of its own, which no advice reaches: write the training that it starts, "
        "with torchrun, as command");
  }
  if (launch.block == ScriptBlock::kCondition && chosen.open.empty()) {
    report.unclear.push_back(fmt::format(
        "line {}: the training starts inside a condition, which is assumed to hold", launch.line));
  }
  if (chosen.is_unknown) {
    report.unclear.insert(
        report.unclear.begin(),
        fmt::format("line {}: {}: no kind of training that is known (torchrun, accelerate launch, "
                    "deepspeed, python, …): look its figures through, and write what is missing{}",
                    launch.line, TextOf(launch).substr(0, kMostShownOfCommand),
                    launch.in_loop ? ", those of all rounds of its loop" : ""));
  }
  SayWhichNodesTrain(source, report);
  if (source.stays) {
    SayWhatTheTextDoes(source.script.statements, source.script.found, launch, report);
  }
}

// Of #SBATCH lines, whose options sbatch takes as they are written.
void AddDoubtsOfOptions(const ParsedArguments& parsed, ScriptReport& report) {
  for (const std::string& option : parsed.options.ToArguments()) {
    const size_t dollar = option.find('$');
    if (dollar + 1 < option.size() &&
        (option[dollar + 1] == '{' || IsNamePart(option[dollar + 1]))) {
      report.unclear.push_back("#SBATCH " + option +
                               ": Slurm expands no variables there; write the value");
    }
    const std::string mark = FillInMark(option);
    if (!mark.empty())
      report.missing.push_back("#SBATCH " + option + ": " + mark + " is a placeholder");
  }
}

}  // namespace

void AddDoubts(const ScriptAsRead& source, ScriptReport& report) {
  AddDoubtsOfTraining(source, report);
  AddDoubtsOfOptions(source.options, report);
  const LaunchCommand& launch = source.script.chosen.launch;
  for (const std::string& sentence : source.script.called) report.changed.push_back(sentence);
  if (launch.srun && !source.stays) {
    const std::string words = Join(launch.srun->left, " ");
    report.left.push_back("srun" + (words.empty() ? "" : " " + words) +
                          ": submit starts the training itself");
  }
  for (const std::string& option : launch.srun ? launch.srun->left : std::vector<std::string>()) {
    const bool binds = source.stays && (option.find("mask_") != std::string::npos ||
                                        option.find("map_") != std::string::npos);
    if (!binds) continue;
    report.unclear.push_back("srun " + option +
                             ": these are the cores or GPUs of one kind of node; take it out, or "
                             "see that it fits every row");
  }
  for (const std::string& name : launch.open) {
    report.unclear.push_back(name + ": a condition adds to it, which is " +
                             (source.stays ? "not counted" : "left out"));
  }
  for (const std::string& option : source.options.replaced) {
    report.left.push_back("#SBATCH " + option + ": a later line gives it again and wins");
  }
  for (const std::string& unknown : source.options.unknown) {
    report.unclear.push_back("#SBATCH " + unknown +
                             (unknown.starts_with("--")
                                  ? ": no option of sbatch's own; kept for a plugin of the site"
                                  : ": not an sbatch option"));
  }
}

}  // namespace gpuadvise::client
