#include "common/scheduler/queue_model.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "common/history/forecast_history.h"
#include "common/scheduler/bursts_and_components.h"
#include "common/scheduler/queue_job_builder.h"

namespace gpuadvise {
namespace {

constexpr size_t kPoolFromInALongQueue = 8;

std::vector<std::vector<int32_t>> MembersOf(const Snapshot& snapshot, const NodePool& pool) {
  std::vector<std::vector<int32_t>> members;
  for (const Partition& partition : snapshot.partitions) {
    std::vector<int32_t>& nodes = members.emplace_back();
    for (const std::string& name : partition.nodes) {
      const int32_t node = pool.FindNode(name);
      if (node >= 0) nodes.push_back(node);
    }
    std::sort(nodes.begin(), nodes.end());
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  }
  return members;
}

// Long queues are played for all: there fewer equal nodes are counted together, for cost.
size_t PoolFrom(const Snapshot& snapshot, const SimulationOptions& options) {
  const auto waiting = std::count_if(snapshot.jobs.begin(), snapshot.jobs.end(),
                                     [](const Job& job) { return !HoldsNodes(job); });
  const bool is_long =
      options.play_once_from > 0 && static_cast<size_t>(waiting) > options.play_once_from;
  return is_long ? kPoolFromInALongQueue : kPoolFrom;
}

}  // namespace

int64_t QueueModel::PriorityOfArrival(int64_t priority, int64_t time) const {
  // One less, so that among equals those come first who were there first.
  const SchedulerConfig& config = snapshot_->config;
  if (config.priority_type != "priority/multifactor" || config.priority_max_age_seconds <= 0) {
    return priority - 1;
  }
  const double gained = static_cast<double>(config.weights.age) * static_cast<double>(time) /
                        static_cast<double>(config.priority_max_age_seconds);
  return priority - 1 - static_cast<int64_t>(gained);
}

QueueModel::QueueModel(std::shared_ptr<const Snapshot> snapshot, const ForecastHistory* past,
                       const SimulationOptions& options)
    : snapshot_(std::move(snapshot)),
      past_(past),
      options_(options),
      scheduler_(OptionsOf(snapshot_->config)),
      scale_(ScaleOf(*snapshot_)),
      pool_(*snapshot_),
      members_(MembersOf(*snapshot_, pool_)),
      groups_(pool_, members_, PoolFrom(*snapshot_, options)),
      limits_(*snapshot_),
      preemption_(*snapshot_) {
  QueueJobBuilder builder({*snapshot_, pool_, members_, groups_, preemption_, scale_, limits_, past,
                           options.known_run_times});
  AddRunning(builder);
  AddPending(builder);
  if (past != nullptr) {
    arriving_ = builder.BuildArriving();
    watched_seconds_ = past->arrivals.WatchedFor(snapshot_->taken_at);
    crowds_.emplace(*snapshot_);
  }
  CountUse();
  FindBursts(*snapshot_, running_, pending_);
  component_ = ComponentsOf(groups_, pending_);
}

void QueueModel::Settle(const HeldJobs* held) {
  if (held != nullptr) {
    for (PendingJob& job : pending_) job.held = held->IsHeld(job.id);
  }
  rivals_ = RivalCount(pending_);
}

// Who runs, and what that leaves free now.
void QueueModel::AddRunning(QueueJobBuilder& builder) {
  for (const Job& job : snapshot_->jobs) {
    if (HoldsNodes(job)) running_.push_back(builder.BuildRunning(job));
  }
  for (RunningJob& job : builder.BuildUnexplained()) running_.push_back(std::move(job));
  for (const NodeGroup& group : groups_.groups()) free_now_.push_back(group.capacity);
  for (const RunningJob& job : running_) {
    for (const GroupShare& share : job.shares) {
      free_now_[static_cast<size_t>(share.group)] -= share.held;
    }
  }
}

// Who waits, in the order of the queue.
void QueueModel::AddPending(QueueJobBuilder& builder) {
  for (const Job& job : snapshot_->jobs) {
    if (HoldsNodes(job)) continue;
    std::optional<PendingJob> pending = builder.BuildPending(job);
    if (!pending) continue;
    const int64_t tasks = PlayedTasksOf(job);
    pending->of_array = tasks > 1;
    for (pending->task = 0; pending->task < tasks; ++pending->task) pending_.push_back(*pending);
  }
  std::stable_sort(pending_.begin(), pending_.end(),
                   [](const PendingJob& a, const PendingJob& b) { return a.rank < b.rank; });
}

// What runs counts against each cap; REQUIRES: all caps are known.
void QueueModel::CountUse() {
  cap_use_.assign(limits_.most().size(), 0);
  for (const RunningJob& job : running_) {
    for (const LimitUse& use : job.caps) cap_use_[static_cast<size_t>(use.cap)] += use.amount;
  }
}

}  // namespace gpuadvise
