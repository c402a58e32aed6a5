#include "client/records/job_efficiency.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "common/base/date_time.h"
#include "common/base/slurm_time.h"
#include "common/base/text.h"

namespace gpuadvise::client {

const char* const kEfficiencyFields =
    "JobIDRaw,JobID,User,State,Partition,ElapsedRaw,TimelimitRaw,AllocCPUS,NNodes,TotalCPU,ReqMem,"
    "MaxRSS,NTasks,AllocTRES,TRESUsageInTot,End,JobName";

namespace {

enum Field {
  kRawId,
  kId,
  kUser,
  kState,
  kPartition,
  kElapsed,
  kLimit,
  kCpus,
  kNodes,
  kTotalCpu,
  kRequested,
  kMaxRss,
  kTasks,
  kTres,
  kUsage,
  kEnd,
  kName,
  kFields
};

constexpr double kEnoughSeconds = 60;  // shorter jobs show too little
constexpr double kWell = 0.5;          // above half: no advice
constexpr double kReserve = 1.2;       // memory to request / memory used
constexpr double kTimeReserve = 1.3;   // time to request / time used
constexpr double kIdleGpu = 0.3;
constexpr int64_t kGib = int64_t{1} << 30;
constexpr int64_t kLittleMemory = 4 * kGib;  // too little for advice

struct Size {
  double bytes = 0;
  char per = '\0';  // 'n': per node, 'c': per CPU, before Slurm 21.08
};

// "4096M", "1.5G", "16Gn", "2048K", "1234".
std::optional<Size> ParseSize(std::string_view text) {
  const std::string word(text);
  char* end = nullptr;
  const double number = std::strtod(word.c_str(), &end);
  if (end == word.c_str() || !std::isfinite(number) || number < 0 || number > 1e18) {
    return std::nullopt;
  }
  Size size{number, '\0'};
  for (; *end != '\0'; ++end) {
    const size_t power = std::string_view("KMGTP").find(*end);
    if (power != std::string_view::npos) {
      size.bytes *= std::pow(1024.0, static_cast<double>(power + 1));
    } else if (*end == 'n' || *end == 'c') {
      size.per = *end;
    } else {
      return std::nullopt;
    }
  }
  return size;
}

// The value of `name` in "cpu=8,mem=16G,gres/gpu=4".
std::string_view TresValue(std::string_view list, std::string_view name) {
  for (const std::string_view item : SplitAt(list, ',')) {
    const size_t equals = item.find('=');
    if (equals != std::string_view::npos && item.substr(0, equals) == name) {
      return item.substr(equals + 1);
    }
  }
  return {};
}

std::optional<int64_t> SizeInBytes(std::string_view text) {
  const auto size = ParseSize(text);
  return size ? std::optional(static_cast<int64_t>(size->bytes)) : std::nullopt;
}

// All GPUs of a job: gres/gpu, or the sum over types if only those are present.
int64_t CountGpus(std::string_view tres) {
  if (const auto all = WholeNumber(TresValue(tres, "gres/gpu"))) return *all;
  int64_t sum = 0;
  for (const std::string_view item : SplitAt(tres, ',')) {
    if (!item.starts_with("gres/gpu:")) continue;
    sum += WholeNumber(item.substr(std::min(item.find('=') + 1, item.size()))).value_or(0);
  }
  return sum;
}

JobEfficiency ReadJob(const std::vector<std::string_view>& row) {
  JobEfficiency job;
  job.id = row[kId];
  job.raw_id = WholeNumber(row[kRawId]).value_or(0);
  job.name = row[kName];
  job.user = row[kUser];
  job.state = row[kState].substr(0, row[kState].find(' '));  // "CANCELLED by 1001"
  job.partition = row[kPartition];
  job.elapsed_seconds = WholeNumber(row[kElapsed]).value_or(0);
  if (const auto minutes = WholeNumber(row[kLimit])) job.limit_seconds = 60 * *minutes;
  job.cpus = WholeNumber(row[kCpus]).value_or(0);
  job.nodes = WholeNumber(row[kNodes]).value_or(0);
  job.gpus = CountGpus(row[kTres]);
  job.cpu_seconds = CpuTimeOf(row[kTotalCpu]);
  if (const auto end = ParseDateTime(row[kEnd], 0)) job.ended_at = *end;
  job.memory_requested_bytes = SizeInBytes(TresValue(row[kTres], "mem"));
  if (const auto asked = ParseSize(row[kRequested]); asked && !job.memory_requested_bytes) {
    const int64_t times = asked->per == 'n' ? job.nodes : asked->per == 'c' ? job.cpus : 1;
    job.memory_requested_bytes = static_cast<int64_t>(asked->bytes) * times;
  }
  return job;
}

// Adds a step to its job; the maximum over steps counts.
void AddStep(const std::vector<std::string_view>& row, JobEfficiency* job) {
  std::optional<int64_t> used = SizeInBytes(TresValue(row[kUsage], "mem"));
  if (const auto rss = SizeInBytes(row[kMaxRss]); rss && !used) {
    used = *rss * std::max<int64_t>(1, WholeNumber(row[kTasks]).value_or(1));
  }
  if (used) job->memory_used_bytes = std::max(job->memory_used_bytes.value_or(0), *used);
  if (job->gpus < 1) return;
  const auto gpus = static_cast<double>(job->gpus);
  if (const auto percent = WholeNumber(TresValue(row[kUsage], "gres/gpuutil"))) {
    const double use = std::min(1.0, static_cast<double>(*percent) / 100 / gpus);
    job->gpu_use = std::max(job->gpu_use.value_or(0), use);
  }
  if (const auto bytes = SizeInBytes(TresValue(row[kUsage], "gres/gpumem"))) {
    job->gpu_memory_bytes = std::max(job->gpu_memory_bytes.value_or(0), *bytes / job->gpus);
  }
}

std::optional<double> Share(std::optional<double> part, double whole) {
  if (!part || whole <= 0) return std::nullopt;
  return *part / whole;
}

std::string GibText(double bytes) { return fmt::format("{:.3g} GiB", bytes / kGib); }

// Rounds up to a common limit: quarter hours, full hours from six hours on.
int64_t RoundLimit(double seconds) {
  const int64_t step = seconds < 6 * 3600 ? 900 : 3600;
  return (static_cast<int64_t>(seconds) / step + 1) * step;
}

}  // namespace

bool JobEfficiency::ended() const {
  return !(state.empty() || state == "PENDING" || state == "RUNNING" || state == "SUSPENDED" ||
           state == "REQUEUED" || state == "RESIZING");
}

std::optional<double> JobEfficiency::CpuEfficiency() const {
  return Share(cpu_seconds, static_cast<double>(elapsed_seconds * cpus));
}

std::optional<double> JobEfficiency::MemoryEfficiency() const {
  if (!memory_used_bytes) return std::nullopt;
  return Share(static_cast<double>(*memory_used_bytes),
               static_cast<double>(memory_requested_bytes.value_or(0)));
}

std::optional<double> JobEfficiency::TimeEfficiency() const {
  return Share(static_cast<double>(elapsed_seconds),
               static_cast<double>(limit_seconds.value_or(0)));
}

std::optional<double> CpuTimeOf(std::string_view text) {
  double days = 0;
  if (const size_t dash = text.find('-'); dash != std::string_view::npos) {
    const auto whole = WholeNumber(text.substr(0, dash));
    if (!whole) return std::nullopt;
    days = static_cast<double>(*whole);
    text.remove_prefix(dash + 1);
  }
  double seconds = 0;
  int parts = 0;
  for (const std::string_view part : SplitAt(text, ':')) {
    const std::string word(part);
    char* end = nullptr;
    const double number = std::strtod(word.c_str(), &end);
    if (word.empty() || *end != '\0' || !std::isfinite(number) || number < 0 || ++parts > 3) {
      return std::nullopt;
    }
    seconds = 60 * seconds + number;
  }
  if (parts < 2) return std::nullopt;
  return 86'400 * days + seconds;
}

std::vector<JobEfficiency> EfficiencyFrom(std::string_view rows) {
  std::vector<JobEfficiency> jobs;
  for (const std::string_view line : SplitAt(rows, '\n')) {
    std::vector<std::string_view> row;
    std::string_view rest = line;
    while (row.size() + 1 < kFields && rest.find('|') != std::string_view::npos) {
      row.push_back(rest.substr(0, rest.find('|')));
      rest.remove_prefix(rest.find('|') + 1);
    }
    row.push_back(rest);  // the name is last and may contain bars
    if (row.size() != kFields) continue;
    if (row[kId].find('.') == std::string_view::npos) {
      jobs.push_back(ReadJob(row));
    } else if (!jobs.empty() && row[kId].starts_with(jobs.back().id + ".")) {
      AddStep(row, &jobs.back());
    }
  }
  return jobs;
}

std::vector<std::string> NextTime(const JobEfficiency& job) {
  std::vector<std::string> words;
  if (job.state == "OUT_OF_MEMORY") {
    words.push_back(job.memory_requested_bytes
                        ? fmt::format("it ran out of host memory: ask for more than {}",
                                      GibText(static_cast<double>(*job.memory_requested_bytes)))
                        : "it ran out of host memory: ask for more (--mem)");
  }
  if (job.state == "TIMEOUT") {
    words.push_back("it reached its time limit: ask for more time, or save checkpoints and resume");
  }
  if (static_cast<double>(job.elapsed_seconds) < kEnoughSeconds) return words;
  if (const auto share = job.MemoryEfficiency();
      share && *share < kWell && job.state != "OUT_OF_MEMORY" &&
      *job.memory_requested_bytes - *job.memory_used_bytes > kLittleMemory) {
    const double enough = std::ceil(kReserve * static_cast<double>(*job.memory_used_bytes) / kGib);
    words.push_back(fmt::format(
        "--mem={:.0f}G would have been enough{}: it used {} of {}",
        std::max(1.0, std::ceil(enough / static_cast<double>(std::max<int64_t>(1, job.nodes)))),
        job.nodes > 1 ? " for each node" : "", GibText(static_cast<double>(*job.memory_used_bytes)),
        GibText(static_cast<double>(*job.memory_requested_bytes))));
  }
  if (const auto share = job.CpuEfficiency(); share && *share < kWell && job.cpus > 1) {
    const double busy = *share * static_cast<double>(job.cpus);
    const auto enough = static_cast<int64_t>(std::max(1.0, std::ceil(kReserve * busy)));
    if (enough < job.cpus) {
      words.push_back(
          fmt::format("{} of {} CPUs would have been enough: {:.1f} were busy on average", enough,
                      job.cpus, busy));
    }
  }
  if (const auto share = job.TimeEfficiency();
      share && *share < kWell && job.state == "COMPLETED") {
    const int64_t enough = RoundLimit(kTimeReserve * static_cast<double>(job.elapsed_seconds));
    if (enough < *job.limit_seconds) {
      words.push_back(
          fmt::format("-t {} would have been enough for this run, and starts sooner "
                      "(gpuadvise when --limits)",
                      FormatDuration(enough)));
    }
  }
  if (job.gpu_use && *job.gpu_use < kIdleGpu) {
    words.push_back(
        fmt::format("its GPUs were busy {}{:.0f} % of the time: fewer or smaller GPUs, a "
                    "larger micro-batch, or more loader workers",
                    job.gpu_use_is_mean ? "" : "at most ", 100 * *job.gpu_use));
  }
  return words;
}

}  // namespace gpuadvise::client
