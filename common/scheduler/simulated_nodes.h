// Who holds what in one sample of the played queue, and until when: groups of nodes, GPUs, limits
// on use. Knows nothing of the order of the queue.
//
// Times are seconds from the snapshot. Not thread-safe; one per sample.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "common/scheduler/group_plan.h"
#include "common/scheduler/queue_model.h"

namespace gpuadvise {

// A job that holds nodes in the sample.
struct ActiveJob {
  int64_t id = 0;
  int64_t end = kNever;    // when it really ends
  int64_t until = kNever;  // when its limit ends it, as the scheduler plans
  std::vector<GroupShare> shares;
  const CapUses* caps = nullptr;

  // What matters where its nodes may be taken.
  int32_t preempt_class = -1;
  int64_t priority = 0;
  int64_t started = 0;
  double run_seconds = -1;                  // in all; below 0: until its limit
  const PendingJob* requeued_as = nullptr;  // as it would wait once more; null: its nodes are safe
  int32_t played = -1;  // its number in the record of the sample, where one is kept
};

class SimulatedNodes {
 public:
  // `hot`: groups that are played; what happens on others is not looked at.
  SimulatedNodes(const QueueModel& queue, std::vector<bool> in_scope);

  // As it was made, for another sample. Keeps its memory, which costs as much as the sample.
  void Restart();

  // An empty list, with memory of a job of an earlier sample where there is one.
  std::vector<GroupShare> EmptyShares();

  bool IsHot(int32_t group) const { return in_scope_[static_cast<size_t>(group)]; }

  // `job` holds its shares, which are free, and counts against its limits from now on.
  void Start(ActiveJob job);

  // The same for one that runs in the snapshot, where it is counted already.
  void Resume(ActiveJob job);

  // The next time at which somebody ends; kNever when nobody does.
  int64_t NextEnd();

  // Ends all that end by `now` and calls `ended` for each.
  void EndUntil(int64_t now, const std::function<void(const ActiveJob&)>& ended);

  bool WithinLimits(const PendingJob& job) const;

  // The same of the limits of QOS and associations alone: without licences and throttles of arrays.
  bool WithinPolicy(const PendingJob& job) const;

  // What a cap leaves to those who do not run yet; below 0 where it was lowered since.
  int64_t LeftBy(int32_t cap) const;

  // Nodes for `way` out of what is free at `now`, in the order in which Slurm fills them.
  GroupSlot FitNow(const PartitionOption& option, int64_t now) const;

  // Whether the job would fit into what is free, whoever holds a reservation.
  bool FitsSomewhere(const PendingJob& job) const;

  // The same if the nodes of weaker jobs are taken; kNever when even that is not enough.
  // `priority`: of the job that would take them.
  GroupSlot FitByPreempting(const PartitionOption& option, int64_t priority, int64_t now) const;

  // Takes nodes of weaker jobs for one of priority `by` until `slot` of `way` is free: lowest
  // priority first, then the youngest; with preempt_youngest_first the youngest. They are gone;
  // gives them.
  std::vector<ActiveJob> Preempt(const PartitionOption& option, int64_t by, const GroupSlot& slot);

  // When Slurm thinks that `way` can start if it can at `start` by the limits of running jobs. It
  // lets them end in strides that double, or grow by bf_window_linear, and looks only after each:
  // later than it could be. With bf_running_job_reserve it knows the ends of jobs on whole nodes.
  int64_t StartAsPlanned(const PartitionOption& option, int64_t start);

  // Who has held nodes so far, also those that are gone.
  const std::vector<ActiveJob>& actives() const { return actives_; }

  // How long the nodes of `slot` take to boot, if a job gets them at `now`; they are up from then
  // on.
  int64_t Boot(const PartitionOption& option, const GroupSlot& slot, int64_t now);

  // The plan of the backfill scheduler at `now`: jobs end at their limits.
  GroupPlan& PlanAt(int64_t now);

 private:
  using Event = std::pair<int64_t, size_t>;

  int64_t CountNow(const GroupDemand& demand, const PartitionOption& option, const Resources& free,
                   int64_t now) const;
  GroupSlot FitInto(const std::vector<Resources>& free, const PartitionOption& option,
                    int64_t now) const;
  bool MayTake(const PartitionOption& option, int64_t priority, size_t index) const;
  bool IsTakenBefore(const ActiveJob& a, const ActiveJob& b) const;
  bool IsWholeNode(const GroupShare& share) const;
  void Remove(size_t index);
  void PopEnd();
  void SortByUntil();

  const QueueModel& queue_;
  std::vector<bool> in_scope_;
  GroupPlan plan_;
  std::vector<Resources> free_;     // by group, now
  std::vector<uint64_t> contents_;  // by group: who is there
  std::vector<int64_t> cap_use_;
  std::vector<int64_t> up_at_;  // by group, of those that are not up; empty: all are
  std::vector<ActiveJob> actives_;
  std::vector<GroupShare> first_shares_;  // of actives_: all that most of them have, side by side
  std::vector<bool> has_more_;            // of actives_: shares
  std::vector<bool> gone_;                // of actives_
  std::vector<Event> ends_;               // a heap, the earliest first
  std::vector<Event> by_until_;           // ascending, with some that are gone
  std::vector<Event> unsorted_;           // that belong into it
  std::vector<std::vector<GroupShare>> spare_;
};

}  // namespace gpuadvise
