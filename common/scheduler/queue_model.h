// The queue as of a snapshot, prepared for simulation: group capacities, running jobs with their
// run times, and waiting jobs in order with requirements.
//
// Built once per snapshot, then immutable: safe from any thread. Times are seconds from the
// snapshot. simulation.cc uses it.
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
#include "common/slurm/fair_share.h"
#include "common/slurm/preemption.h"
#include "common/slurm/priority.h"
#include "common/slurm/scheduler_options.h"
#include "common/slurm/snapshot.h"

namespace gpuadvise {

struct SimulationOptions {
  int samples = 32;
  uint64_t seed = 1;
  int64_t horizon_seconds = int64_t{30} * 86'400;
  // Known total run times by job id, for replaying a log.
  const std::unordered_map<int64_t, double>* known_run_times = nullptr;
  // Backfill looks every bf_interval, however far ahead: for a day that forecasts are judged by.
  bool every_interval = false;
  // Longer queues are simulated once for all questions (queue_trajectories.h). 0: never.
  size_t simulate_once_from = 0;
};

class HeldJobs;
struct ForecastHistory;
class QueueJobBuilder;
class QueueTrajectories;

class QueueModel {
 public:
  // Without `past`, every job runs to its limit and one sample suffices. REQUIRES: `past` outlives
  // the model and is not written during queries.
  QueueModel(std::shared_ptr<const Snapshot> snapshot, const ForecastHistory* past,
             const SimulationOptions& options);
  QueueModel(const QueueModel&) = delete;
  QueueModel& operator=(const QueueModel&) = delete;

  const Snapshot& snapshot() const { return *snapshot_; }
  const ForecastHistory* past() const { return past_; }
  const PriorityScale& scale() const { return scale_; }
  const NodePool& pool() const { return pool_; }
  const NodeGroups& groups() const { return groups_; }
  const UsageLimits& limits() const { return limits_; }
  const LicenceCaps& licences() const { return licences_; }
  const Preemption& preemption() const { return preemption_; }
  // Empty where fair share is not simulated: in a queue that is simulated once for all questions,
  // and as FairShareTree says.
  const FairShareTree& fair_shares() const { return fair_shares_; }
  const SchedulerOptions& scheduler() const { return scheduler_; }
  const SimulationOptions& options() const { return options_; }
  // No history: one sample, in which every job runs to its limit.
  bool by_time_limit() const { return past_ == nullptr && options_.known_run_times == nullptr; }

  // Ascending node indices of a partition.
  const std::vector<int32_t>& Members(size_t partition) const { return members_[partition]; }

  const std::vector<RunningJob>& running() const { return running_; }

  // Those of them that would restart first on failure (--requeue=expedite).
  const std::vector<const Job*>& expedited() const { return expedited_; }

  // In queue order, without jobs that cannot compete (held, impossible).
  const std::vector<PendingJob>& pending() const { return pending_; }

  // Submissions of the last `watched_seconds`, oldest first, as jobs that may come again.
  const std::vector<ArrivingJob>& arriving() const { return arriving_; }
  int64_t watched_seconds() const { return watched_seconds_; }

  // `priority` of a job that arrives at `time`, minus the age that current waiting jobs gain until
  // then.
  int64_t PriorityOfArrival(int64_t priority, int64_t time) const;

  // Number of a user ("ann") or association (AssociationName) in PendingJob; -1: has no waiting
  // job.
  int32_t OwnerOf(const std::string& name) const;

  // Use of each cap by running jobs.
  const std::vector<int64_t>& cap_use() const { return cap_use_; }

  // Free now in each group.
  const std::vector<Resources>& free_now() const { return free_now_; }

  // The queue simulated once for all questions; null: one simulation per question.
  const QueueTrajectories* played() const { return played_.get(); }

  // Marks jobs held back by something not visible (null: none) and counts competitors. Last step of
  // building, before the model is shared.
  void Settle(const HeldJobs* held);

  // Call before the model is shared; `trajectories` must be of this queue.
  void SetTrajectories(std::shared_ptr<const QueueTrajectories> played) {
    played_ = std::move(played);
  }

  // Counts of competing jobs. REQUIRES: Settle() was called.
  const RivalCounter& rivals() const {
    assert(rivals_);
    return *rivals_;
  }

  // Queue features for the forecast. REQUIRES: past() is not null.
  const QueueFeatures& crowds() const { return *crowds_; }

  // Component number by group: groups that one waiting job could use are connected.
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
  FairShareTree fair_shares_;
  HeldAmounts amounts_;
  std::vector<RunningJob> running_;
  std::vector<const Job*> expedited_;  // of snapshot_
  std::vector<PendingJob> pending_;
  std::vector<ArrivingJob> arriving_;
  int64_t watched_seconds_ = 0;
  std::unordered_map<std::string, int32_t> owners_;
  std::vector<int64_t> cap_use_;
  std::vector<Resources> free_now_;
  std::vector<int32_t> component_;
  std::optional<RivalCounter> rivals_;
  std::optional<QueueFeatures> crowds_;
  std::shared_ptr<const QueueTrajectories> played_;
};

}  // namespace gpuadvise
