// The state as of a snapshot, played forward once so that many questions are cheap: what is free on
// each node at any later time, after any number of the pending jobs have been given their place.
//
// See queue_model.cc for the idea. Built once, then immutable to its callers; FreeAt keeps a small
// cache behind a mutex. Safe from any thread. Times are seconds from the snapshot.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/earliest_start.h"
#include "common/job_shape.h"
#include "common/node_pool.h"
#include "common/priority_scale.h"
#include "common/queue_order.h"
#include "common/snapshot.h"
#include "common/usage_limits.h"

namespace gpuadvise {

/// What is free, node by node (parallel to NodePool::nodes()).
using Profile = std::vector<NodeTimeline>;

/// Tasks that the plan places at most, in all and of one array: later ones are too far ahead for a
/// plan at limits to say anything about.
inline constexpr size_t kMaxPlanned = 100'000;
inline constexpr int64_t kMaxPlannedTasks = 2'000;

/// One pending job (or task of an array) with its place in the plan.
struct PlannedJob {
  Rank rank;
  int64_t job_id = 0;
  int32_t partition = 0;  // index in the snapshot's partitions
  int64_t start = 0;
  int64_t end = kNever;
  size_t first_share = 0;
  size_t share_count = 0;
};

class QueueModel {
 public:
  explicit QueueModel(const Snapshot& snapshot);

  /// The snapshot without its jobs: policy, partitions, nodes.
  const Snapshot& policy() const { return policy_; }
  const PriorityScale& scale() const { return scale_; }
  const NodePool& pool() const { return pool_; }
  const UsageBook& usage() const { return usage_; }

  /// Node indices of a partition, ascending.
  const std::vector<int32_t>& Members(size_t partition) const { return members_[partition]; }

  /// Pending jobs that were given a place, in queue order. Held and impossible ones are not here.
  const std::vector<PlannedJob>& plan() const { return plan_; }
  std::span<const Share> SharesOf(const PlannedJob& job) const;

  /// Without backfill (sched/builtin) nobody overtakes in a partition: the start of the last of the
  /// first `position` planned jobs there, before which no later one starts. 0 with backfill.
  int64_t NotBefore(size_t position, size_t partition) const;

  /// How many planned jobs come before a job of this rank.
  size_t PositionOf(const Rank& rank) const;

  /// What is free after running jobs and the first `position` of the plan. REQUIRES: position <=
  /// plan().size().
  std::shared_ptr<const Profile> FreeAt(size_t position) const;

 private:
  class Planner;

  struct Cached {
    size_t position = 0;
    uint64_t last_use = 0;
    std::shared_ptr<const Profile> profile;
  };

  std::shared_ptr<const Profile> Build(const Cached& base, size_t position) const;

  Snapshot policy_;
  PriorityScale scale_;
  NodePool pool_;
  UsageBook usage_;
  bool backfill_ = true;
  std::vector<std::vector<int32_t>> members_;
  std::vector<PlannedJob> plan_;
  std::vector<Share> shares_;  // of all planned jobs, one after the other

  mutable std::mutex mutex_;
  mutable std::vector<Cached> cache_;  // guarded by mutex_; the first entry is position 0
  mutable uint64_t uses_ = 0;          // guarded by mutex_
};

/// The best tier and so the place of a job in these partitions (indices in policy.partitions).
Rank RankOf(const Snapshot& policy, const std::vector<size_t>& partitions, bool in_reservation,
            int64_t priority, int64_t job_id);

}  // namespace gpuadvise
