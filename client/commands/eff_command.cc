// `gpuadvise eff`: what finished jobs used of what they asked for, and what to ask for next time.
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <map>
#include <nlohmann/json.hpp>

#include "client/api/answer_reader.h"
#include "client/api/exit_code.h"
#include "client/commands/commands.h"
#include "client/records/job_efficiency.h"
#include "client/terminal/display.h"
#include "client/terminal/text_table.h"
#include "common/base/date_time.h"
#include "common/base/slurm_time.h"
#include "common/base/words.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

constexpr int64_t kUsualSeconds = 7 * 86'400;

std::string SlurmTimeOf(int64_t time) {
  const auto seconds = static_cast<std::time_t>(time);
  std::tm local{};
  ::localtime_r(&seconds, &local);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", 1900 + local.tm_year, local.tm_mon + 1,
                     local.tm_mday, local.tm_hour, local.tm_min, local.tm_sec);
}

Result<std::vector<std::string>> SacctArguments(const EffCommand& command, int64_t now) {
  std::vector<std::string> words = {"-n", "-P", "--noconvert", "-o", kEfficiencyFields};
  if (!command.job_id.empty()) {
    if (!command.user.empty() || !command.since.empty()) {
      return BadInput("-u and -S cannot be combined with a job id");
    }
    words.insert(words.end(), {"-j", command.job_id});
    return words;
  }
  int64_t since = now - kUsualSeconds;
  if (!command.since.empty()) {
    const Result<int64_t> asked = ParsePastDateTime(command.since, now);
    if (!asked) return BadInput("--since: " + asked.error().message);
    since = *asked;
  }
  const std::string user =
      command.user.empty() || command.user == "me" ? command.own_user : command.user;
  words.insert(words.end(), {"-S", SlurmTimeOf(since), "-E", "now"});
  if (!user.empty()) words.insert(words.end(), {"-u", user});
  return words;
}

// What `gpuadvise run` sampled on the GPUs, where a daemon knows it: the mean is worth more than
// the highest sample of accounting.
void AddSampled(Api& api, std::vector<JobEfficiency>* jobs) {
  const Result<json> log = api.Get("/v1/advice");
  if (!log) return;  // no daemon here: accounting is enough
  std::map<int64_t, const json*> known;
  for (const json& job : ListOf(*log, "jobs")) known.emplace(IntOf(job, "job_id"), &job);
  for (JobEfficiency& job : *jobs) {
    const auto found = known.find(job.raw_id);
    if (found == known.end()) continue;
    const auto use = OptionalNumber(*found->second, "mean_utilisation");
    if (use && *use >= 0 && *use <= 1) {
      job.gpu_use = *use;
      job.gpu_use_is_mean = true;
    }
    if (const auto peak = OptionalNumber(*found->second, "peak_memory_bytes"); peak && *peak > 0) {
      job.gpu_memory_bytes = static_cast<int64_t>(*peak);
    }
  }
}

json OrNothing(std::optional<double> value) { return value ? json(*value) : json(); }
json OrNothing(std::optional<int64_t> value) { return value ? json(*value) : json(); }

json RowOf(const JobEfficiency& job) {
  return {{"job_id", job.id},
          {"name", job.name},
          {"user", job.user},
          {"state", job.state},
          {"partition", job.partition},
          {"elapsed_seconds", job.elapsed_seconds},
          {"time_limit_seconds", OrNothing(job.limit_seconds)},
          {"time_efficiency", OrNothing(job.TimeEfficiency())},
          {"cpus", job.cpus},
          {"nodes", job.nodes},
          {"cpu_seconds", OrNothing(job.cpu_seconds)},
          {"cpu_efficiency", OrNothing(job.CpuEfficiency())},
          {"memory_requested_bytes", OrNothing(job.memory_requested_bytes)},
          {"memory_used_bytes", OrNothing(job.memory_used_bytes)},
          {"memory_efficiency", OrNothing(job.MemoryEfficiency())},
          {"gpus", job.gpus},
          {"gpu_use", OrNothing(job.gpu_use)},
          {"gpu_use_kind", !job.gpu_use ? json() : json(job.gpu_use_is_mean ? "mean" : "highest")},
          {"gpu_memory_bytes", OrNothing(job.gpu_memory_bytes)},
          {"next_time", NextTime(job)}};
}

AnswerColumn ShareColumn(const char* header, const char* key) {
  return {header, Align::kRight, [key](const json& row) {
            const auto share = OptionalNumber(row, key);
            return share ? fmt::format("{:.0f} %", 100 * *share) : "–";
          }};
}

AnswerColumn WordColumn(const char* header, const char* key) {
  return {header, Align::kLeft, [key](const json& row) { return OrDash(TextOf(row, key)); }};
}

std::vector<AnswerColumn> EffColumns() {
  return {
      {"JOBID", Align::kRight, [](const json& row) { return TextOf(row, "job_id"); }},
      WordColumn("STATE", "state"),
      {"ELAPSED", Align::kRight,
       [](const json& row) { return FormatDuration(IntOf(row, "elapsed_seconds")); }},
      ShareColumn("TIME", "time_efficiency"),
      ShareColumn("CPU", "cpu_efficiency"),
      ShareColumn("MEM", "memory_efficiency"),
      {"GPUS", Align::kRight, [](const json& row) { return std::to_string(IntOf(row, "gpus")); }},
      ShareColumn("GPU", "gpu_use"),
      WordColumn("NAME", "name"),
      WordColumn("PARTITION", "partition"),
      WordColumn("USER", "user")};
}

std::string Gib(const json& row, const char* key) {
  const auto bytes = OptionalNumber(row, key);
  return bytes ? fmt::format("{:.3g} GiB", *bytes / (int64_t{1} << 30)) : "not known";
}

std::string Percent(const json& row, const char* key) {
  const auto share = OptionalNumber(row, key);
  return share ? fmt::format(" ({:.0f} %)", 100 * *share) : "";
}

// One job in full, as seff shows it.
std::string DetailOf(const json& row, const TerminalStyle& style) {
  const auto limit = OptionalNumber(row, "time_limit_seconds");
  const auto cpu = OptionalNumber(row, "cpu_seconds");
  const int64_t elapsed = IntOf(row, "elapsed_seconds");
  std::string text =
      Bold(fmt::format("Job {} · {} · {} · {}", TextOf(row, "job_id"), OrDash(TextOf(row, "name")),
                       OrDash(TextOf(row, "user")), TextOf(row, "state")),
           style.colour) +
      "\n";
  const auto line = [&](const char* label, const std::string& value) {
    text += fmt::format("  {:8}{}\n", label, value);
  };
  line("time", fmt::format("{} of {}{}", FormatDuration(elapsed),
                           limit ? FormatDuration(static_cast<int64_t>(*limit)) : "no limit",
                           Percent(row, "time_efficiency")));
  line("CPU", cpu ? fmt::format("{} of {} on {}{}", FormatDuration(static_cast<int64_t>(*cpu)),
                                FormatDuration(elapsed * IntOf(row, "cpus")),
                                Plural(IntOf(row, "cpus"), "CPU"), Percent(row, "cpu_efficiency"))
                  : "not known: accounting gathers no CPU time here");
  line("memory",
       OptionalNumber(row, "memory_used_bytes")
           ? fmt::format("{} of {}{}", Gib(row, "memory_used_bytes"),
                         Gib(row, "memory_requested_bytes"), Percent(row, "memory_efficiency"))
           : "not known: no sample of its steps (JobAcctGatherType, or too short a job)");
  if (const int64_t gpus = IntOf(row, "gpus"); gpus > 0) {
    const auto use = OptionalNumber(row, "gpu_use");
    std::string words = Plural(gpus, "GPU");
    words += use ? fmt::format(", busy {:.0f} % ({})", 100 * *use,
                               TextOf(row, "gpu_use_kind") == "mean" ? "mean" : "highest sample")
                 : ", use not known: the site gathers none; start trainings with gpuadvise run";
    if (OptionalNumber(row, "gpu_memory_bytes")) {
      words += fmt::format(", {} each", Gib(row, "gpu_memory_bytes"));
    }
    line("GPU", words);
  }
  return text;
}

std::string EffText(const json& rows, bool one, const TerminalStyle& style) {
  std::string text =
      one ? DetailOf(rows.front(), style) : AnswerTable(rows, EffColumns(), 6, style);
  bool first = true;
  for (const json& row : rows) {
    for (const std::string& words : TextsOf(row, "next_time")) {
      if (std::exchange(first, false)) text += "\nNext time:\n";
      text += Indented((one ? "" : TextOf(row, "job_id") + ": ") + words, 2, style.width);
    }
  }
  return text;
}

}  // namespace

int RunEff(const EffCommand& command, SlurmQuery& slurm, Api& api, Console& console) {
  const Result<std::vector<std::string>> arguments = SacctArguments(command, console.now());
  if (!arguments) return Report(arguments.error(), console);
  const Result<std::string> printed = slurm.Ask("sacct", *arguments);
  if (!printed) return Report(printed.error(), console);
  std::vector<JobEfficiency> jobs = EfficiencyFrom(*printed);
  const size_t found = jobs.size();
  std::erase_if(jobs, [](const JobEfficiency& job) { return !job.ended(); });
  if (jobs.empty() && !command.job_id.empty()) {
    return Report({ErrorCode::kBadInput,
                   found > 0 ? "job " + command.job_id + " has not ended; `gpuadvise watch " +
                                   command.job_id + "` follows it"
                             : "accounting knows no job " + command.job_id +
                                   " that you may see (slurmdbd, PrivateData)",
                   ""},
                  console);
  }
  AddSampled(api, &jobs);
  if (const std::string missing = AddGpuMetrics(command.metrics, GetByHttps, &jobs);
      !missing.empty()) {
    console.Complain("gpuadvise: " + missing);
  }
  json rows = json::array();
  for (const JobEfficiency& job : jobs) rows.push_back(RowOf(job));
  if (command.json) {
    PrintJson({{"jobs", rows}}, console);
  } else if (rows.empty()) {
    console.Print("No finished jobs in that period that you may see.\n");
  } else {
    const bool one = rows.size() == 1 && !command.job_id.empty();
    console.Print(EffText(rows, one, console.style()));
  }
  return kExitOk;
}

}  // namespace gpuadvise::client
