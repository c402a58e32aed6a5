// `gpuadvise jobs`: the experiment log, one job of it, and outcomes brought in from files.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "client/api/answer_reader.h"
#include "client/api/exit_code.h"
#include "client/commands/commands.h"
#include "client/commands/outcome_import.h"
#include "client/terminal/display.h"
#include "client/terminal/printable.h"
#include "client/terminal/text_table.h"
#include "client/views/job_detail.h"
#include "client/views/jobs_table.h"
#include "common/base/date_time.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

constexpr int64_t kUsualLimit = 1000;  // the API's own

// With filters all that the API gives by itself are looked through.
std::string TargetOf(const JobsCommand& command) {
  if (!command.job_id.empty()) return "/v1/advice?job=" + command.job_id;
  int64_t limit = command.filter.limit.value_or(kUsualLimit);
  if (command.filter.Selects()) limit = std::max(limit, kUsualLimit);
  return limit == kUsualLimit ? "/v1/advice" : fmt::format("/v1/advice?limit={}", limit);
}

// The log, after outcomes that lie in the caller's own folders have been reported.
Result<json> AskForJobs(const std::string& target, Api& api) {
  Result<json> answer = api.Get(target);
  if (!answer || ImportOwnOutcomes(ListOf(*answer, "jobs"), ::geteuid(), api) == 0) return answer;
  Result<json> again = api.Get(target);
  return again ? again : answer;
}

std::string JobsText(const json& answer, const JobsCommand& command, bool more,
                     const Console& console) {
  const json& jobs = ListOf(answer, "jobs");
  const TerminalStyle style = console.style();
  if (jobs.empty()) {
    return command.filter.Selects()
               ? "None of your jobs match.\n"
               : "No jobs yet. Jobs sent with `gpuadvise submit` appear here.\n";
  }
  const std::vector<std::string> lines = JobsTable(jobs, console.now(), style.width);
  std::string text;
  for (const std::string& line : lines) {
    text += (text.empty() ? Bold(line, style.colour) : line) + "\n";
  }
  text += "\n" + Indented(JobsRecord(jobs), 0, style.width);
  if (more) {
    text += fmt::format("Older jobs with --limit {}.\n", 10 * kUsualLimit);
  }
  if (const std::string stale = DataDoubt(answer); !stale.empty()) {
    text += Yellow("Warning: " + stale, style.colour) + "\n";
  }
  return text;
}

int ShowJobs(const JobsCommand& command, Api& api, Console& console) {
  Result<json> answer = AskForJobs(TargetOf(command), api);
  if (!answer) return Report(answer.error(), console);
  const size_t known = ListOf(*answer, "jobs").size();
  const bool more = !command.filter.limit && known >= static_cast<size_t>(kUsualLimit);
  (*answer)["jobs"] = FilteredJobs(ListOf(*answer, "jobs"), command.filter);
  if (command.json) {
    PrintJson(*answer, console);
  } else if (command.csv) {
    console.Print(JobsCsv((*answer)["jobs"]));
  } else {
    console.Print(JobsText(*answer, command, more, console));
  }
  return kExitOk;
}

int ShowJob(const JobsCommand& command, Api& api, Console& console) {
  const Result<json> answer = AskForJobs(TargetOf(command), api);
  if (!answer) return Report(answer.error(), console);
  const json& jobs = ListOf(*answer, "jobs");
  if (jobs.empty() || !jobs.front().is_object()) {
    return Report({ErrorCode::kNotFound, "no job " + command.job_id + " of yours is known", ""},
                  console);
  }
  if (command.json) {
    PrintJson(*answer, console);
  } else if (command.csv) {
    console.Print(JobsCsv(jobs));
  } else {
    console.Print(JobDetailText(jobs.front(), console.now(), console.style()));
  }
  return kExitOk;
}

// What `--import` without a path means.
Result<std::vector<std::string>> FilesThatAreThere(Api& api) {
  const Result<json> answer = api.Get("/v1/advice");
  if (!answer) return tl::unexpected<Error>(answer.error());
  std::vector<std::string> files = OwnOutcomeFiles(ListOf(*answer, "jobs"));
  std::erase_if(files, [](const std::string& file) { return ::access(file.c_str(), F_OK) != 0; });
  return files;
}

void PrintImported(const std::vector<ImportedFile>& files, bool as_json, Console& console) {
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
  if (as_json) {
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
  PrintImported(*imported, command.json, console);
  const bool all = std::all_of(imported->begin(), imported->end(),
                               [](const ImportedFile& file) { return file.sentence.empty(); });
  return all ? kExitOk : kExitError;
}

}  // namespace

int RunJobs(const JobsCommand& command, Api& api, Console& console) {
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
  if (command.csv && (command.json || command.import)) {
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

}  // namespace gpuadvise::client
