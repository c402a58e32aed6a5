// `gpuadvise eff`: what finished jobs used of what they asked for, and what to ask for next time.
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "client/commands/report.h"
#include "client/commands/shared_options.h"
#include "client/records/job_efficiency.h"
#include "client/terminal/display.h"
#include "client/terminal/text_table.h"
#include "common/api/experiment.h"
#include "common/base/date_time.h"
#include "common/base/json_fields.h"
#include "common/base/slurm_time.h"
#include "common/base/words.h"
#include "common/slurm/accounted_job.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

constexpr const char* kEffFooter =
    "\nFrom Slurm's accounting (sacct): CPU time over CPUs × elapsed time; the highest memory of "
    "a\n"
    "step over what was requested; GPU use where the site gathers it, or `gpuadvise run` sampled "
    "it.\n";

struct EffCommand {
  std::string job_id;  // "": several
  std::string user;    // "" or "me": the caller
  std::string since;   // as written
  std::string own_user;
};

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

// The use that `gpuadvise run` sampled, if a daemon knows it: a mean says more than the highest
// sample of accounting.
void AddSampled(Api& api, std::vector<JobEfficiency>* jobs) {
  const Result<json> log = api.Get("/v1/advice");
  if (!log) return;  // no daemon here: accounting is enough
  std::map<int64_t, api::Measured> measured;
  for (const api::Experiment& job : ReadAnswer<api::Experiments>(*log).jobs) {
    measured.emplace(job.job_id, job.measured);
  }
  for (JobEfficiency& job : *jobs) {
    const auto found = measured.find(job.raw_id);
    if (found == measured.end()) continue;
    job.was_monitored = found->second.has_outcome;
    const auto use = found->second.mean_utilisation;
    if (use && *use >= 0 && *use <= 1) {
      job.gpu_use = *use;
      job.gpu_use_is_mean = true;
    }
    const auto peak = found->second.peak_memory_bytes;
    if (peak && *peak > 0) job.gpu_memory_bytes = *peak;
  }
}

json JobJson(const JobEfficiency& job) {
  return {{"job_id", job.id},
          {"name", job.name},
          {"user", job.user},
          {"state", job.state},
          {"partition", job.partition},
          {"elapsed_seconds", job.elapsed_seconds},
          {"time_limit_seconds", OrNull(job.limit_seconds)},
          {"time_efficiency", OrNull(job.TimeEfficiency())},
          {"cpus", job.cpus},
          {"nodes", job.nodes},
          {"cpu_seconds", OrNull(job.cpu_seconds)},
          {"cpu_efficiency", OrNull(job.CpuEfficiency())},
          {"memory_requested_bytes", OrNull(job.memory_requested_bytes)},
          {"memory_used_bytes", OrNull(job.memory_used_bytes)},
          {"memory_efficiency", OrNull(job.MemoryEfficiency())},
          {"gpus", job.gpus},
          {"gpu_use", OrNull(job.gpu_use)},
          {"gpu_use_kind", !job.gpu_use ? json() : json(job.gpu_use_is_mean ? "mean" : "highest")},
          {"gpu_memory_bytes", OrNull(job.gpu_memory_bytes)},
          {"next_time", NextTime(job)}};
}

using EffColumn = ColumnOf<JobEfficiency>;

EffColumn ShareColumn(const char* header,
                      const std::function<std::optional<double>(const JobEfficiency&)>& get) {
  return {header, Align::kRight, [get](const JobEfficiency& job) {
            const auto share = get(job);
            return share ? fmt::format("{:.0f} %", 100 * *share) : "–";
          }};
}

std::vector<EffColumn> EffColumns() {
  return {MemberColumn("JOBID", Align::kRight, &JobEfficiency::id, std::identity()),
          TextMember("STATE", &JobEfficiency::state),
          MemberColumn("ELAPSED", Align::kRight, &JobEfficiency::elapsed_seconds, FormatDuration),
          ShareColumn("TIME", &JobEfficiency::TimeEfficiency),
          ShareColumn("CPU", &JobEfficiency::CpuEfficiency),
          ShareColumn("MEM", &JobEfficiency::MemoryEfficiency),
          CountMember("GPUS", &JobEfficiency::gpus),
          ShareColumn("GPU", &JobEfficiency::gpu_use),
          TextMember("NAME", &JobEfficiency::name),
          TextMember("PARTITION", &JobEfficiency::partition),
          TextMember("USER", &JobEfficiency::user)};
}

std::string GibText(std::optional<int64_t> bytes) {
  if (!bytes) return "not known";
  return fmt::format("{:.3g} GiB", static_cast<double>(*bytes) / (int64_t{1} << 30));
}

std::string InPercent(std::optional<double> share) {
  return share ? fmt::format(" ({:.0f} %)", 100 * *share) : "";
}

// One job in full, as seff shows it.
std::string DetailText(const JobEfficiency& job, const TerminalStyle& style) {
  std::string text = Bold(fmt::format("Job {} · {} · {} · {}", job.id, OrDash(job.name),
                                      OrDash(job.user), job.state),
                          style.colour) +
                     "\n";
  const auto line = [&](const char* label, const std::string& value) {
    text += fmt::format("  {:8}{}\n", label, value);
  };
  const int64_t elapsed = job.elapsed_seconds;
  line("time", fmt::format("{} of {}{}", FormatDuration(elapsed),
                           job.limit_seconds ? FormatDuration(*job.limit_seconds) : "no limit",
                           InPercent(job.TimeEfficiency())));
  line("CPU", job.cpu_seconds ? fmt::format("{} of {} on {}{}",
                                            FormatDuration(static_cast<int64_t>(*job.cpu_seconds)),
                                            FormatDuration(elapsed * job.cpus),
                                            Plural(job.cpus, "CPU"), InPercent(job.CpuEfficiency()))
                              : "not known: accounting gathers no CPU time here");
  line("memory",
       job.memory_used_bytes
           ? fmt::format("{} of {}{}", GibText(job.memory_used_bytes),
                         GibText(job.memory_requested_bytes), InPercent(job.MemoryEfficiency()))
           : "not known: no sample of its steps (JobAcctGatherType, or too short a job)");
  if (job.gpus > 0) {
    std::string words = Plural(job.gpus, "GPU");
    words += job.gpu_use ? fmt::format(", busy {:.0f} % ({})", 100 * *job.gpu_use,
                                       job.gpu_use_is_mean ? "mean" : "highest sample")
             : job.was_monitored
                 ? ", use not known: gpuadvise run could not load NVIDIA's library (NVML) there"
                 : ", use not known: the site gathers none; start trainings with gpuadvise run";
    if (job.gpu_memory_bytes) words += fmt::format(", {} each", GibText(job.gpu_memory_bytes));
    line("GPU", words);
  }
  return text;
}

std::string EffText(std::vector<JobEfficiency> jobs, bool one, const TerminalStyle& style) {
  for (JobEfficiency& job : jobs) {
    for (std::string* text : {&job.id, &job.name, &job.user, &job.state, &job.partition}) {
      *text = ShownText(*text);
    }
  }
  std::string text =
      one ? DetailText(jobs.front(), style) : AnswerTable(jobs, EffColumns(), 6, style);
  constexpr size_t kMostIds = 4;
  // What is said of several jobs is said once.
  std::vector<std::pair<std::string, std::vector<std::string>>> said;
  for (const JobEfficiency& job : jobs) {
    for (const std::string& words : NextTime(job)) {
      const auto same = std::find_if(said.begin(), said.end(),
                                     [&](const auto& each) { return each.first == words; });
      if (same == said.end()) {
        said.push_back({words, {job.id}});
      } else {
        same->second.push_back(job.id);
      }
    }
  }
  if (!said.empty()) text += "\nNext time:\n";
  for (const auto& [words, ids] : said) {
    text += Indented((one ? "" : JoinNames(ids, kMostIds) + ": ") + words, 2, style.width);
  }
  return text;
}

int Run(EffCommand& command, const CommandContext& context) {
  Console& console = context.console;
  command.own_user = context.user_name();
  const Result<std::vector<std::string>> arguments = SacctArguments(command, console.now());
  if (!arguments) return Report(arguments.error(), console);
  const Result<std::string> printed = context.slurm.Ask("sacct", *arguments);
  if (!printed) {
    return Report({printed.error().code, DescribeAccountingError(printed.error().message), ""},
                  console);
  }
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
  AddSampled(context.api, &jobs);
  if (const std::string missing = AddGpuMetrics(context.settings.metrics, GetFromPrometheus, &jobs);
      !missing.empty()) {
    console.Complain("gpuadvise: " + missing);
  }
  if (console.style().json) {
    json rows = json::array();
    for (const JobEfficiency& job : jobs) rows.push_back(JobJson(job));
    PrintJson({{"jobs", rows}}, console);
  } else if (jobs.empty()) {
    console.Print("No finished jobs in that period that you may see.\n");
  } else {
    const bool one = jobs.size() == 1 && !command.job_id.empty();
    console.Print(EffText(std::move(jobs), one, console.style()));
  }
  return kExitOk;
}

void AddOptions(EffCommand& command, Options& options) {
  options.Value("JOBID", command.job_id, "Job id, or JOBID_TASK of an array", CheckJobOrTask);
  options.Value("-u,--user NAME", command.user, "This user's jobs (me: your own, the default)");
  options.Value("-S,--since DATE", command.since,
                "Jobs since: 7d, yesterday, fri, 2026-11-27 (default 7d)");
  options.JsonAndPlace();
  options.Footer(kEffFooter);
}

}  // namespace

Command MakeEffCommand() {
  return MakeCommand<EffCommand>("eff", "What finished jobs used of what they asked for",
                                 AddOptions, Run);
}

}  // namespace gpuadvise::client
