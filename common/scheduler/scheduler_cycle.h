// The two passes of Slurm's scheduler over the queue of one sample, and preemption.
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

// A place in the queue of the sample.
struct Waiting {
  const PendingJob* job = nullptr;
  Rank rank;
  double run_seconds = -1;  // below 0: until its limit
  int64_t since = 0;        // when it arrived
  int32_t index = -1;       // in queue.pending(); -1: the request, or one that arrived
  bool later = false;       // it arrived after all who are there now
  int64_t not_before = 0;   // after its nodes were taken
  bool requeued = false;    // it has started before
  bool gone = false;        // it has started; out of the queue at the next tidying
};

// The sample in which the passes work.
class SchedulerEvents {
 public:
  virtual ~SchedulerEvents() = default;

  // Whether Slurm looks at the job now.
  virtual bool Competes(const Waiting& waiting) const = 0;

  // It gets `slot`, by one of its ways.
  virtual void Start(const Waiting& waiting, size_t option, const GroupSlot& slot) = 0;

  // Its nodes have been taken.
  virtual void Lose(const ActiveJob& job) = 0;

  // Whether all is known that was asked.
  virtual bool Done() const = 0;
};

class SchedulerCycle {
 public:
  // REQUIRES: all outlive it. `pending`: in the order of the queue; who starts is marked
  // as gone, and taken out now and again.
  SchedulerCycle(const QueueModel& queue, SimulatedNodes& nodes, std::vector<Waiting>& pending,
                 SchedulerEvents& sample);

  // For another sample: `pending` is another queue.
  void Restart() { gone_ = first_ = 0; }

  // Puts a job into its place of the queue.
  void Insert(std::ptrdiff_t demand, const Waiting& waiting);

  // Down the queue until, in each partition, the first job that does not fit, or that is over a
  // limit where assoc_limit_stop is set, or partition_job_depth jobs; then those who may take the
  // nodes of others. Nothing where sched_interval is -1.
  void MainCycle(int64_t now);

  // Gives each job in order the earliest slot of a plan at the limits, and starts those whose slot
  // is now. An array is one of bf_max_job_test jobs, however many tasks it has, and nodes are kept
  // for bf_max_job_array_resv of them, or as many as its throttle leaves. A job that cannot start
  // has nodes kept in each of its partitions, in one where bf_one_resv_per_job is set.
  void BackfillCycle(int64_t now);

 private:
  void PreemptPass();
  void Leave(size_t index);
  void Tidy();
  std::optional<std::pair<GroupSlot, size_t>> TakenSlot(const Waiting& waiting) const;
  size_t LastThatFits() const;
  size_t LastLeft(size_t first, size_t last) const;
  bool IsLeft(size_t index) const;
  size_t LastWithASlotNow(const GroupPlan& plan, size_t from, size_t last);
  int64_t& NotBefore(const PartitionOption& option);
  bool HadItsTurns(const PendingJob& job);
  void BlockWhereOverLimit(const PendingJob& job);
  bool IsDeepEnough(int32_t partition);
  enum class Planned { kStarts, kIsReserved, kNothing };
  Planned PlanOne(GroupPlan& plan, const Waiting& waiting, int64_t reserved);
  int64_t MostReservedOf(const PendingJob& job) const;
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
  size_t gone_ = 0;                  // of pending_
  size_t first_ = 0;                 // of pending_ that may not be gone
  std::vector<bool> blocked_;        // partitions, in a main pass
  std::vector<int64_t> tried_here_;  // by partition, in a main pass

  // In one backfill pass: jobs that were tried, or have nodes kept for them.
  std::unordered_map<int64_t, int64_t> tried_by_user_;  // or association
  std::unordered_map<int64_t, int64_t> tried_by_user_part_;
  std::unordered_map<int32_t, int64_t> tried_by_part_;
  std::unordered_map<int32_t, int64_t> reserved_by_part_;

  // In one backfill pass, whose plan only fills up: nobody of a shape and duration finds a slot
  // before that of the last one.
  std::vector<std::pair<std::pair<const GroupRequirements*, int64_t>, int64_t>> not_before_;
};

}  // namespace gpuadvise
