#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "client/api/answer_reader.h"
#include "client/api/exit_code.h"
#include "client/commands/commands.h"
#include "client/script/command_conflicts.h"
#include "client/script/script_file.h"
#include "client/terminal/printable.h"
#include "client/views/advice_view.h"
#include "common/base/text.h"

namespace gpuadvise::client {

using nlohmann::json;

int ReportInWords(const Error& error, Console& console) {
  console.Complain("gpuadvise: " + error.message);
  return ExitCodeOf(error.code);
}

int Report(const Error& error, Console& console) {
  if (console.style().json) PrintJson(ErrorDocument(error), console);
  return ReportInWords(error, console);
}

void PrintJson(const json& answer, Console& console) {
  console.Print(PrintableJson(answer.dump(2, ' ', false, json::error_handler_t::replace)) + "\n");
}

Result<void> CheckAge(const json& answer, std::optional<double> max_age_seconds) {
  const double age = NumberOf(answer, "snapshot_age_seconds");
  if (!max_age_seconds || age <= *max_age_seconds) return {};
  const std::string cause = TextOf(ObjectOf(answer, "meta"), "stale_cause");
  return Fail(ErrorCode::kStale,
              fmt::format("the data is {:.0f} s old, --max-age allows {:.0f} s{}{}", age,
                          *max_age_seconds, cause.empty() ? "" : ": ", cause));
}

Result<TrainFile> LoadTraining(const AdviceQuestion& question, const FromScript& from,
                               Console& console) {
  const int64_t now = console.now();
  if (from.script.empty()) return TrainFile::Load(question.file, question.section, now);
  const Result<ConvertedScript> converted = ConvertScriptFile(from.script, from.hints);
  if (!converted) return tl::unexpected<Error>(converted.error());
  if (converted->report.batch_is_missing) {
    return BadInput(from.script + ": " + Join(converted->report.missing, "; ") +
                    "; or say --effective-batch N");
  }
  ScriptReport open;
  open.unclear = converted->report.unclear;
  open.missing = converted->report.missing;
  const std::string points = ReportText(open, console.style().width);
  if (!points.empty()) console.Complain(points.substr(0, points.size() - 1));
  return TrainFile::FromText(converted->yaml, from.script + " as a train.yaml", question.section,
                             now);
}

int RunAdvise(const AdviseCommand& command, Api& api, Console& console) {
  const AdviceQuestion& question = command.question;
  const int64_t now = console.now();
  const Result<TrainFile> file = LoadTraining(question, command.from, console);
  if (!file) return Report(file.error(), console);
  Result<json> answer = AskForAdvice(api, *file, question, now);
  if (!answer) return Report(answer.error(), console);
  AddConflicts(file->spec(), *answer);
  if (command.json) {
    PrintJson(*answer, console);
  } else {
    AdviceViewOptions options{.all = command.all, .now = now, .style = console.style()};
    console.Print(AdviceText(*answer, options));
  }
  const Result<void> young = CheckAge(*answer, command.max_age_seconds);
  if (!young) return ReportInWords(young.error(), console);
  return ListOf(*answer, "strategies").empty() ? kExitInfeasible : kExitOk;
}

}  // namespace gpuadvise::client
