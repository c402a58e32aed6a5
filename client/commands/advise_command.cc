#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "client/api/answer_reader.h"
#include "client/api/exit_code.h"
#include "client/commands/report.h"
#include "client/commands/script_source.h"
#include "client/commands/shared_options.h"
#include "client/script/command_conflicts.h"
#include "client/script/script_file.h"
#include "client/terminal/printable.h"
#include "client/views/advice_view.h"
#include "common/base/text.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

struct AdviseCommand {
  AdviceQuestion question;
  FromScript from;
  std::optional<double> max_age_seconds;
  bool all = false;
};

int Run(AdviseCommand& command, const CommandContext& context) {
  Api& api = context.api;
  Console& console = context.console;
  const AdviceQuestion& question = command.question;
  const int64_t now = console.now();
  const Result<TrainFile> file = LoadTraining(question, command.from, console);
  if (!file) return Report(file.error(), console);
  Result<json> answer = AskForAdvice(api, *file, question, now);
  if (!answer) return Report(answer.error(), console);
  auto advice = ReadAnswer<api::Advice>(*answer);
  advice.command_conflicts = ConflictsOf(file->spec(), advice);
  if (!advice.command_conflicts.empty()) {
    (*answer)["command_conflicts"] = fields::Write(advice.command_conflicts);
  }
  PrintAnswer<api::Advice>(answer, console, [&](const auto& shown, const auto& style) {
    return AdviceText(shown, {.all = command.all,
                              .now = now,
                              .style = style,
                              .chosen_rank = FirstFollowed(advice, advice.command_conflicts),
                              .narrowed_by = NarrowedBy(file->spec(), question)});
  });
  for (const std::string& option : UncountedOptions(file->spec(), question)) {
    console.Complain("gpuadvise: not in the forecast: " + Printable(option));
  }
  const Result<void> young = CheckAge(advice.frame, command.max_age_seconds);
  if (!young) return ReportInWords(young.error(), console);
  return advice.strategies.empty() ? kExitInfeasible : kExitOk;
}

void AddOptions(AdviseCommand& command, Options& options) {
  AddAdviceQuestion(options, command.question);
  AddFromScript(options, command.from, "Use this job script instead of FILE");
  AddMaxAge(options, command.max_age_seconds);
  options.Flag("--all", command.all, "Show all strategies, also impossible ones, with reasons");
  options.Flag("--others", command.question.others,
               "Show how much later jobs of others start because of each strategy");
  options.Clusters();
  options.JsonAndPlace();
}

Result<void> Take(AdviseCommand& command, const std::vector<std::string>&) {
  return CheckSource(command.question, command.from);
}

}  // namespace

Command MakeAdviseCommand() {
  return MakeCommand<AdviseCommand>("advise", "Rank the strategies for a training job", AddOptions,
                                    Run, Take);
}

}  // namespace gpuadvise::client
