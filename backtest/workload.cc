#include "backtest/workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

#include "backtest/replay.h"
#include "common/forecast/start_of.h"
#include "common/history/forecast_history.h"
#include "common/scheduler/queue_model.h"
#include "common/scheduler/simulation.h"

namespace gpuadvise::backtest {
namespace {

constexpr UnixSeconds kFirstSecond = 1'767'225'600;  // of the generated day: 2026-01-01 UTC

std::optional<LogJob> ParseWorkloadJob(const Row& row) {
  const auto at = row.Number("t_s");
  const auto nodes = row.Number("nodes");
  const auto limit = row.Number("limit_min");
  const auto run = row.Number("runtime_s");
  const std::string gres(row.Text("gres"));
  const size_t colon = gres.find(':');
  if (!at || !nodes || !limit || !run || *run < 0 || colon == std::string::npos) {
    return std::nullopt;
  }
  LogJob job;
  job.id = row.line();
  job.gpu = gres.substr(0, colon);
  job.gpus_per_node = std::atoll(gres.c_str() + colon + 1);
  if (job.gpus_per_node <= 0) return std::nullopt;
  job.submit = kFirstSecond + *at;
  job.nodes = *nodes;
  job.limit_seconds = *limit * 60;
  job.user = row.Text("user");
  job.name = row.Text("training");
  // Encodes the run time, counted from submission, until the day is simulated.
  job.start = job.submit;
  job.end = job.submit + *run;
  return job;
}

}  // namespace

void SimulateLog(JobLog& log, const Snapshot& cluster,
                 const std::unordered_map<int64_t, double>& run_seconds) {
  std::unordered_map<int64_t, LogJob*> by_id;
  for (LogJob& job : log.jobs) {
    by_id[job.id] = &job;
    job.start.reset();
    job.end.reset();
    job.node_list.clear();
  }
  const Replay empty(log, cluster);
  const UnixSeconds first = log.jobs.front().eligible - 1;
  Snapshot day = empty.At(first);
  for (size_t i = 0; i < log.jobs.size(); ++i) day.jobs.push_back(empty.Waiting(i));
  SimulationOptions options;
  options.samples = 1;
  options.known_run_times = &run_seconds;
  options.every_interval = true;
  ForecastHistory nothing;
  const auto queue =
      ObserveAndPrepare(std::make_shared<const Snapshot>(std::move(day)), nothing, options);
  const std::vector<NodeGroup>& groups = queue->groups().groups();
  const SimulatedSample played = SimulateSample(*queue, 0);
  for (const SimulatedJob& one : played.jobs) {
    LogJob& job = *by_id[queue->pending()[one.pending].id];
    job.start = first + one.start;
    job.end = first + one.end;
    for (const HeldNodes& held : played.Held(one.held)) {
      const NodeGroup& group = groups[static_cast<size_t>(held.group)];
      if (group.pooled()) continue;
      const auto node = static_cast<size_t>(group.nodes.front());
      job.node_list.push_back(queue->pool().nodes()[node].name);
    }
  }
}

std::string PartitionWith(const Snapshot& cluster, const std::string& gpu, int64_t gpus) {
  const auto serves = [&](const GpuCount& each) { return each.type == gpu && each.count >= gpus; };
  for (const Partition& partition : cluster.partitions) {
    for (const Node& node : cluster.nodes) {
      if (std::any_of(node.gpus.begin(), node.gpus.end(), serves) &&
          std::binary_search(partition.nodes.begin(), partition.nodes.end(), node.name)) {
        return partition.name;
      }
    }
  }
  return "";
}

Result<JobLog> ReadWorkload(std::string_view text, const std::string& file,
                            const Snapshot& cluster) {
  static const LogForm kForm = {
      ',',
      {"t_s", "user", "gres", "nodes", "limit_min", "runtime_s"},
      "a made day needs t_s, user, gres, nodes, limit_min, runtime_s",
      "t_s, nodes, limit_min or runtime_s is not a number, or gres is not type:count",
      ParseWorkloadJob};
  auto log = ParseRows(text, file, kForm);
  if (!log) return log;
  for (LogJob& job : log->jobs) job.partition = PartitionWith(cluster, job.gpu, job.gpus_per_node);
  const auto strange =
      std::erase_if(log->jobs, [](const LogJob& job) { return job.partition.empty(); });
  for (size_t i = 0; i < strange; ++i) log->LeaveOut("asks for GPUs that no node has", 0);
  if (log->jobs.empty()) {
    return BadInput(fmt::format("{}: the cluster has none of its GPUs", file));
  }
  return log;
}

Result<JobLog> SimulateWorkload(std::string_view text, const std::string& file,
                                const Snapshot& cluster) {
  Result<JobLog> log = ReadWorkload(text, file, cluster);
  if (!log) return log;
  std::unordered_map<int64_t, double> run_seconds;
  for (const LogJob& job : log->jobs) {
    run_seconds[job.id] = static_cast<double>(*job.end - *job.start);
  }
  SimulateLog(*log, cluster, run_seconds);
  return log;
}

}  // namespace gpuadvise::backtest
