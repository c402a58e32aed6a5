// The nodes as the scheduler simulation sees them: groups of nodes that are alike.
//
// A group of one node is that node. Where many nodes are equal in everything that a job can ask for
// (capacity, GPUs, features, weight, partitions, reservations), they are one group whose resources
// are added up: exact for jobs that take whole nodes, optimistic by fragmentation for others.
// Immutable; safe from any thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "common/scheduler/node_fit.h"
#include "common/scheduler/node_pool.h"

namespace gpuadvise {

// Equal nodes of at least so many become one group.
inline constexpr size_t kPoolFrom = 64;

struct NodeGroup {
  std::vector<int32_t> nodes;  // indices in NodePool, ascending
  Resources each;              // capacity of each
  Resources capacity;          // of all together
  int64_t weight = 1;
  std::vector<ReservedWindow> reserved;
  std::vector<ReservedPart> parts;  // of each node
  int64_t boot_seconds = 0;         // of PoolNode
  bool boots = false;
  bool pooled() const { return nodes.size() > 1; }
};

// What a job takes in one group.
struct GroupDemand {
  int32_t group = 0;
  int64_t most = 1;       // nodes of the group that may serve
  Resources each;         // held on every node
  bool required = false;  // named with --nodelist: one node of it has to serve
};

// A job's shape on groups.
struct GroupRequirements {
  std::vector<GroupDemand> demands;  // ascending groups
  int64_t nodes = 1;                 // so many, over all places
  int32_t reservation = -1;          // NodePool::reservations() index
};

// So many nodes of one place of a GroupRequirements.
struct GroupAllocation {
  int32_t demand = 0;
  int64_t nodes = 0;
};

class NodeGroups {
 public:
  // `members`: node indices by partition. Nodes equal in all else but in different partitions are
  // different.
  NodeGroups(const NodePool& pool, const std::vector<std::vector<int32_t>>& members,
             size_t pool_from = kPoolFrom);

  const std::vector<NodeGroup>& groups() const { return groups_; }
  int32_t GroupOf(int32_t node) const { return group_of_[static_cast<size_t>(node)]; }

  // Groups whose nodes are set aside in part.
  const std::vector<int32_t>& with_parts() const { return with_parts_; }

  // `shape` on the groups. Tasks and GPUs in all are spread evenly over the least number of nodes.
  GroupRequirements ShapeOn(const NodePool& pool, const JobRequirements& requirements) const;

 private:
  std::vector<NodeGroup> groups_;
  std::vector<int32_t> group_of_;
  std::vector<int32_t> with_parts_;
};

// Whether `need` fits into `free`, amount by amount.
inline bool Fits(const Resources& need, const Resources& free) {
  if (need.any_gpus > free.any_gpus || need.cpus > free.cpus || need.memory_mib > free.memory_mib ||
      need.shards > free.shards || need.part_cpus > free.part_cpus) {
    return false;
  }
  int32_t least = 0;  // without a branch for each type
  for (size_t i = 0; i < need.gpus.size(); ++i) {
    least = std::min(least, free.gpus[i] - need.gpus[i]);
  }
  return least >= 0;
}

// How many nodes' worth of `place` fit into `free` of its group.
int64_t NodesThatFit(const GroupDemand& demand, bool pooled, const Resources& free);

// What reservations other than `own` set aside of all nodes of `group` at some time in [from, from
// + duration), where they set aside parts.
Resources SetAside(const NodeGroup& group, int32_t own, int64_t from, int64_t duration);

// What `own` sets aside for its jobs of all nodes of `group`.
Resources SetAsideFor(const NodeGroup& group, int32_t own);

// `amount` times `count`.
Resources Times(const Resources& amount, int64_t count);

}  // namespace gpuadvise
