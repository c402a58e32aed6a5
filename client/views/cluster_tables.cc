#include "client/views/cluster_tables.h"

#include <fmt/format.h>

#include <algorithm>

#include "client/terminal/display.h"
#include "common/base/slurm_time.h"
#include "common/base/text.h"
#include "common/base/words.h"

namespace gpuadvise::client {
namespace {

using QueuedJob = api::QueueJob;
using Gpu = api::GpuType;

constexpr int kWideEnoughForNames = 100;

std::vector<std::string> NamesIn(const std::string& list) {
  std::vector<std::string> names;
  for (const std::string_view name : SplitAt(list, ',')) {
    if (!Trim(name).empty()) names.emplace_back(Trim(name));
  }
  return names;
}

std::string JobIdCell(const QueuedJob& job) {
  return std::to_string(job.job_id) + (job.array_tasks.empty() ? "" : "_[" + job.array_tasks + "]");
}

bool IsWaiting(const QueuedJob& job) { return job.state == "PENDING"; }

// Of a waiting job; nullptr if its start cannot be forecast.
const api::StartFigures* FindStart(const QueuedJob& job) {
  return IsWaiting(job) && job.wait && job.wait->start ? &*job.wait->start : nullptr;
}

// "runs", "now", "8 m (1 h 50)", "–" if not known.
std::string StartsInCell(const QueuedJob& job) {
  if (!IsWaiting(job)) return "runs";
  const api::StartFigures* start = FindStart(job);
  if (start == nullptr) return "–";
  const api::Seconds& wait = start->wait;
  return WaitRange(static_cast<double>(wait.p50_seconds), static_cast<double>(wait.p90_seconds));
}

std::string StartsAtCell(const QueuedJob& job, int64_t now) {
  const api::StartFigures* start = FindStart(job);
  return start == nullptr ? "–" : ClockRange(start->start_p50, start->start_p90, now);
}

std::string TimeCell(std::optional<int64_t> time, int64_t now) {
  return time && *time > 0 ? ClockTime(*time, now) : "–";
}

// The end of a running job by its forecast, of a waiting one its start and its run time.
std::string EndsCell(const QueuedJob& job, int64_t now) {
  if (!IsWaiting(job)) {
    const api::JobEnd end = job.end.value_or(api::JobEnd());
    return TimeCell(end.end_p50 ? end.end_p50 : end.end_time, now);
  }
  const api::StartFigures* start = FindStart(job);
  if (start == nullptr || !job.wait->run_p50_seconds) return "–";
  return ClockTime(start->start_p50 + *job.wait->run_p50_seconds, now);
}

std::string PendingCell(const QueuedJob& job, int64_t now) {
  if (!IsWaiting(job) || !job.submit_time) return "–";
  return DurationInWords(static_cast<double>(now - *job.submit_time));
}

QueueColumn Gres() { return TextMember("GRES", &QueuedJob::gres); }
QueueColumn Nodes() { return CountMember("N", &QueuedJob::nodes); }
QueueColumn State() { return TextMember("STATE", &QueuedJob::state); }

QueueColumn Limit() {
  return MemberColumn("LIMIT", Align::kRight, &QueuedJob::time_limit_seconds,
                      [](const auto& limit) { return limit ? FormatDuration(*limit) : "–"; });
}

QueueColumn SlurmsStart(int64_t now) {
  return {"SLURM'S START", Align::kLeft, [now](const QueuedJob& job) {
            return TimeCell(job.wait ? job.wait->slurm_start : std::nullopt, now);
          }};
}

QueueColumn StartsIn() { return {"STARTS IN", Align::kLeft, StartsInCell}; }

QueueColumn StartsAt(int64_t now) {
  return {"STARTS AT", Align::kLeft,
          [now](const QueuedJob& job) { return StartsAtCell(job, now); }};
}

QueueColumn Ends(int64_t now) {
  return {"ENDS", Align::kLeft, [now](const QueuedJob& job) { return EndsCell(job, now); }};
}

QueueColumn Why() {
  return {"WHY", Align::kLeft, [](const QueuedJob& job) {
            return IsWaiting(job) && job.wait ? job.wait->reason_words : std::string();
          }};
}

// squeue's -O names in small letters, and those of the forecast.
std::vector<std::pair<std::string, QueueColumn>> NamedColumns(int64_t now) {
  const QueueColumn id{"JOBID", Align::kRight, JobIdCell};
  return {
      {"jobid", id},
      {"jobarrayid", id},
      {"arrayjobid", id},
      {"name", TextMember("NAME", &QueuedJob::name)},
      {"username", TextMember("USER", &QueuedJob::user)},
      {"account", TextMember("ACCOUNT", &QueuedJob::account)},
      {"qos", TextMember("QOS", &QueuedJob::qos)},
      {"partition", TextMember("PARTITION", &QueuedJob::partition)},
      {"state", State()},
      {"statecompact", State()},
      {"gres", Gres()},
      {"tres-per-node", Gres()},
      {"gpus", CountMember("GPUS", &QueuedJob::gpus)},
      {"numnodes", Nodes()},
      {"timelimit", Limit()},
      {"prioritylong", CountMember("PRIORITY", &QueuedJob::priority)},
      {"reason",
       {"REASON", Align::kLeft,
        [](const QueuedJob& job) { return OrDash(job.wait ? job.wait->reason : ""); }}},
      {"submittime",
       MemberColumn("SUBMITTED", Align::kLeft, &QueuedJob::submit_time,
                    [now](std::optional<int64_t> time) { return TimeCell(time, now); })},
      {"starttime", SlurmsStart(now)},
      {"pendingtime",
       {"PENDING", Align::kRight, [now](const QueuedJob& job) { return PendingCell(job, now); }}},
      {"startsin", StartsIn()},
      {"starts", StartsAt(now)},
      {"ends", Ends(now)},
      {"why", Why()}};
}

Result<std::vector<QueueColumn>> ColumnsByName(const std::string& format, int64_t now) {
  const auto named = NamedColumns(now);
  std::vector<std::string> names;
  for (const auto& [name, column] : named) names.push_back(name);
  std::vector<QueueColumn> columns;
  for (const std::string& word : NamesIn(LowerCase(format))) {
    const std::string name = word.substr(0, word.find(':'));  // squeue's width behind a colon
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
      return BadInput("--Format: there is no column '" + name + "'" + DidYouMean(name, names) +
                      "; `gpuadvise queue --help` lists them");
    }
    columns.push_back(named[static_cast<size_t>(found - names.begin())].second);
  }
  if (columns.empty()) return BadInput("--Format: name at least one column, such as jobid,name");
  return columns;
}

using WaitMember = std::optional<int64_t> Gpu::*;

ColumnOf<Gpu> Wait(const char* header, WaitMember member) {
  return MemberColumn(header, Align::kRight, member, [](std::optional<int64_t> seconds) {
    return seconds ? WaitInWords(static_cast<double>(*seconds)) : "–";
  });
}

std::string NodesTimesGpus(const Gpu& gpu) {
  return fmt::format("{} × {}", gpu.nodes, gpu.gpus_per_node);
}

ColumnOf<Gpu> Names(const char* header, std::vector<std::string> Gpu::*member) {
  return MemberColumn(header, Align::kLeft, member,
                      [](const auto& names) { return Join(names, ","); });
}

}  // namespace

std::string MemoryCell(std::optional<int64_t> bytes) {
  if (bytes.value_or(0) <= 0) return "–";
  return fmt::format("{:.0f} GiB", static_cast<double>(*bytes) / (1 << 30));
}

Result<std::vector<QueueColumn>> QueueColumns(const QueueShape& shape, int64_t now, int width) {
  if (!shape.names.empty()) return ColumnsByName(shape.names, now);
  std::vector<QueueColumn> columns = {{"JOBID", Align::kRight, JobIdCell},
                                      TextMember("USER", &QueuedJob::user)};
  const bool wide = width >= kWideEnoughForNames || shape.is_long;
  if (wide) columns.push_back(TextMember("NAME", &QueuedJob::name));
  columns.insert(columns.end(), {Gres(), Nodes(), Limit(), StartsIn()});
  if (!wide) columns.push_back(StartsAt(now));
  if (shape.start) columns.push_back(SlurmsStart(now));
  if (wide) columns.insert(columns.end(), {StartsAt(now), Ends(now)});
  columns.push_back(TextMember("PARTITION", &QueuedJob::partition));
  if (shape.is_long) {
    columns.insert(columns.end(), {State(), TextMember("ACCOUNT", &QueuedJob::account),
                                   TextMember("QOS", &QueuedJob::qos),
                                   CountMember("PRIORITY", &QueuedJob::priority)});
  }
  columns.push_back(Why());
  return columns;
}

std::vector<ColumnOf<api::GpuType>> GpusColumns() {
  return {MemberColumn("GPU", Align::kLeft, &Gpu::gpu_name, std::identity()),
          CountMember("FREE", &Gpu::free),
          CountMember("USABLE", &Gpu::usable),
          CountMember("TOTAL", &Gpu::total),
          Wait("1 GPU", &Gpu::wait_one_seconds),
          Wait("½ NODE", &Gpu::wait_half_node_seconds),
          Wait("NODE", &Gpu::wait_node_seconds),
          Wait("2 NODES", &Gpu::wait_two_nodes_seconds),
          MemberColumn("MEMORY", Align::kRight, &Gpu::memory_bytes, MemoryCell),
          {"NODES × GPUS", Align::kLeft, NodesTimesGpus},
          Names("GRES", &Gpu::gres_types),
          Names("PARTITIONS", &Gpu::partitions)};
}

}  // namespace gpuadvise::client
