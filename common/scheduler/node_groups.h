// Nodes as the simulation sees them: groups of equal nodes.
//
// A group of one node is that node. Many nodes with equal capacity, GPUs, features, weight,
// partitions and reservations form one group with summed resources: exact for whole-node jobs,
// optimistic (no fragmentation) for others. Immutable; safe from any thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "common/scheduler/node_fit.h"
#include "common/scheduler/node_pool.h"

namespace gpuadvise {

// Minimum number of equal nodes pooled into one group.
inline constexpr size_t kPoolFrom = 64;

struct NodeGroup {
  std::vector<int32_t> nodes;  // indices in NodePool, ascending
  Resources each;              // capacity of one node
  Resources capacity;          // capacity of all nodes
  int64_t weight = 1;
  std::vector<ReservedWindow> reserved;
  std::vector<ReservedPart> parts;  // of each node
  int64_t boot_seconds = 0;         // PoolNode::boot_seconds
  bool boots = false;
  bool pooled() const { return nodes.size() > 1; }
};

// A job's demand on one group.
struct GroupDemand {
  int32_t group = 0;
  int64_t most = 1;       // most nodes usable in the group
  Resources each;         // per node
  bool required = false;  // named with --nodelist: at least one node must be used
};

// A job's requirements on groups.
struct GroupRequirements {
  std::vector<GroupDemand> demands;  // by ascending group
  int64_t nodes = 1;                 // in all
  int32_t reservation = -1;          // index in NodePool::reservations()
};

// Nodes taken for one demand of a GroupRequirements.
struct GroupAllocation {
  int32_t demand = 0;
  int64_t nodes = 0;
};

class NodeGroups {
 public:
  // `members`: node indices by partition. Nodes in different partitions are never grouped.
  NodeGroups(const NodePool& pool, const std::vector<std::vector<int32_t>>& members,
             size_t pool_from = kPoolFrom);

  const std::vector<NodeGroup>& groups() const { return groups_; }
  int32_t GroupOf(int32_t node) const { return group_of_[static_cast<size_t>(node)]; }

  // Groups whose nodes are partly reserved.
  const std::vector<int32_t>& with_parts() const { return with_parts_; }

  // `requirements` on groups. Total tasks and GPUs are spread evenly over the fewest nodes.
  GroupRequirements SpreadOverGroups(const NodePool& pool,
                                     const JobRequirements& requirements) const;

 private:
  std::vector<NodeGroup> groups_;
  std::vector<int32_t> group_of_;
  std::vector<int32_t> with_parts_;
};

// Whether every amount of `need` fits into `free`.
inline bool Fits(const Resources& need, const Resources& free) {
  if (need.any_gpus > free.any_gpus || need.cpus > free.cpus || need.memory_mib > free.memory_mib ||
      need.shards > free.shards || need.part_cpus > free.part_cpus) {
    return false;
  }
  int32_t least = 0;  // branch-free
  for (size_t i = 0; i < need.gpus.size(); ++i) {
    least = std::min(least, free.gpus[i] - need.gpus[i]);
  }
  return least >= 0;
}

// Number of nodes for `demand` that fit into `free` of its group.
int64_t NodesThatFit(const GroupDemand& demand, bool pooled, const Resources& free);

// Amount set aside on `group` by reservations other than `own` that overlap [from, from +
// duration).
Resources SetAside(const NodeGroup& group, int32_t own, int64_t from, int64_t duration);

// Amount that `own` sets aside for its jobs on `group`.
Resources SetAsideFor(const NodeGroup& group, int32_t own);

Resources Times(const Resources& amount, int64_t count);

}  // namespace gpuadvise
