#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "client/api/answer_reader.h"
#include "client/api/exit_code.h"
#include "client/commands/report.h"
#include "client/commands/script_source.h"
#include "client/commands/shared_options.h"
#include "client/commands/sweep_keep.h"
#include "client/sbatch/sbatch_script.h"
#include "client/shell/shell_text.h"
#include "client/terminal/display.h"
#include "client/terminal/printable.h"
#include "client/views/advice_view.h"
#include "client/views/sweep_view.h"
#include "common/base/text.h"
#include "common/base/words.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

constexpr const char* kSweepFooter =
    "\n"
    "Plans many runs of a training, such as a search over settings, as one: which GPU types and "
    "how\n"
    "many runs on each, so that the last one is done first. Without -n or -a: slurm.array of "
    "FILE.\n"
    "Runs are numbered over all parts: {index} and $SLURM_ARRAY_TASK_ID are the same wherever a "
    "run\n"
    "goes.\n"
    "\n"
    "  gpuadvise sweep train.yaml -n 80                           the plan\n"
    "  gpuadvise submit train.yaml -a 1-80 --sweep-dir search     submit it\n"
    "  gpuadvise sweep search                                     how far it is\n"
    "  gpuadvise sweep search --keep --retry 1                    until all runs have ended\n";

struct SweepCommand {
  AdviceQuestion question;
  FromScript from;
  std::optional<double> max_age_seconds;
  int64_t runs = 0;
  bool keep = false;
  KeepOptions keeping;
};

std::string PlanText(const api::Answer<api::Advice>& advice, const SweepCommand& command,
                     int64_t now, const TerminalStyle& style) {
  std::string text = Clipped(advice.name + " · " + ClusterAndAge(advice.frame), style.width) +
                     "\n\n" + SweepText(advice, now, style) + "\n";
  const std::string file = command.from.script.empty() ? command.question.file : "";
  if (!file.empty() && file != "-") {
    text += fmt::format("Submit it: gpuadvise submit {} -a {}\n", ShellQuoted(file),
                        ShellQuoted(advice.sweep->array));
  }
  const auto labelled = [&](const char* label, const std::string& words) {
    if (!words.empty()) text += Indented(label + words, 2, style.width).substr(2);
  };
  labelled("Assumed: ", Join(advice.assumed, "; "));
  for (const std::string& tip : advice.tips) labelled("Tip: ", tip);
  for (const std::string& warning : advice.frame.warnings) labelled("Warning: ", warning);
  labelled("Warning: ", DataDoubt(advice.frame));
  return text;
}

int RunOnFolder(const SweepCommand& command, const CommandContext& context) {
  if (command.runs > 0 || !command.question.fixed.empty()) {
    return Report({ErrorCode::kBadInput,
                   "the runs of a sweep's folder are what was submitted: -n, -a and other options "
                   "of the plan do not change them",
                   ""},
                  context.console);
  }
  Result<SweepFolder> folder = SweepFolder::Open(command.question.file);
  if (!folder) return Report(folder.error(), context.console);
  return command.keep ? KeepSweep(*folder, command.keeping, context) : ShowSweep(*folder, context);
}

int Run(SweepCommand& command, const CommandContext& context) {
  Console& console = context.console;
  AdviceQuestion& question = command.question;
  if (command.keep || SweepFolder::IsOne(question.file)) return RunOnFolder(command, context);
  if (command.runs > 0) question.fixed.Set("array", fmt::format("1-{}", command.runs));
  const int64_t now = console.now();
  const Result<TrainFile> file = LoadTraining(question, command.from, console);
  if (!file) return Report(file.error(), console);
  if (ArrayAsked(file->spec(), question.fixed).empty()) {
    return Report({ErrorCode::kBadInput, "how many runs? -n 80, or -a 1-80%8 as in sbatch", ""},
                  console);
  }
  const Result<json> answer = AskForAdvice(context.api, *file, question, now);
  if (!answer) return Report(answer.error(), console);
  const auto advice = ReadAnswer<api::Advice>(*answer);
  PrintAnswer<api::Advice>(answer, console, [&](const auto& shown, const auto& style) {
    if (shown.sweep) return PlanText(shown, command, now, style);
    return AdviceText(shown, {.now = now, .style = style});
  });
  const Result<void> young = CheckAge(advice.frame, command.max_age_seconds);
  if (!young) return ReportInWords(young.error(), console);
  return advice.strategies.empty() ? kExitInfeasible : kExitOk;
}

void AddOptions(SweepCommand& command, Options& options) {
  AddAdviceQuestion(options, command.question);
  AddFromScript(options, command.from, "Use this job script instead of FILE");
  AddMaxAge(options, command.max_age_seconds);
  options.Number("-n,--runs N", command.runs, 1, 4e6, "Number of runs: tasks 1 to N");
  options.Flag(
      "--keep", command.keep,
      "FILE is the folder of `submit --sweep-dir`: until all runs have ended, move waiting "
      "ones to where they end first");
  options.Number("--retry N", command.keeping.retry, 0, 100, "With --keep: run failed ones again");
  options.Number("--every SECONDS", command.keeping.every_seconds, 0.1, 86400,
                 "With --keep: look at the queue so often");
  options.Number(
      "--settle SECONDS", command.keeping.settle_seconds, 0, 86400,
      "With --keep: until a run out of the queue counts as failed; for file systems that "
      "show changes later than in 90 s");
  options.JsonAndPlace();
  options.Footer(kSweepFooter);
}

Result<void> Take(SweepCommand& command, const std::vector<std::string>&) {
  if (command.keep && command.question.file.empty()) {
    return BadInput("--keep needs the folder of a sweep: the one of `submit --sweep-dir`");
  }
  const KeepOptions usual;
  const bool keeps = command.keeping.retry != usual.retry ||
                     command.keeping.every_seconds != usual.every_seconds ||
                     command.keeping.settle_seconds != usual.settle_seconds;
  if (keeps && !command.keep) return BadInput("--retry, --every and --settle go with --keep");
  if (command.runs > 0 && command.question.fixed.Has("array")) {
    return BadInput("-n and -a both say how many runs; give one");
  }
  return CheckSource(command.question, command.from);
}

}  // namespace

Command MakeSweepCommand() {
  return MakeCommand<SweepCommand>("sweep", "Many runs of a training, the last one done first",
                                   AddOptions, Run, Take);
}

}  // namespace gpuadvise::client
