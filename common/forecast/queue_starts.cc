#include "common/forecast/queue_starts.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "common/forecast/bounded_waits.h"
#include "common/history/forecast_history.h"
#include "common/scheduler/plan_now.h"
#include "common/scheduler/queue_model.h"
#include "common/scheduler/queue_trajectories.h"
#include "common/scheduler/simulation.h"

namespace gpuadvise {
namespace {

std::vector<std::string> NodesOf(const QueueModel& queue, HeldSpan held) {
  std::vector<std::string> names;
  for (const HeldNodes& nodes : held) {
    const NodeGroup& group = queue.groups().groups()[static_cast<size_t>(nodes.group)];
    if (group.pooled()) continue;  // one of many equal nodes
    names.push_back(queue.pool().nodes()[static_cast<size_t>(group.nodes.front())].name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Starts (one per sample; the horizon if none) and `nodes` (first sample), by index in
// queue.pending().
std::vector<std::vector<int64_t>> PlayAll(const QueueModel& queue,
                                          std::vector<std::vector<std::string>>& nodes) {
  nodes.resize(queue.pending().size());
  const int samples = queue.by_time_limit() ? 1 : queue.options().samples;
  const int64_t horizon = queue.options().horizon_seconds;
  std::vector<std::vector<int64_t>> starts(queue.pending().size());
  for (std::vector<int64_t>& each : starts) each.reserve(static_cast<size_t>(samples));
  for (int sample = 0; sample < samples; ++sample) {
    const QueueTrajectories* played = queue.by_time_limit() ? nullptr : queue.played();
    const SimulatedSample here =
        played == nullptr ? SimulateSample(queue, sample) : SimulatedSample();
    const SimulatedSample& of =
        played == nullptr ? here : played->samples()[static_cast<size_t>(sample)];
    for (const SimulatedJob& job : of.jobs) {
      std::vector<int64_t>& mine = starts[job.pending];
      if (mine.size() != static_cast<size_t>(sample)) continue;  // a further start of the same job
      mine.push_back(std::min(job.start, horizon));
      if (sample == 0) nodes[job.pending] = NodesOf(queue, of.Held(job.held));
    }
    for (std::vector<int64_t>& each : starts) {
      if (each.size() == static_cast<size_t>(sample)) each.push_back(horizon);
    }
  }
  return starts;
}

std::vector<int64_t> PlannedStarts(const QueueModel& queue, Durations durations) {
  return queue.played() == nullptr ? PlanAllNow(queue, durations)
                                   : queue.played()->planned(durations);
}

// Number of higher-ranked jobs that could use the same nodes, by index.
std::vector<int64_t> RivalsBefore(const QueueModel& queue, std::vector<int64_t>& in_all) {
  std::vector<int64_t> before;
  std::unordered_map<int32_t, int64_t> seen;  // by component
  std::vector<int32_t> component_of;
  for (const PendingJob& job : queue.pending()) {
    const auto& demands = job.options.front().requirements->demands;
    const int32_t component =
        demands.empty() ? -1
                        : queue.component_of_group()[static_cast<size_t>(demands.front().group)];
    before.push_back(seen[component]++);
    component_of.push_back(component);
  }
  for (const int32_t component : component_of) in_all.push_back(seen[component] - 1);
  return before;
}

SimulatedWait WaitOf(const QueueModel& queue, const PendingJob& job,
                     const std::vector<int64_t>& starts, int64_t limits, int64_t mean_of_last_two) {
  const auto horizon = static_cast<double>(queue.options().horizon_seconds);
  SimulatedWait wait;
  wait.simulation = WaitDistribution::OfSamples({starts.begin(), starts.end()});
  wait.plan_limits_seconds = std::min(static_cast<double>(limits), horizon);
  wait.plan_last_two_seconds = std::min(static_cast<double>(mean_of_last_two), horizon);
  wait.free_now = IsFreeNow(queue, job);
  wait.held = job.held;
  return wait;
}

// Each job's simulated and planned wait, by index. `starts`: from PlayAll.
std::vector<SimulatedWait> SimulatedWaits(const QueueModel& queue,
                                          const std::vector<std::vector<int64_t>>& starts,
                                          const std::vector<int64_t>& before,
                                          const std::vector<int64_t>& competing) {
  const auto limits = PlannedStarts(queue, Durations::kLimits);
  const auto mean_of_last_two = PlannedStarts(queue, Durations::kLastTwo);
  const GroupPlan empty = PlanOfEmptyNodes(queue);
  std::vector<SimulatedWait> waits;
  for (size_t i = 0; i < starts.size(); ++i) {
    const PendingJob& job = queue.pending()[i];
    waits.push_back(WaitOf(queue, job, starts[i], limits[i], mean_of_last_two[i]));
    waits.back().earliest_seconds = EarliestSeconds(queue, empty, job);
    waits.back().jobs_before = before[i];
    waits.back().jobs_competing = competing[i];
  }
  return waits;
}

}  // namespace

QueueStarts StartsInQueue(const QueueModel& queue, std::vector<AskedJob>* asked) {
  const std::vector<PendingJob>& pending = queue.pending();
  std::vector<std::vector<std::string>> nodes;
  std::vector<std::vector<int64_t>> starts = PlayAll(queue, nodes);
  const bool learned = !queue.by_time_limit() && queue.past() != nullptr;
  std::vector<int64_t> competing;
  const std::vector<int64_t> before = RivalsBefore(queue, competing);
  std::vector<SimulatedWait> waits;
  if (learned) waits = SimulatedWaits(queue, starts, before, competing);
  QueueStarts all;
  WaitBounds bounds(queue);
  for (size_t i = 0; i < pending.size(); ++i) {
    const PendingJob& job = pending[i];
    if (i > 0) bounds.AddBefore(pending[i - 1]);
    const auto [known, added] = all.try_emplace(job.id);
    if (!added) continue;  // a later task
    StartSamples& samples = known->second;
    samples.priority = job.rank.priority;
    samples.jobs_before = before[i];
    samples.nodes = std::move(nodes[i]);
    const auto partition = static_cast<size_t>(job.options.front().partition);
    samples.partition = queue.snapshot().partitions[partition].name;
    if (learned) {
      const WaitDistribution rest =
          queue.past()->waits.ForecastWaiting(job.id, queue.snapshot().taken_at, waits[i]);
      samples.wait_seconds = bounds.Within(job, rest, waits[i]);
      if (asked != nullptr) asked->push_back({job.id, std::move(waits[i])});
    } else {
      samples.wait_seconds = std::move(starts[i]);
      std::sort(samples.wait_seconds.begin(), samples.wait_seconds.end());
    }
  }
  return all;
}

void RecordForecasts(const std::vector<AskedJob>& asked, UnixSeconds now, ForecastHistory& past) {
  for (const AskedJob& job : asked) past.waits.AskedAgain(job.id, now, job.wait);
}

}  // namespace gpuadvise
