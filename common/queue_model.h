// The state as of a snapshot, worked out once so that questions can be played forward from it: what
// each group of nodes has, what runs and for how long, who waits in which order with which shape.
//
// Built once per snapshot, then immutable: safe from any thread. Times are seconds from the
// snapshot. See simulation.cc for what is done with it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "common/access.h"
#include "common/job_shape.h"
#include "common/limit_book.h"
#include "common/node_groups.h"
#include "common/node_pool.h"
#include "common/preemption.h"
#include "common/priority_scale.h"
#include "common/queue_crowds.h"
#include "common/queue_order.h"
#include "common/rivals.h"
#include "common/run_time_distribution.h"
#include "common/scheduler_options.h"
#include "common/snapshot.h"
#include "common/start_of.h"

namespace gpuadvise {

struct Past;
class PlayedQueue;

/// One job's share of one group.
struct GroupShare {
  int32_t group = 0;
  Resources held;
};

struct PendingJob;

/// A job that holds nodes now.
struct RunningJob {
  int64_t id = 0;
  std::vector<GroupShare> shares;
  int64_t until = kNever;  // at its limit
  double elapsed = 0;
  double last_two = 0;  // run time by the mean of its user's last two; 0: not known
  std::shared_ptr<const RunTimeDistribution> run_time;  // null: until its limit
  CapUses caps;
  int32_t burst = -1;
  int64_t priority = 0;
  int32_t preempt_class = -1;               // of Preemption
  std::shared_ptr<const PendingJob> again;  // as it would wait once more; null: its nodes are safe
};

/// One way to run a job: its shape in one partition.
struct JobWay {
  int32_t partition = 0;
  std::shared_ptr<const GroupShape> shape;
  int64_t duration = kNever;  // its limit
  int64_t earliest = 0;
  int64_t latest = kNever;
  int32_t preempt_class = -1;  // of Preemption
};

/// A job that waits (or one task of an array).
struct PendingJob {
  Rank rank;
  int64_t id = 0;
  int64_t task = 0;  // of an array record that stands for several
  int32_t user = -1;
  int64_t age = 0;  // since it became eligible
  std::vector<JobWay> ways;
  double last_two = 0;
  std::shared_ptr<const RunTimeDistribution> run_time;  // null: its limit
  CapUses caps;
  std::vector<int64_t> after;  // ids of jobs of this snapshot that have to end first
  int32_t burst = -1;
  bool held = false;       // could have started long ago: by something unseen
  int64_t instead_of = 0;  // a job of the queue that is this one with another request; 0: none
};

/// A job that was submitted a while ago, as one that may come again: what it asks for, at the
/// priority that it would get now.
struct ArrivingJob {
  PendingJob job;
  int64_t ago = 0;
  int64_t tasks = 1;
};

/// Tasks of one array that are played at most: later ones are too far ahead to say anything about.
inline constexpr int64_t kMaxTasks = 2'000;

class QueueModel {
 public:
  /// `past` null: every job runs until its limit, and one sample says it all. Else it is told who
  /// runs now and which jobs are passed over.
  /// REQUIRES: `past` outlives the model and is not written while questions are asked.
  QueueModel(std::shared_ptr<const Snapshot> snapshot, Past* past,
             const SimulationOptions& options);

  const Snapshot& snapshot() const { return *snapshot_; }
  const Past* past() const { return past_; }
  const PriorityScale& scale() const { return scale_; }
  const NodePool& pool() const { return pool_; }
  const NodeGroups& groups() const { return groups_; }
  const LimitBook& limits() const { return limits_; }
  const Preemption& preemption() const { return preemption_; }
  const SchedulerOptions& scheduler() const { return scheduler_; }
  const SimulationOptions& options() const { return options_; }
  /// No past: one sample, in which everybody runs until the limit.
  bool at_limits() const { return past_ == nullptr && options_.known_run_times == nullptr; }

  /// Node indices of a partition, ascending.
  const std::vector<int32_t>& Members(size_t partition) const { return members_[partition]; }

  const std::vector<RunningJob>& running() const { return running_; }

  /// In the order of the queue; without those that cannot compete (held, impossible).
  const std::vector<PendingJob>& pending() const { return pending_; }

  /// The submissions of the last `watched_seconds`, oldest first, as jobs that may come again.
  const std::vector<ArrivingJob>& arriving() const { return arriving_; }
  int64_t watched_seconds() const { return watched_seconds_; }

  /// The priority of a job that arrives at `time` with `priority`, beside those of jobs that wait
  /// now: they will have gained by age until then.
  int64_t PriorityOfArrival(int64_t priority, int64_t time) const;

  /// Amounts that running jobs count against each cap.
  const std::vector<int64_t>& cap_use() const { return cap_use_; }

  /// Free now in each group, after running jobs.
  const std::vector<Resources>& free_now() const { return free_now_; }

  /// The queue played once for all questions; null: each is played by itself.
  const PlayedQueue* played() const { return played_.get(); }

  /// Who competes with a job.
  const RivalCount& rivals() const { return rivals_; }

  /// Everybody in the queue, counted for the forecast; REQUIRES: past() is not null.
  const QueueCrowds& crowds() const { return *crowds_; }

  /// Groups that belong together because a waiting job could use either; numbers of components.
  const std::vector<int32_t>& component_of_group() const { return component_; }

 private:
  class Builder;

  std::shared_ptr<const Snapshot> snapshot_;
  const Past* past_ = nullptr;
  SimulationOptions options_;
  SchedulerOptions scheduler_;
  PriorityScale scale_;
  NodePool pool_;
  std::vector<std::vector<int32_t>> members_;
  NodeGroups groups_;
  LimitBook limits_;
  Preemption preemption_;
  std::vector<RunningJob> running_;
  std::vector<PendingJob> pending_;
  std::vector<ArrivingJob> arriving_;
  int64_t watched_seconds_ = 0;
  std::vector<int64_t> cap_use_;
  std::vector<Resources> free_now_;
  std::vector<int32_t> component_;
  RivalCount rivals_;
  std::optional<QueueCrowds> crowds_;
  std::shared_ptr<const PlayedQueue> played_;
};

}  // namespace gpuadvise
