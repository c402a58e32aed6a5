#include "daemon/state/array_ends.h"

#include <algorithm>

#include "common/scheduler/queue_trajectories.h"
#include "common/scheduler/simulation.h"

namespace gpuadvise::daemon {
namespace {

// Job ids of what waits of arrays, each with the number of its tasks.
std::unordered_map<int64_t, int64_t> WaitingArrays(const QueueModel& queue) {
  std::unordered_map<int64_t, int64_t> arrays;
  for (const Job& job : queue.snapshot().jobs) {
    if (job.array_job_id != 0 && !HoldsNodes(job)) arrays[job.id] = job.array_task_count;
  }
  return arrays;
}

}  // namespace

ArrayEnds ArrayEndsOf(const QueueModel& queue) {
  const std::unordered_map<int64_t, int64_t> arrays = WaitingArrays(queue);
  ArrayEnds ends;
  if (arrays.empty()) return ends;
  const int samples = queue.by_time_limit() ? 1 : queue.options().samples;
  const QueueTrajectories* played = queue.by_time_limit() ? nullptr : queue.played();
  for (int sample = 0; sample < samples; ++sample) {
    const SimulatedSample here =
        played == nullptr ? SimulateSample(queue, sample) : SimulatedSample();
    const SimulatedSample& of =
        played == nullptr ? here : played->samples()[static_cast<size_t>(sample)];
    std::vector<bool> started(queue.pending().size(), false);
    std::unordered_map<int64_t, std::pair<int64_t, int64_t>> seen;  // tasks, and the last end
    for (const SimulatedJob& job : of.jobs) {
      const int64_t id = queue.pending()[job.pending].id;
      if (!arrays.contains(id)) continue;
      auto& [tasks, last] = seen[id];
      if (!started[job.pending]) ++tasks;
      started[job.pending] = true;
      last = std::max(last, job.end);
    }
    for (const auto& [id, count] : arrays) {
      const auto found = seen.find(id);
      const bool all = found != seen.end() && found->second.first >= count;
      ends[id].push_back(all ? found->second.second : kNever);
    }
  }
  return ends;
}

}  // namespace gpuadvise::daemon
