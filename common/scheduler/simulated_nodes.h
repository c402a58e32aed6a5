// Jobs that hold nodes, GPUs and limits in one simulated sample, and until when. Independent of
// queue order.
//
// Times are seconds from the snapshot. Not thread-safe; one per sample.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "common/scheduler/group_plan.h"
#include "common/scheduler/queue_model.h"

namespace gpuadvise {

// Some of a sample's HeldNodes, by index.
struct HeldRange {
  uint32_t first = 0;
  uint32_t count = 0;
};
using HeldSpan = std::span<const HeldNodes>;
inline HeldSpan Of(const HeldRange& range, const std::vector<HeldNodes>& held) {
  return HeldSpan(held).subspan(range.first, range.count);
}

struct ActiveJob {
  int64_t id = 0;
  int64_t end = kNever;    // actual end
  int64_t until = kNever;  // end at its limit, as the scheduler plans
  HeldRange held;
  const CapUses* caps = nullptr;
  UsageShare usage;

  // For preemption.
  int32_t preempt_class = -1;
  int64_t priority = 0;
  int64_t started = 0;
  double run_seconds = -1;                  // total; negative: until its limit
  const PendingJob* requeued_as = nullptr;  // the job after preemption; null: not preemptible
  int32_t played = -1;                      // index in the sample's record, if one is kept
};

class SimulatedNodes {
 public:
  // `in_scope`: simulated groups; others are ignored.
  SimulatedNodes(const QueueModel& queue, std::vector<bool> in_scope);

  // Resets for another sample, reusing memory, which costs as much as the sample.
  void Restart();

  // Lists what a job holds. REQUIRES: `option` outlives the sample.
  HeldRange Hold(const std::vector<HeldNodes>& held);
  HeldRange Hold(const PartitionOption& option, const GroupSlot& slot);
  HeldSpan Held(const ActiveJob& job) const { return Of(job.held, held_); }

  // All of them, for the record; the sample is over.
  std::vector<HeldNodes> TakeHeld() { return std::move(held_); }

  bool IsInScope(int32_t group) const { return in_scope_[static_cast<size_t>(group)]; }

  // `job` takes what it holds, which is free, and counts against its limits.
  void Start(const ActiveJob& job);

  // For a job that runs in the snapshot, where it is already counted.
  void Resume(const ActiveJob& job);

  // Time of the next job end; kNever: none.
  int64_t NextEnd();

  // Ends all jobs due by `now` and calls `ended` for each.
  void EndUntil(int64_t now, const std::function<void(const ActiveJob&)>& ended);

  bool WithinLimits(const PendingJob& job) const;

  // Policy limits only (QOS, associations): no licences, no array throttles.
  bool WithinPolicy(const PendingJob& job) const;

  // Remaining amount of a cap; negative if the cap was lowered since.
  int64_t LeftBy(int32_t cap) const;

  // Nodes for `option` out of what is free at `now`, in Slurm's fill order.
  GroupSlot FitNow(const PartitionOption& option, int64_t now) const;

  // Whether the job would fit into free resources, ignoring reservations.
  bool FitsSomewhere(const PendingJob& job) const;

  // Like FitNow(), preempting weaker jobs; kNever if even that is not enough. `priority`: of the
  // preempting job.
  GroupSlot FitByPreempting(const PartitionOption& option, int64_t priority, int64_t now) const;

  // Preempts weaker jobs for one of priority `by` until `slot` of `option` is free: lowest priority
  // first, then the youngest; only the youngest with preempt_youngest_first. Returns the removed
  // jobs.
  std::vector<ActiveJob> Preempt(const PartitionOption& option, int64_t by, const GroupSlot& slot);

  // When Slurm thinks that `option` can start, if limits of running jobs allow `start`. Slurm ends
  // jobs in strides that double, or grow by bf_window_linear, and checks only after each: hence
  // later than possible. With bf_running_job_reserve it knows the ends of whole-node jobs.
  int64_t StartAsPlanned(const PartitionOption& option, int64_t start);

  // All jobs that have held nodes, including ended ones.
  const std::vector<ActiveJob>& actives() const { return actives_; }

  // Boot time of the nodes of `slot` if allocated at `now`; they are up afterwards.
  int64_t Boot(const PartitionOption& option, const GroupSlot& slot, int64_t now);

  // Backfill plan at `now`: jobs end at their limits.
  GroupPlan& PlanAt(int64_t now);

 private:
  using Event = std::pair<int64_t, size_t>;
  // When a job ends at its limit, with what a plan needs to know of it.
  struct Limit {
    int64_t until = kNever;
    size_t index = 0;
    HeldRange held;
    friend bool operator<(const Limit& a, const Limit& b) {
      return std::tie(a.until, a.index) < std::tie(b.until, b.index);
    }
  };

  int64_t CountNow(const GroupDemand& demand, const PartitionOption& option, const Resources& free,
                   int64_t now) const;
  GroupSlot FitInto(const std::vector<Resources>& free, const PartitionOption& option,
                    int64_t now) const;
  bool MayTake(const PartitionOption& option, int64_t priority, size_t index) const;
  bool IsTakenBefore(const ActiveJob& a, const ActiveJob& b) const;
  bool IsWholeNode(const HeldNodes& held) const;
  void Remove(size_t index);
  void PopEnd();
  void SortByUntil();

  const QueueModel& queue_;
  std::vector<bool> in_scope_;
  GroupPlan plan_;
  std::vector<Resources> free_;     // by group
  std::vector<uint64_t> contents_;  // by group: identifies the jobs there
  std::vector<int64_t> cap_use_;
  std::vector<int64_t> up_at_;  // by group: when booting nodes are up; empty: all are up
  std::vector<ActiveJob> actives_;
  std::vector<HeldNodes> held_;  // by all of them, also ended ones
  std::vector<bool> gone_;       // by job
  std::vector<Event> ends_;      // heap, earliest first
  std::vector<Limit> by_until_;  // ascending; may contain ended jobs
  std::vector<Limit> unsorted_;  // to be merged into by_until_
};

}  // namespace gpuadvise
