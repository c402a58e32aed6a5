// The queue of a world in text, for tests of the scheduler's parts: every job runs until its limit.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "common/scheduler/queue_model.h"
#include "common/scheduler/simulated_nodes.h"
#include "tests/fakes/snapshot_text.h"

namespace gpuadvise {

inline std::shared_ptr<const QueueModel> QueueOf(std::string_view world) {
  SimulationOptions options;
  options.horizon_seconds = kNever - 1;
  auto queue = std::make_shared<QueueModel>(std::make_shared<const Snapshot>(SnapshotOf(world)),
                                            nullptr, options);
  queue->Settle(nullptr);
  return queue;
}

// The nodes of `queue` with what runs on them until its limit.
inline SimulatedNodes NodesOf(const QueueModel& queue) {
  SimulatedNodes nodes(queue, std::vector<bool>(queue.groups().groups().size(), true));
  for (const RunningJob& running : queue.running()) {
    ActiveJob job;
    job.id = running.id;
    job.end = job.until = running.until;
    job.held = nodes.Hold(running.held);
    job.caps = &running.caps;
    job.preempt_class = running.preempt_class;
    job.priority = running.priority;
    job.started = -static_cast<int64_t>(running.elapsed);
    job.requeued_as = running.requeued_as.get();
    nodes.Resume(job);
  }
  return nodes;
}

// `pending` with the nodes of `slot` by its way `option`, from `now` until its limit.
inline ActiveJob ActiveIn(SimulatedNodes& nodes, const PendingJob& pending, const GroupSlot& slot,
                          size_t option, int64_t now) {
  const PartitionOption& way = pending.options[option];
  ActiveJob job;
  job.id = pending.id;
  job.end = job.until = way.duration >= kNever ? kNever : now + way.duration;
  job.caps = &pending.caps;
  job.started = now;
  job.held = nodes.Hold(way, slot);
  return job;
}

}  // namespace gpuadvise
