// The jobs of the simulated queue: who runs, who waits, and who may come.
//
// Values, on groups of nodes; made by queue_job_builder.h. Times are seconds from the snapshot.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "common/history/job_duration_distribution.h"
#include "common/scheduler/node_groups.h"
#include "common/scheduler/usage_limits.h"
#include "common/slurm/queue_order.h"

namespace gpuadvise {

// One job's share of one group.
struct GroupShare {
  int32_t group = 0;
  Resources held;
};

struct PendingJob;

// A job that holds nodes now.
struct RunningJob {
  int64_t id = 0;
  std::vector<GroupShare> shares;
  int64_t until = kNever;  // at its limit
  double elapsed = 0;
  double mean_of_last_two = 0;  // run time by the mean of its user's last two; 0: not known
  std::shared_ptr<const RunTimeDistribution> run_time;  // null: until its limit
  CapUses caps;
  int32_t burst = -1;
  int64_t priority = 0;
  int32_t preempt_class = -1;  // of Preemption
  std::shared_ptr<const PendingJob>
      requeued_as;  // as it would wait once more; null: its nodes are safe
};

// One way to run a job: its shape in one partition.
struct PartitionOption {
  int32_t partition = 0;
  std::shared_ptr<const GroupRequirements> requirements;
  int64_t duration = kNever;  // its limit
  int64_t earliest = 0;
  int64_t latest = kNever;
  int32_t preempt_class = -1;  // of Preemption
  bool magnetic = false;       // in a reservation that attracts it, though it names none
};

// A job that waits (or one task of an array).
struct PendingJob {
  Rank rank;
  int64_t id = 0;
  int64_t task = 0;       // of an array record that stands for several; all of them have its rank
  bool of_array = false;  // such a record
  int32_t throttle = -1;  // the cap on tasks of its array that run at a time; -1: none
  int32_t user = -1;      // QueueModel::Owners
  int32_t association = -1;  // the same of its user and account
  int64_t age = 0;           // since it became eligible
  std::vector<PartitionOption> options;
  double mean_of_last_two = 0;
  std::shared_ptr<const RunTimeDistribution> run_time;  // null: its limit
  CapUses caps;
  std::vector<int64_t> after;  // ids of jobs of this snapshot that have to end first
  int32_t burst = -1;
  bool held = false;         // could have started long ago: by something unseen
  int64_t replaces_job = 0;  // a job of the queue that is this one with another request; 0: none
};

// A job that was submitted a while ago, as one that may come again: what it asks for, at the
// priority that it would get now.
struct ArrivingJob {
  PendingJob job;
  int64_t ago = 0;
  int64_t tasks = 1;
};

// Tasks of one array that are played at most: later ones are too far ahead to say anything about.
inline constexpr int64_t kMaxTasks = 2'000;

}  // namespace gpuadvise
