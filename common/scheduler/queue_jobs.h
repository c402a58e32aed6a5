// Jobs of the simulated queue: running, waiting and arriving.
//
// Values on node groups, made by queue_job_builder.h. Times are seconds from the snapshot.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <vector>

#include "common/history/job_duration_distribution.h"
#include "common/scheduler/node_groups.h"
#include "common/scheduler/usage_limits.h"
#include "common/slurm/queue_order.h"

namespace gpuadvise {

// Nodes of one group that a job holds.
struct HeldNodes {
  int32_t group = 0;
  int32_t nodes = 1;
  const Resources* each = nullptr;  // on each of them; of the queue or the request

  Resources amount() const { return nodes == 1 ? *each : Times(*each, nodes); }
};

// Amounts that jobs hold, each once, at an address that stays: of thousands of running jobs, most
// hold the same few.
class HeldAmounts {
 public:
  const Resources* Of(const Resources& amount) { return &*known_.insert(amount).first; }

 private:
  std::set<Resources> known_;
};

struct PendingJob;

// What a job adds to the usage that fair share counts.
struct UsageShare {
  int32_t leaf = -1;  // its association's in the FairShareTree; -1: none
  double per_second = 0;
};

struct RunningJob {
  int64_t id = 0;
  std::vector<HeldNodes> held;
  int64_t until = kNever;  // end at its limit
  double elapsed = 0;
  double mean_of_last_two = 0;  // predicted from its user's last two; 0: unknown
  std::shared_ptr<const RunTimeDistribution> run_time;  // null: until its limit
  CapUses caps;
  int32_t burst = -1;
  int64_t priority = 0;
  int32_t preempt_class = -1;  // class in Preemption
  UsageShare usage;
  std::shared_ptr<const PendingJob>
      requeued_as;  // the job that would wait after preemption; null: not preemptible
};

// One option to run a job: its requirements in one partition.
struct PartitionOption {
  int32_t partition = 0;
  std::shared_ptr<const GroupRequirements> requirements;
  int64_t duration = kNever;  // time limit
  int64_t earliest = 0;
  int64_t latest = kNever;
  int32_t preempt_class = -1;  // class in Preemption
  bool magnetic = false;       // in a MAGNETIC reservation it does not name
};

// A waiting job, or one task of an array.
struct PendingJob {
  Rank rank;
  int64_t id = 0;
  int64_t task = 0;          // task number in an array record; all tasks share its rank
  bool of_array = false;     // whether it is part of an array record
  int32_t throttle = -1;     // cap on concurrent tasks of its array; -1: none
  int32_t user = -1;         // number in QueueModel::Owners
  int32_t association = -1;  // number of user and account
  int64_t age = 0;           // seconds since eligible
  std::vector<PartitionOption> options;
  double mean_of_last_two = 0;
  std::shared_ptr<const RunTimeDistribution> run_time;  // null: runs to its limit
  CapUses caps;
  UsageShare usage;
  std::vector<int64_t> after;  // ids of queued or running jobs that must end first
  int32_t burst = -1;
  bool held = false;         // could have started long ago; the reason is not visible
  int64_t replaces_job = 0;  // queued job that this one replaces; 0: none
};

// A past submission that may come again: its request at the priority it would get now.
struct ArrivingJob {
  PendingJob job;
  int64_t ago = 0;
  int64_t tasks = 1;
};

// Most simulated tasks of an array: later ones are too far ahead to matter.
inline constexpr int64_t kMaxTasks = 2'000;

}  // namespace gpuadvise
