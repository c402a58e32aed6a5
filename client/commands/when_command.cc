#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "client/api/answer_reader.h"
#include "client/api/exit_code.h"
#include "client/commands/commands.h"
#include "client/questions/job_question.h"
#include "client/terminal/display.h"
#include "client/terminal/printable.h"
#include "client/views/limits_view.h"
#include "common/base/slurm_time.h"
#include "common/base/words.h"
#include "yaml/yaml_file.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

struct SbatchRequest {
  SbatchOptions options;
  std::vector<std::string> unknown;
};

// The script's #SBATCH lines, overridden by the command line.
Result<SbatchRequest> ReadQuestion(const WhenCommand& command) {
  Result<ParsedArguments> flags = ParseSbatchArguments(command.arguments);
  if (!flags) return tl::unexpected<Error>(flags.error());
  SbatchRequest request;
  request.unknown = flags->unknown;
  if (!flags->rest.empty()) {
    const std::string& path = flags->rest.front();
    const Result<std::string> script = ReadTextFile(path);
    if (!script) return tl::unexpected<Error>(script.error());
    Result<ParsedArguments> lines = ParseScriptOptions(*script, path);
    if (!lines) return tl::unexpected<Error>(lines.error());
    request.options = lines->options;
    request.unknown.insert(request.unknown.end(), lines->unknown.begin(), lines->unknown.end());
  }
  request.options.OverrideWith(flags->options);
  return request;
}

std::string JobWords(const json& answer) {
  std::vector<std::string> parts;
  if (const std::string partition = TextOf(answer, "partition"); !partition.empty()) {
    parts.push_back(partition);
  }
  if (const std::string gres = TextOf(answer, "gres"); !gres.empty()) parts.push_back(gres);
  if (const auto limit = OptionalNumber(answer, "time_limit_seconds")) {
    parts.push_back("limit " + FormatDuration(static_cast<int64_t>(*limit)));
  }
  std::string words;
  for (const std::string& part : parts) words += (words.empty() ? "" : " · ") + part;
  return words;
}

// "now", or the time from the wait and the clock: the snapshot may be seconds old.
std::string StartWords(const json& answer, int64_t now) {
  const double p50 = NumberOf(answer, "wait_p50_seconds");
  const double p90 = NumberOf(answer, "wait_p90_seconds");
  if (p90 < 30) return "starts now";
  const int64_t likely = IntOf(answer, "start_p50", now + static_cast<int64_t>(p50));
  const int64_t late = IntOf(answer, "start_p90", now + static_cast<int64_t>(p90));
  const std::string when = p50 < 30 ? "now" : "in " + DurationInWords(p50);
  const std::string clock = p50 < 30 ? ClockTime(late, now) : ClockRange(likely, late, now);
  if (p90 - p50 < 60) return "starts " + when + ": " + ClockRange(likely, late, now);
  return fmt::format("starts {} (p90 in {}): {}", when, DurationInWords(p90), clock);
}

// What a plan at the limits would say, where that is another answer.
std::string AtLimitsWords(const json& answer) {
  const auto wait = OptionalNumber(answer, "wait_at_limits_seconds");
  if (!wait || *wait < 60 || *wait < 1.1 * NumberOf(answer, "wait_p90_seconds")) return "";
  return fmt::format("in {} if every job ran to its time limit and no new job overtook it",
                     DurationInWords(*wait));
}

std::string ArrayWords(const json& array, int64_t now) {
  const int64_t tasks = IntOf(array, "tasks"), played = IntOf(array, "tasks_played", tasks);
  const int64_t throttle = IntOf(array, "throttle");
  const std::string most =
      throttle > 0 && throttle < tasks ? fmt::format(", at most {} at a time,", throttle) : "";
  if (IsTrue(array, "later_than_played")) {
    return fmt::format("the last of {} tasks{} starts later than in {}", Grouped(tasks), most,
                       DurationInWords(NumberOf(array, "wait_p50_seconds")));
  }
  if (played < tasks) {
    return fmt::format("task {} of {}{} {}; later tasks are too far ahead", Grouped(played),
                       Grouped(tasks), most, StartWords(array, now));
  }
  return fmt::format("the last of {} tasks{} {}", Grouped(tasks), most, StartWords(array, now));
}

std::string WhenText(const json& whole, const json& answer, int64_t now, int width) {
  const std::string cluster = TextOf(answer, "cluster");
  std::string text =
      Clipped(JobWords(answer) + " · " +
                  (cluster.empty() ? ClusterAndAge(whole) : "cluster " + Printable(cluster)),
              width) +
      "\n";
  const json& array = ObjectOf(answer, "array");
  std::vector<std::string> lines = {StartWords(answer, now)};
  if (!array.empty()) {
    lines = {"the first task " + StartWords(answer, now), ArrayWords(array, now)};
  }
  const json& limits_of = array.empty() ? answer : array;
  if (const std::string words = AtLimitsWords(limits_of); !words.empty()) lines.push_back(words);
  const int64_t before = IntOf(answer, "jobs_before", -1);
  if (before >= 0) {
    lines.push_back(fmt::format("priority {}, {} before it", IntOf(answer, "priority"),
                                Plural(before, "pending job")));
  }
  for (const std::string& reason : TextsOf(answer, "reasons")) lines.push_back(reason);
  for (const std::string& doubt : TextsOf(answer, "doubts")) lines.push_back(doubt);
  for (const json& one : ListOf(answer, "cheaper")) lines.push_back(TextOf(one, "words"));
  const std::string note = TextOf(ObjectOf(whole, "forecast"), "note");
  if (!note.empty()) lines.push_back("forecast: " + note);
  if (const std::string stale = DataDoubt(whole); !stale.empty()) lines.push_back(stale);
  for (const std::string& line : lines) {
    for (const std::string& part : Wrapped(line, std::max(20, width - 2)))
      text += "  " + part + "\n";
  }
  return text;
}

// "/jobs/0/time_limit_seconds" is what the person calls --time.
std::string Explained(const std::string& message, const std::string& pointer) {
  const size_t slash = pointer.rfind('/');
  if (!pointer.starts_with("/jobs/") || slash <= 5) return message;
  std::string option = pointer.substr(slash + 1);
  for (char& c : option) c = c == '_' ? '-' : c;
  if (option == "time-limit-seconds") option = "time";
  if (option.ends_with("-mib")) option.resize(option.size() - 4);
  return "--" + option + ": " + message;
}

Error AnswerError(const json& error) {
  const std::string code = TextOf(error, "code");
  const std::string message = Explained(TextOf(error, "message"), TextOf(error, "pointer"));
  if (code == "infeasible") return {ErrorCode::kInfeasible, message, ""};
  return {code == "not_found" ? ErrorCode::kNotFound : ErrorCode::kBadInput, message, ""};
}

void ListUnknown(const SbatchRequest& request, Console& console) {
  for (const std::string& option : request.unknown) {
    console.Complain("gpuadvise: ignored, not an sbatch option: " + Printable(option));
  }
  SbatchOptions options = request.options;
  options.Erase("array");  // `when` sees it
  for (const std::string& option : UnseenByForecast(options)) {
    console.Complain("gpuadvise: no effect on the forecast: " + Printable(option));
  }
}

}  // namespace

int RunWhen(const WhenCommand& command, Api& api, Console& console) {
  const Result<SbatchRequest> request = ReadQuestion(command);
  if (!request) return Report(request.error(), console);
  if (command.verbose) ListUnknown(*request, console);
  const Result<json> job = JobQuestion(request->options, console.now());
  if (!job) return Report(job.error(), console);
  json body = {{"jobs", json::array({*job})}};
  if (command.limits) {
    if (const Result<void> added = AddRunWords(request->options, body["jobs"][0]); !added) {
      return Report(added.error(), console);
    }
    body["limits"] = true;
  }
  const Result<json> answer = api.Post("/v1/when", body);
  if (!answer) {
    const Error& error = answer.error();
    return Report({error.code, Explained(error.message, error.pointer), ""}, console);
  }
  if (command.json) PrintJson(*answer, console);
  const json& answers = ListOf(*answer, "answers");
  if (answers.empty()) {
    return Report(
        {ErrorCode::kInternal,
         "gpuadvised gave no answer for the job; check that both have the same version", ""},
        console);
  }
  const json& first = answers.front();
  const json& error = ObjectOf(first, "error");
  if (!error.empty()) return ReportInWords(AnswerError(error), console);
  if (command.json) return kExitOk;
  std::string text;
  for (const json& one : answers) {  // one of each cluster
    const json& refused = ObjectOf(one, "error");
    if (!text.empty()) text += "\n";
    if (!refused.empty()) {
      text += TextOf(one, "cluster") + ": " + AnswerError(refused).message + "\n";
      continue;
    }
    text += WhenText(*answer, one, console.now(), console.style().width);
    if (command.limits) text += "\n" + LimitsText(one, console.style());
  }
  console.Print(text);
  return kExitOk;
}

}  // namespace gpuadvise::client
