// Slurm's two scheduler passes over the queue of one sample, and preemption.
//
// See simulation.cc for the idea. Times are seconds from the snapshot. Not thread-safe; one per
// sample.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/scheduler/queue_model.h"
#include "common/scheduler/simulated_nodes.h"

namespace gpuadvise {

// One entry in the sample's queue.
struct Waiting {
  const PendingJob* job = nullptr;
  Rank rank;
  int64_t priority = 0;     // the rank's, without what fair share has changed since the snapshot
  double run_seconds = -1;  // negative: until its limit
  int64_t since = 0;        // arrival time
  int32_t index = -1;       // in queue.pending(); -1: the request, or an arrival
  int32_t arrival = -1;     // of those whose wait is followed, in their order; -1: another job
  bool gaps_only = false;   // starts where it fits now, and reserves nothing
  int64_t not_before = 0;   // delay after preemption
  bool requeued = false;    // has run before
  bool gone = false;        // has started; removed from the queue at the next Tidy()
};

// Callbacks into the sample that runs the passes.
class SchedulerEvents {
 public:
  virtual ~SchedulerEvents() = default;

  // Whether Slurm considers the job now.
  virtual bool Competes(const Waiting& waiting) const = 0;

  // The job starts in `slot`, with one of its options.
  virtual void Start(const Waiting& waiting, size_t option, const GroupSlot& slot) = 0;

  // The job is preempted.
  virtual void Lose(const ActiveJob& job) = 0;

  // Whether the sample has its result.
  virtual bool Done() const = 0;
};

class SchedulerCycle {
 public:
  // REQUIRES: all outlive it. `pending`: in queue order; started jobs are marked gone and removed
  // from time to time.
  SchedulerCycle(const QueueModel& queue, SimulatedNodes& nodes, std::vector<Waiting>& pending,
                 SchedulerEvents& sample);

  // Prepares for another sample; `pending` is another queue.
  void Restart() { gone_ = first_ = 0; }

  void Insert(std::ptrdiff_t demand, const Waiting& waiting);

  // Starts jobs in queue order until, in each partition, the first job that does not fit, exceeds a
  // limit (with assoc_limit_stop), or is past partition_job_depth; then preempts. Does nothing if
  // sched_interval is -1.
  void MainCycle(int64_t now);

  // Plans the earliest slot for each job in order, using limits, and starts jobs whose slot is now.
  // An array counts as one of bf_max_job_test jobs; nodes are reserved for at most
  // bf_max_job_array_resv of its tasks, or as many as its throttle allows. A job that cannot start
  // reserves nodes in each of its partitions, or in one with bf_one_resv_per_job.
  void BackfillCycle(int64_t now);

 private:
  void PreemptPass();
  void Leave(size_t index);
  void Tidy();
  std::optional<std::pair<GroupSlot, size_t>> FindPreemptibleSlot(const Waiting& waiting) const;
  size_t EndOfCandidates() const;
  size_t TrimToCandidates(size_t first, size_t last) const;
  bool IsCandidate(size_t index) const;
  size_t LastWithASlotNow(const GroupPlan& plan, size_t from, size_t last);
  int64_t& NotBefore(const PartitionOption& option);
  bool ReachedBackfillLimit(const PendingJob& job);
  void BlockWhereOverLimit(const PendingJob& job);
  bool IsDeepEnough(int32_t partition);
  enum class Planned { kStarts, kIsReserved, kNothing };
  Planned PlanOne(GroupPlan& plan, const Waiting& waiting, int64_t reserved);
  int64_t MaxReservedTasks(const PendingJob& job) const;
  size_t RecordBegin(size_t index) const;
  size_t RecordEnd(size_t index) const;
  bool ReserveAll(GroupPlan& plan, const PendingJob& job, size_t chosen, const GroupSlot& best);
  void Reserve(GroupPlan& plan, const PartitionOption& option, GroupSlot slot) const;
  int64_t OnGrid(int64_t time) const;
  bool MayReserve(const Waiting& waiting) const;

  const QueueModel& queue_;
  const SchedulerOptions& options_;
  SimulatedNodes& nodes_;
  std::vector<Waiting>& pending_;
  SchedulerEvents& sample_;
  int64_t now_ = 0;
  size_t gone_ = 0;                  // number in pending_
  size_t first_ = 0;                 // first of pending_ that may still wait
  std::vector<bool> blocked_;        // by partition, in a main pass
  std::vector<int64_t> tried_here_;  // by partition, in a main pass

  // In one backfill pass: jobs tried or given reservations.
  std::unordered_map<int64_t, int64_t> tried_by_user_;  // by user or association
  std::unordered_map<int64_t, int64_t> tried_by_user_part_;
  std::unordered_map<int32_t, int64_t> tried_by_part_;
  std::unordered_map<int32_t, int64_t> reserved_by_part_;

  // In one backfill pass, where the plan only fills up: no job of the same requirements and
  // duration finds a slot before the last one's.
  std::vector<std::pair<std::pair<const GroupRequirements*, int64_t>, int64_t>> not_before_;
};

}  // namespace gpuadvise
