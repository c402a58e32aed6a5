#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "client/api/answer_reader.h"
#include "client/api/exit_code.h"
#include "client/commands/report.h"
#include "client/commands/shared_options.h"
#include "client/questions/job_question.h"
#include "client/shell/shell_text.h"
#include "client/terminal/display.h"
#include "client/terminal/printable.h"
#include "client/views/limits_view.h"
#include "common/api/when.h"
#include "common/base/slurm_time.h"
#include "common/base/text.h"
#include "common/base/words.h"
#include "common/slurm/gres.h"
#include "common/yaml/yaml_file.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

constexpr const char* kWhenFooter =
    "\n"
    "gpuadvise when [OPTIONS] [SBATCH OPTIONS] [job.sh]\n"
    "Forecasts when a job with these sbatch options would start. Supported: -p -A -q -t -N -n -c "
    "-C\n"
    "-G --gres --gpus-per-node --gpus-per-task --mem --mem-per-cpu --mem-per-gpu -w/--nodelist\n"
    "-x/--exclude --exclusive -b/--begin --reservation -d/--dependency --nice -H/--hold\n"
    "-a/--array (the first and the last task).\n"
    "Other options do not count, and are named.\n"
    "#SBATCH lines of a job script are read first; options here override them.\n"
    "With --limits: never below --time-min; -J selects similar past runs.\n"
    "\n"
    "Example: gpuadvise when -p gpu --gres gpu:l40s:6 -t 600 --limits\n";

struct WhenCommand {
  std::vector<std::string> arguments;  // sbatch's options and perhaps a job script
  bool limits = false;                 // with what a shorter time limit is worth
};

struct SbatchRequest {
  SbatchOptions options;
  SbatchOptions given;  // on the command line alone
  std::string script;   // "": none
  std::vector<std::string> unknown;
};

// The command line's options of each part of a heterogeneous job, split at ":" as by sbatch.
std::vector<std::vector<std::string>> SplitAtColons(const std::vector<std::string>& arguments) {
  std::vector<std::vector<std::string>> parts(1);
  for (const std::string& argument : arguments) {
    if (argument == ":") {
      parts.emplace_back();
    } else {
      parts.back().push_back(argument);
    }
  }
  return parts;
}

// The script's lines of each part, split at "#SBATCH hetjob" ("packjob" in old Slurm). Empty lines
// stand for earlier parts, so that errors name the right line.
std::vector<std::string> SplitAtHetjobs(std::string_view script) {
  std::vector<std::string> parts(1);
  int64_t line_number = 0;
  bool is_head = true;  // before the first command
  for (const std::string_view line : SplitAt(script, '\n')) {
    ++line_number;
    const std::string_view words = Trim(line);
    is_head = is_head && (words.empty() || words.starts_with('#'));
    const std::string_view option =
        words.starts_with("#SBATCH") ? Trim(words.substr(std::string_view("#SBATCH").size())) : "";
    if (is_head && (option == "hetjob" || option == "packjob")) {
      parts.emplace_back(static_cast<size_t>(line_number), '\n');
    } else {
      parts.back().append(line).append("\n");
    }
  }
  return parts;
}

// Refuses what sbatch does not take for a script.
Result<void> CheckBatchScript(std::string_view text, const std::string& file) {
  if (!text.starts_with("#!")) {
    return BadInput(file +
                    ":1: sbatch takes no script without an interpreter, #!/bin/bash, in its "
                    "first line");
  }
  const size_t end = text.find("\r\n");
  if (end == std::string_view::npos) return {};
  return BadInput(
      fmt::format("{}:{}: sbatch takes no DOS line breaks; remove them, as dos2unix does", file,
                  1 + std::count(text.begin(), text.begin() + static_cast<long>(end), '\n')));
}

// The script's #SBATCH lines, overridden by the command line: one request, or one for each part of
// a heterogeneous job.
Result<std::vector<SbatchRequest>> ReadQuestion(const WhenCommand& command) {
  std::vector<SbatchRequest> requests;
  std::string script;
  for (const std::vector<std::string>& words : SplitAtColons(command.arguments)) {
    Result<ParsedArguments> flags = ParseSbatchArguments(words);
    if (!flags) return tl::unexpected<Error>(flags.error());
    SbatchRequest& request = requests.emplace_back();
    request.unknown = std::move(flags->unknown);
    request.given = std::move(flags->options);
    if (!flags->rest.empty()) script = flags->rest.front();
  }
  if (!script.empty()) {
    const Result<std::string> text = ReadTextFile(script);
    if (!text) return tl::unexpected<Error>(text.error());
    if (const Result<void> batch = CheckBatchScript(*text, script); !batch) {
      return tl::unexpected<Error>(batch.error());
    }
    const std::vector<std::string> parts = SplitAtHetjobs(*text);
    requests.resize(std::max(requests.size(), parts.size()));
    for (size_t i = 0; i < parts.size(); ++i) {
      Result<ParsedArguments> lines = ParseScriptOptions(parts[i], script);
      if (!lines) return tl::unexpected<Error>(lines.error());
      requests[i].options = std::move(lines->options);
      requests[i].unknown.insert(requests[i].unknown.end(), lines->unknown.begin(),
                                 lines->unknown.end());
    }
  }
  for (SbatchRequest& request : requests) {
    request.script = script;
    request.options.OverrideWith(request.given);
  }
  return requests;
}

std::string WaitWords(int64_t seconds) { return DurationInWords(static_cast<double>(seconds)); }

std::string JobWords(const api::JobStart& job) {
  std::vector<std::string> parts;
  if (!job.partition.empty()) parts.push_back(job.partition);
  const std::string nodes = job.nodes > 1 ? Plural(job.nodes, "node") : "";
  if (!job.gpus_total.empty())
    parts.push_back(job.gpus_total + (nodes.empty() ? "" : " on " + nodes));
  if (job.gpus_total.empty() && !(nodes + job.gres).empty()) {
    parts.push_back(nodes + (nodes.empty() || job.gres.empty() ? "" : " × ") + job.gres);
  }
  if (job.time_limit_seconds) parts.push_back("limit " + FormatDuration(*job.time_limit_seconds));
  return Join(parts, " · ");
}

// "now", or the time from the wait and the clock: the snapshot may be seconds old.
std::string StartWords(const api::StartFigures& start, int64_t now) {
  const auto [p10, p50, p90, mean] = start.wait;
  if (p90 < 30) return "starts now";
  const int64_t likely = start.start_p50 > 0 ? start.start_p50 : now + p50;
  const int64_t late = start.start_p90 > 0 ? start.start_p90 : now + p90;
  const std::string when = p50 < 30 ? "now" : "in " + WaitWords(p50);
  const std::string clock = p50 < 30 ? ClockTime(late, now) : ClockRange(likely, late, now);
  if (p90 - p50 < 60) return "starts " + when + ": " + ClockRange(likely, late, now);
  return fmt::format("starts {} (p90 in {}): {}", when, WaitWords(p90), clock);
}

// What a plan at the limits would say, where that is another answer.
std::string AtLimitsWords(std::optional<int64_t> wait, const api::StartFigures& start) {
  if (!wait || *wait < 60) return "";
  if (static_cast<double>(*wait) < 1.1 * static_cast<double>(start.wait.p90_seconds)) return "";
  return fmt::format("in {} if every job ran to its time limit and no new job overtook it",
                     WaitWords(*wait));
}

std::string ArrayWords(const api::LastTask& array, int64_t now) {
  const int64_t tasks = array.tasks, played = array.tasks_played;
  const int64_t throttle = array.throttle.value_or(0);
  const std::string most =
      throttle > 0 && throttle < tasks ? fmt::format(", at most {} at a time,", throttle) : "";
  if (array.later_than_played) {
    return fmt::format("the last of {} tasks{} starts later than in {}", Grouped(tasks), most,
                       WaitWords(array.start.wait.p50_seconds));
  }
  if (played < tasks) {
    return fmt::format("task {} of {}{} {}; later tasks are too far ahead", Grouped(played),
                       Grouped(tasks), most, StartWords(array.start, now));
  }
  return fmt::format("the last of {} tasks{} {}", Grouped(tasks), most,
                     StartWords(array.start, now));
}

// The parts of a heterogeneous job start at once, the last to find room decides.
std::string TogetherWords(const std::vector<api::StartAnswer>& parts, int64_t now) {
  api::StartFigures last;
  for (const api::StartAnswer& part : parts) {
    const api::StartFigures start = part.job.value_or(api::JobStart()).start;
    if (start.wait.p50_seconds >= last.wait.p50_seconds) last = start;
  }
  return "all " + std::to_string(parts.size()) +
         " parts start together, so none before the last: " + StartWords(last, now) +
         " at the earliest (each is forecast as if it were alone)";
}

std::string WhenText(const api::Answer<api::Starts>& whole, const api::StartAnswer& answer,
                     int64_t now, int width) {
  const api::JobStart job = answer.job.value_or(api::JobStart());
  const std::string& cluster = answer.cluster;
  std::string text =
      Clipped(JobWords(job) + " · " +
                  (cluster.empty() ? ClusterAndAge(whole.frame) : "cluster " + cluster),
              width) +
      "\n";
  std::vector<std::string> lines = {StartWords(job.start, now)};
  std::string at_limits = AtLimitsWords(job.wait_at_limits_seconds, job.start);
  if (const auto& array = answer.array) {
    lines = {"the first task " + StartWords(job.start, now), ArrayWords(*array, now)};
    at_limits = AtLimitsWords(array->wait_at_limits_seconds, array->start);
  }
  if (!at_limits.empty()) lines.push_back(at_limits);
  lines.push_back(fmt::format("priority {}, {} before it", job.priority,
                              Plural(job.jobs_before, "pending job")));
  lines.insert(lines.end(), job.reasons.begin(), job.reasons.end());
  lines.insert(lines.end(), job.doubts.begin(), job.doubts.end());
  for (const api::EarlierStart& one : job.cheaper) lines.push_back(one.words);
  const std::string& note = whole.forecast.note;
  if (!note.empty()) lines.push_back("forecast: " + note);
  if (const std::string stale = DataDoubt(whole.frame); !stale.empty()) lines.push_back(stale);
  for (const std::string& warning : whole.frame.warnings) lines.push_back(warning);
  for (const std::string& line : lines) {
    for (const std::string& part : Wrapped(line, std::max(20, width - 2)))
      text += "  " + part + "\n";
  }
  return text;
}

// `options` with the GPU type as Slurm has it: people and forecasts also know it by other names.
SbatchOptions WithSlurmsType(SbatchOptions options, const api::JobStart& job) {
  const Result<Gres> known = ParseGres(job.gpus_total.empty() ? job.gres : job.gpus_total);
  if (!known || known->gpus.size() != 1) return options;
  const std::string& type = known->gpus.front().type;
  for (const char* name : {"gres", "gpus", "gpus-per-node", "gpus-per-task"}) {
    const std::string given = options.Get(name).value_or("");
    const Result<Gres> asked = ParseGres(name == std::string_view("gres") ? given : "gpu:" + given);
    if (!asked || asked->gpus.size() != 1) continue;
    const std::string& alias = asked->gpus.front().type;
    if (!alias.empty() && !type.empty()) options.Set(name, ReplaceAll(given, alias, type));
  }
  return options;
}

// The line that asks Slurm for what was asked here. Arrays are sbatch's alone.
std::string SlurmLine(const std::vector<SbatchOptions>& parts, const std::string& script) {
  const bool shell = script.empty() && !parts.front().Has("array");
  std::string line = shell ? "salloc" : "sbatch";
  for (const SbatchOptions& options : parts) {
    if (&options != &parts.front()) line += " :";
    for (const std::string& argument : options.ToArguments()) line += " " + ShellQuoted(argument);
  }
  if (shell) return "To run it: " + line + ", or sbatch with your script";
  return "To run it: " + line + " " + (script.empty() ? "SCRIPT" : ShellQuoted(script));
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

Error AnswerError(const api::ErrorEntry& error) {
  const std::string message = Explained(error.message, error.pointer);
  if (error.code == "infeasible") return {ErrorCode::kInfeasible, message, ""};
  return {error.code == "not_found" ? ErrorCode::kNotFound : ErrorCode::kBadInput, message, ""};
}

// What sbatch may refuse, and what may move the start and does not count.
void ListUnknown(const SbatchRequest& request, Console& console) {
  for (const std::string& option : request.unknown) {
    console.Complain("gpuadvise: not an sbatch option: " + Printable(option));
  }
  for (const std::string& option : UnseenByJobQuestion(request.options)) {
    console.Complain("gpuadvise: not in the forecast: " + Printable(option));
  }
}

int Run(WhenCommand& command, const CommandContext& context) {
  Api& api = context.api;
  Console& console = context.console;
  const Result<std::vector<SbatchRequest>> requests = ReadQuestion(command);
  if (!requests) return Report(requests.error(), console);
  json body = {{"jobs", json::array()}};
  for (const SbatchRequest& request : *requests) {
    ListUnknown(request, console);
    const Result<json> job = JobQuestion(request.options, console.now());
    if (!job) return Report(job.error(), console);
    body["jobs"].push_back(*job);
    if (!command.limits) continue;
    const Result<void> added = AddRunWords(request.options, body["jobs"].back());
    if (!added) return Report(added.error(), console);
    body["limits"] = true;
  }
  const Result<json> answer = api.Post("/v1/when", body);
  if (!answer) {
    const Error& error = answer.error();
    return Report({error.code, Explained(error.message, error.pointer), ""}, console);
  }
  if (console.style().json) PrintJson(*answer, console);
  const auto starts = ReadAnswer<api::Starts>(*answer);
  if (starts.answers.empty()) {
    return Report(
        {ErrorCode::kInternal,
         "gpuadvised gave no answer for the job; check that both have the same version", ""},
        console);
  }
  for (const api::StartAnswer& one : starts.answers) {
    if (!one.error) continue;
    if (&one == &starts.answers.front() || requests->size() > 1) {
      return ReportInWords(AnswerError(*one.error), console);
    }
  }
  if (console.style().json) return kExitOk;
  std::string text;
  for (const api::StartAnswer& one : starts.answers) {  // one of each cluster
    if (!text.empty()) text += "\n";
    if (one.error) {
      text += one.cluster + ": " + AnswerError(*one.error).message + "\n";
      continue;
    }
    text += WhenText(starts, one, console.now(), console.style().width);
    if (command.limits) text += "\n" + LimitsText(one, console.style());
  }
  if (requests->size() > 1) {
    text += "\n" + Indented(TogetherWords(starts.answers, console.now()), 2, console.style().width);
  }
  if (starts.answers.front().cluster.empty()) {
    std::vector<SbatchOptions> given;
    for (size_t i = 0; i < requests->size(); ++i) {
      const auto& job = starts.answers[std::min(i, starts.answers.size() - 1)].job;
      given.push_back(WithSlurmsType((*requests)[i].given, job.value_or(api::JobStart())));
    }
    text += Indented(SlurmLine(given, requests->front().script), 2, console.style().width);
  }
  console.Print(text);
  return kExitOk;
}

void AddOptions(WhenCommand& command, Options& options) {
  options.Flag("--limits", command.limits, "Show start and risk for shorter time limits");
  options.Clusters();
  options.JsonAndPlace();
  options.Footer(kWhenFooter);
}

Result<void> Take(WhenCommand& command, const std::vector<std::string>& words) {
  command.arguments = words;
  return {};
}

}  // namespace

Command MakeWhenCommand() {
  return MakeCommand<WhenCommand>("when", "When a job would start: sbatch options or a job script",
                                  AddOptions, Run, Take, ForeignWords::kSbatchOptions);
}

}  // namespace gpuadvise::client
