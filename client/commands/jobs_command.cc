// `gpuadvise jobs`: the experiment log, one job of it, and outcomes brought in from files.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "client/commands/outcome_import.h"
#include "client/commands/report.h"
#include "client/commands/shared_options.h"
#include "client/terminal/display.h"
#include "client/terminal/printable.h"
#include "client/terminal/text_table.h"
#include "client/views/experiment_words.h"
#include "client/views/job_detail.h"
#include "client/views/jobs_table.h"
#include "client/views/sweep_view.h"
#include "common/base/date_time.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

constexpr const char* kJobsFooter =
    "\n"
    "Outcomes in the output folders of your jobs are imported first.\n"
    "--import exits with 1 if a file was not imported.\n";

struct JobsCommand {
  std::string job_id;  // everything about this one; "" the log
  JobsFilter filter;
  std::string since;  // as written; read into `filter` when the command runs
  const CLI::Option* import_option = nullptr;
  bool import = false;
  std::vector<std::string> import_paths;  // empty: the output folders of the caller's own jobs
  bool csv = false;
  bool array = false;  // a row for each array and task of a sweep
};

constexpr int64_t kUsualLimit = 1000;  // the API's own

// With filters all that the API gives by itself are looked through.
std::string JobsTarget(const JobsCommand& command) {
  if (!command.job_id.empty()) return "/v1/advice?job=" + command.job_id;
  int64_t limit = command.filter.limit.value_or(kUsualLimit);
  if (command.filter.Selects()) limit = std::max(limit, kUsualLimit);
  return limit == kUsualLimit ? "/v1/advice" : fmt::format("/v1/advice?limit={}", limit);
}

// The log, after outcomes in the caller's own folders have been reported.
Result<json> AskForJobs(const std::string& target, Api& api) {
  Result<json> answer = api.Get(target);
  if (!answer || ImportOwnOutcomes(ReadExperiments(*answer), ::geteuid(), api) == 0) return answer;
  Result<json> again = api.Get(target);
  return again ? again : answer;
}

std::string JobsText(const api::Answer<api::Experiments>& answer, const JobsCommand& command,
                     int64_t now, const TerminalStyle& style) {
  if (answer.jobs.empty()) {
    return command.filter.Selects()
               ? "None of your jobs match.\n"
               : "No jobs yet. Jobs sent with `gpuadvise submit` appear here.\n";
  }
  std::string text;
  const std::vector<api::Experiment> rows = command.array ? answer.jobs : FoldedJobs(answer);
  for (const std::string& line : JobsTable(rows, now, style.width)) {
    text += (text.empty() ? Bold(line, style.colour) : line) + "\n";
  }
  return text + "\n" + ProgressText(answer.sweeps, now, style) +
         Indented(JobsRecord(answer.jobs), 0, style.width);
}

int ShowJobs(const JobsCommand& command, Api& api, Console& console) {
  Result<json> answer = AskForJobs(JobsTarget(command), api);
  if (!answer) return Report(answer.error(), console);
  json& jobs = (*answer)["jobs"];
  const bool more = !command.filter.limit && jobs.size() >= static_cast<size_t>(kUsualLimit);
  jobs = FilteredJobs(jobs, command.filter);
  if (command.csv) {
    console.Print(JobsCsv(jobs));
    return kExitOk;
  }
  return PrintAnswer<api::Experiments>(answer, console, [&](const auto& log, const auto& style) {
    std::string text = JobsText(log, command, console.now(), style);
    if (more && !log.jobs.empty()) {
      text += fmt::format("Older jobs with --limit {}.\n", 10 * kUsualLimit);
    }
    return log.jobs.empty() ? text : text + DoubtText(log.frame, style);
  });
}

int ShowJob(const JobsCommand& command, Api& api, Console& console) {
  const Result<json> answer = AskForJobs(JobsTarget(command), api);
  if (!answer) return Report(answer.error(), console);
  const std::vector<api::Experiment> jobs = ReadExperiments(*answer);
  if (jobs.empty()) {
    return Report({ErrorCode::kNotFound, "no job " + command.job_id + " of yours is known", ""},
                  console);
  }
  if (command.csv) {
    console.Print(JobsCsv(ListOf(*answer, "jobs")));
    return kExitOk;
  }
  return PrintAnswer<api::Experiments>(answer, console, [&](const auto& log, const auto& style) {
    return JobDetailText(jobs.front(), console.now(), style) +
           ProgressText(log.sweeps, console.now(), style);
  });
}

// What `--import` without a path means.
Result<std::vector<std::string>> FilesThatAreThere(Api& api) {
  const Result<json> answer = api.Get("/v1/advice");
  if (!answer) return tl::unexpected<Error>(answer.error());
  std::vector<std::string> files = OwnOutcomeFiles(ReadExperiments(*answer));
  std::erase_if(files, [](const std::string& file) { return ::access(file.c_str(), F_OK) != 0; });
  return files;
}

void PrintImported(const std::vector<ImportedFile>& files, Console& console) {
  json list = json::array();
  std::string text;
  for (const ImportedFile& file : files) {
    const bool taken = file.sentence.empty();
    list.push_back({{"path", file.path},
                    {"job_id", taken ? json(file.job_id) : json()},
                    {"error", taken ? json() : json(file.sentence)}});
    text +=
        Printable(file.path + ": " + (taken ? "job " + file.job_id + " taken" : file.sentence)) +
        "\n";
  }
  if (console.style().json) {
    PrintJson({{"imported", std::move(list)}}, console);
  } else {
    console.Print(text.empty() ? "Nothing to import: no new outcome in your jobs' output folders.\n"
                               : text);
  }
}

int ImportJobs(const JobsCommand& command, Api& api, Console& console) {
  const bool named = !command.import_paths.empty();
  const Result<std::vector<std::string>> files =
      named ? OutcomeFilesAt(command.import_paths) : FilesThatAreThere(api);
  if (!files) return Report(files.error(), console);
  const auto imported = ImportOutcomes(*files, ::geteuid(), api);
  if (!imported) return Report(imported.error(), console);
  PrintImported(*imported, console);
  const bool all = std::all_of(imported->begin(), imported->end(),
                               [](const ImportedFile& file) { return file.sentence.empty(); });
  return all ? kExitOk : kExitError;
}

int Run(JobsCommand& command, const CommandContext& context) {
  Api& api = context.api;
  Console& console = context.console;
  if (command.import && !command.job_id.empty()) {
    return Report({ErrorCode::kBadInput, "--import takes files and folders, not a job", ""},
                  console);
  }
  const JobsFilter& filter = command.filter;
  const bool filters = filter.Selects() || filter.limit || !command.since.empty();
  if (!command.job_id.empty() && filters) {
    return Report(
        {ErrorCode::kBadInput,
         "--state, --gpu, --name, --since and --limit cannot be combined with a job id", ""},
        console);
  }
  if (command.csv && (console.style().json || command.import)) {
    return Report({ErrorCode::kBadInput, "--csv cannot be combined with --json or --import", ""},
                  console);
  }
  JobsCommand read = command;
  if (!command.since.empty()) {
    const Result<int64_t> since = ParsePastDateTime(command.since, console.now());
    if (!since)
      return Report({since.error().code, "--since: " + since.error().message, ""}, console);
    read.filter.since = *since;
  }
  if (read.import) return ImportJobs(read, api, console);
  return read.job_id.empty() ? ShowJobs(read, api, console) : ShowJob(read, api, console);
}

void AddOptions(JobsCommand& command, Options& options) {
  JobsFilter& filter = command.filter;
  options.Value("JOBID", command.job_id, "Show this job in full", CheckJobId);
  options
      .Value("-t,--state STATE", filter.state, "Only pending, running, ended, ok or failed jobs")
      ->check(CLI::IsMember({"pending", "running", "ended", "ok", "failed"}));
  options.Value("--gpu NAME", filter.gpu, "Only on this GPU");
  options.Value("--name TEXT", filter.name, "Only jobs with this in their name");
  options.Value("--since TIME", command.since, "Submitted since: 7d, yesterday, fri, 2026-11-27");
  options.Number("--limit N", filter.limit, 1, 1e6, "The newest N jobs");
  command.import_option =
      options
          .Value("--import [PATH ...]", command.import_paths,
                 "Import outcome files, or folders with one (default: your jobs' output folders)")
          ->expected(0, 100'000);
  options.Flag("-r,--array", command.array, "A row for each array and task of a sweep");
  options.Flag("--csv", command.csv, "Every field as CSV");
  options.JsonAndPlace();
  options.Footer(kJobsFooter);
}

Result<void> Take(JobsCommand& command, const std::vector<std::string>&) {
  command.import = command.import_option->count() > 0;
  std::erase(command.import_paths, "");  // CLI11's word for no path
  return {};
}

}  // namespace

Command MakeJobsCommand() {
  return MakeCommand<JobsCommand>("jobs", "Your jobs: forecast and actual times, loss, cost",
                                  AddOptions, Run, Take);
}

}  // namespace gpuadvise::client
