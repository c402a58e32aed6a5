#include "backtest/world.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "common/forecast/start_of.h"
#include "common/history/forecast_history.h"
#include "common/scheduler/queue_model.h"
#include "common/scheduler/simulation.h"

namespace gpuadvise::backtest {
namespace {

constexpr UnixSeconds kFirstSecond = 1'767'225'600;  // of a made day: 2026-01-01, in UTC
constexpr int64_t kExtraId = int64_t{1} << 40;

// The queue of `snapshot` played to its end.
struct Played {
  std::shared_ptr<const QueueModel> queue;
  std::vector<PlayedJob> jobs;
};
Played Play(Snapshot snapshot, const std::unordered_map<int64_t, double>& run_seconds) {
  SimulationOptions options;
  options.samples = 1;
  options.known_run_times = &run_seconds;
  ForecastHistory nothing;
  Played played;
  played.queue =
      ObserveAndPrepare(std::make_shared<const Snapshot>(std::move(snapshot)), nothing, options);
  played.jobs = SimulateQueue(*played.queue, 0);
  return played;
}

std::optional<LogJob> JobOfWorkload(const Row& row) {
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
  // How long it runs, until the day has been played: from the second it was submitted.
  job.start = job.submit;
  job.end = job.submit + *run;
  return job;
}

}  // namespace

World::World(const JobLog& log, const Snapshot& cluster)
    : log_(log), replay_(log, cluster), events_(EventsOf(log)) {
  for (const LogJob& job : log.jobs) {
    if (job.start && job.end) run_seconds_[job.id] = static_cast<double>(*job.end - *job.start);
  }
}

Snapshot World::ForkAt(UnixSeconds now) const {
  Snapshot state = replay_.At(now);
  // Who never ran in truth holds up nobody.
  std::erase_if(state.jobs, [&](const Job& job) {
    return job.state == JobState::kPending && !run_seconds_.contains(job.id);
  });
  for (size_t i = 0; i < log_.jobs.size(); ++i) {
    const LogJob& job = log_.jobs[i];
    if (job.eligible > now && run_seconds_.contains(job.id)) {
      state.jobs.push_back(replay_.Waiting(i));
    }
  }
  return state;
}

std::vector<std::optional<double>> World::WaitsOf(size_t index,
                                                  const std::vector<int64_t>& limits) {
  const LogJob& logged = log_.jobs[index];
  bool there = false;
  while (!there && happened_ < events_.size()) {
    const LogEvent& event = events_[happened_++];
    replay_.Apply(event);
    there = event.job == index && event.kind == LogEventKind::kSubmit;
  }
  std::vector<std::optional<double>> waits;
  for (const int64_t limit : limits) {
    Snapshot state = ForkAt(logged.eligible);
    for (Job& job : state.jobs) {
      if (job.id == logged.id) job.request.time_limit_seconds = limit;
    }
    // Who comes in the same second, behind it.
    for (size_t i = index + 1; i < log_.jobs.size(); ++i) {
      if (log_.jobs[i].eligible > logged.eligible) break;
      if (run_seconds_.contains(log_.jobs[i].id)) state.jobs.push_back(replay_.Waiting(i));
    }
    const Played played = Play(std::move(state), run_seconds_);
    std::optional<double> wait;
    for (const PlayedJob& one : played.jobs) {
      if (played.queue->pending()[one.pending].id == logged.id) {
        wait = static_cast<double>(one.start);
      }
    }
    waits.push_back(wait);
  }
  return waits;
}

std::optional<double> World::WaitOf(const Extra& extra, UnixSeconds now) {
  while (happened_ < events_.size() && events_[happened_].time <= now) {
    replay_.Apply(events_[happened_++]);
  }
  Snapshot state = ForkAt(now);
  Job job;
  job.id = kExtraId;
  job.user = extra.user;
  job.request = extra.request;
  job.submit_time = now;
  job.eligible_time = now;
  job.reason = "Priority";
  // Behind everybody submitted before, ahead of everybody after: priority falls from job to job.
  const auto later =
      std::upper_bound(log_.jobs.begin(), log_.jobs.end(), now,
                       [](UnixSeconds time, const LogJob& each) { return time < each.eligible; });
  const auto before = static_cast<size_t>(later - log_.jobs.begin());
  job.priority = replay_.Waiting(before == 0 ? 0 : before - 1).priority;
  state.jobs.push_back(job);
  auto run_seconds = run_seconds_;
  run_seconds[kExtraId] = extra.run_seconds;
  const Played played = Play(std::move(state), run_seconds);
  for (const PlayedJob& one : played.jobs) {
    if (played.queue->pending()[one.pending].id == kExtraId) return static_cast<double>(one.start);
  }
  return std::nullopt;
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

void PlayLog(JobLog& log, const Snapshot& cluster,
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
  const Played played = Play(std::move(day), run_seconds);
  const std::vector<NodeGroup>& groups = played.queue->groups().groups();
  for (const PlayedJob& one : played.jobs) {
    LogJob& job = *by_id[played.queue->pending()[one.pending].id];
    job.start = first + one.start;
    job.end = first + one.end;
    for (const GroupShare& share : one.shares) {
      const NodeGroup& group = groups[static_cast<size_t>(share.group)];
      if (group.pooled()) continue;
      const auto node = static_cast<size_t>(group.nodes.front());
      job.node_list.push_back(played.queue->pool().nodes()[node].name);
    }
  }
}

Result<JobLog> PlayWorkload(std::string_view text, const std::string& file,
                            const Snapshot& cluster) {
  static const LogForm kForm = {
      ',',
      {"t_s", "user", "gres", "nodes", "limit_min", "runtime_s"},
      "a made day needs t_s, user, gres, nodes, limit_min, runtime_s",
      "t_s, nodes, limit_min or runtime_s is no number, or gres is not type:count",
      JobOfWorkload};
  auto log = ParseRows(text, file, kForm);
  if (!log) return log;
  for (LogJob& job : log->jobs) job.partition = PartitionWith(cluster, job.gpu, job.gpus_per_node);
  const auto strange =
      std::erase_if(log->jobs, [](const LogJob& job) { return job.partition.empty(); });
  for (size_t i = 0; i < strange; ++i) log->LeaveOut("asks for GPUs that no node has", 0);
  if (log->jobs.empty()) {
    return BadInput(fmt::format("{}: the cluster has none of its GPUs", file));
  }
  std::unordered_map<int64_t, double> run_seconds;
  for (const LogJob& job : log->jobs) {
    run_seconds[job.id] = static_cast<double>(*job.end - *job.start);
  }
  PlayLog(*log, cluster, run_seconds);
  return log;
}

}  // namespace gpuadvise::backtest
