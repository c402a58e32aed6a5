// The state as of a snapshot, worked out once so that questions can be played forward from it: what
// each group of nodes has, what runs and for how long, who waits in which order with which shape.
//
// Built once per snapshot, then immutable: safe from any thread. Times are seconds from the
// snapshot. See simulation.cc for what is done with it.
#pragma once

#include <cassert>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/history/queue_features.h"
#include "common/scheduler/competing_jobs.h"
#include "common/scheduler/licence_caps.h"
#include "common/scheduler/node_groups.h"
#include "common/scheduler/node_pool.h"
#include "common/scheduler/queue_jobs.h"
#include "common/scheduler/usage_limits.h"
#include "common/slurm/preemption.h"
#include "common/slurm/priority.h"
#include "common/slurm/scheduler_options.h"
#include "common/slurm/snapshot.h"

namespace gpuadvise {

struct SimulationOptions {
  int samples = 32;
  uint64_t seed = 1;
  int64_t horizon_seconds = int64_t{30} * 86'400;
  // What is known of how long jobs will run in all, by job id: for a world that is replayed.
  const std::unordered_map<int64_t, double>* known_run_times = nullptr;
  // A queue longer than this is played once for all questions (queue_trajectories.h). 0: never.
  size_t play_once_from = 0;
};

class HeldJobs;
struct ForecastHistory;
class QueueJobBuilder;
class QueueTrajectories;

class QueueModel {
 public:
  // `past` null: every job runs until its limit, and one sample says it all.
  // REQUIRES: `past` outlives the model and is not written while questions are asked.
  QueueModel(std::shared_ptr<const Snapshot> snapshot, const ForecastHistory* past,
             const SimulationOptions& options);

  const Snapshot& snapshot() const { return *snapshot_; }
  const ForecastHistory* past() const { return past_; }
  const PriorityScale& scale() const { return scale_; }
  const NodePool& pool() const { return pool_; }
  const NodeGroups& groups() const { return groups_; }
  const UsageLimits& limits() const { return limits_; }
  const LicenceCaps& licences() const { return licences_; }
  const Preemption& preemption() const { return preemption_; }
  const SchedulerOptions& scheduler() const { return scheduler_; }
  const SimulationOptions& options() const { return options_; }
  // No past: one sample, in which everybody runs until the limit.
  bool by_time_limit() const { return past_ == nullptr && options_.known_run_times == nullptr; }

  // Node indices of a partition, ascending.
  const std::vector<int32_t>& Members(size_t partition) const { return members_[partition]; }

  const std::vector<RunningJob>& running() const { return running_; }

  // In the order of the queue; without those that cannot compete (held, impossible).
  const std::vector<PendingJob>& pending() const { return pending_; }

  // The submissions of the last `watched_seconds`, oldest first, as jobs that may come again.
  const std::vector<ArrivingJob>& arriving() const { return arriving_; }
  int64_t watched_seconds() const { return watched_seconds_; }

  // The priority of a job that arrives at `time` with `priority`, beside those of jobs that wait
  // now: they will have gained by age until then.
  int64_t PriorityOfArrival(int64_t priority, int64_t time) const;

  // The number of a user ("ann") or association (AssociationName) in PendingJob; -1: none waits.
  int32_t OwnerOf(const std::string& name) const;

  // Amounts that running jobs count against each cap.
  const std::vector<int64_t>& cap_use() const { return cap_use_; }

  // Free now in each group, after running jobs.
  const std::vector<Resources>& free_now() const { return free_now_; }

  // The queue played once for all questions; null: each is played by itself.
  const QueueTrajectories* played() const { return played_.get(); }

  // Says which waiting jobs are held by something unseen (null: none) and counts who competes. The
  // last step of building, once, before the model is shared.
  void Settle(const HeldJobs* held);

  // Before the model is shared; `played`: of this queue.
  void KeepPlayed(std::shared_ptr<const QueueTrajectories> played) { played_ = std::move(played); }

  // Who competes with a job. REQUIRES: settled.
  const RivalCount& rivals() const {
    assert(rivals_);
    return *rivals_;
  }

  // Everybody in the queue, counted for the forecast; REQUIRES: past() is not null.
  const QueueFeatures& crowds() const { return *crowds_; }

  // Groups that belong together because a waiting job could use either; numbers of components.
  const std::vector<int32_t>& component_of_group() const { return component_; }

 private:
  void AddRunning(QueueJobBuilder& builder);
  void AddPending(QueueJobBuilder& builder);
  void KeepSharedNodes();
  void CountUse();

  std::shared_ptr<const Snapshot> snapshot_;
  const ForecastHistory* past_ = nullptr;
  SimulationOptions options_;
  SchedulerOptions scheduler_;
  PriorityScale scale_;
  NodePool pool_;
  std::vector<std::vector<int32_t>> members_;
  NodeGroups groups_;
  UsageLimits limits_;
  LicenceCaps licences_;
  Preemption preemption_;
  std::vector<RunningJob> running_;
  std::vector<PendingJob> pending_;
  std::vector<ArrivingJob> arriving_;
  int64_t watched_seconds_ = 0;
  std::unordered_map<std::string, int32_t> owners_;
  std::vector<int64_t> cap_use_;
  std::vector<Resources> free_now_;
  std::vector<int32_t> component_;
  std::optional<RivalCount> rivals_;
  std::optional<QueueFeatures> crowds_;
  std::shared_ptr<const QueueTrajectories> played_;
};

}  // namespace gpuadvise
