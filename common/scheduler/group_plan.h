// Free resources of every node group over time, and the earliest slot for a job.
//
// Rebuilt for each backfill pass from free resources and the latest ends of running jobs. The pass
// subtracts jobs that it starts or reserves nodes for. Times are seconds from the snapshot. Not
// thread-safe; one per thread.
#pragma once

#include <cstdint>
#include <vector>

#include "common/scheduler/node_groups.h"
#include "common/scheduler/node_timeline.h"

namespace gpuadvise {

struct GroupSlot {
  int64_t start = kNever;
  std::vector<GroupAllocation> nodes;
};

class GroupPlan {
 public:
  // kCoarse: rounds times of pooled groups to a grid that widens with distance (to 1/16 of it).
  // Slurm's own strides are wider.
  enum class Grid { kExact, kCoarse };
  explicit GroupPlan(const NodeGroups& groups, Grid grid = Grid::kExact);

  // A copy that knows of these groups alone.
  GroupPlan Of(const std::vector<int32_t>& groups) const;

  // Resets `group`: `free` at `now`, no future ends. `content` identifies the jobs on it and breaks
  // ties between equal groups, instead of their names.
  void Reset(int32_t group, int64_t now, const Resources& free, uint64_t content);

  // Frees `amount` at `time`. REQUIRES: ascending times per group, before the first Take.
  void Release(int32_t group, int64_t time, const Resources& amount);

  // Earliest slot of `duration` (kNever: unlimited) in [from, latest).
  GroupSlot Earliest(const GroupRequirements& requirements, int64_t duration, int64_t from,
                     int64_t latest = kNever) const;

  // Whether Earliest() from `start` would return `start`.
  bool HasSlotAt(const GroupRequirements& requirements, int64_t duration, int64_t start) const;

  // Subtracts the parts of nodes that reservations set aside. REQUIRES: after the group's Releases.
  void SetPartsAside(int32_t group);

  void Take(const GroupRequirements& requirements, const GroupSlot& slot, int64_t duration);

  // Keeps the nodes of `slot` in [from, to), always whole nodes, as Slurm's backfill does for
  // waiting jobs.
  void Reserve(const GroupRequirements& requirements, const GroupSlot& slot, int64_t from,
               int64_t to);

 private:
  const NodeTimeline& Line(int32_t group) const { return lines_[static_cast<size_t>(group)]; }
  int64_t AfterReserved(const NodeGroup& group, int32_t own, int64_t from, int64_t duration) const;
  int64_t FirstFit(const GroupDemand& demand, int64_t nodes, int32_t reservation, int64_t duration,
                   int64_t from, int64_t not_after) const;
  int64_t CountThroughout(const GroupDemand& demand, int32_t reservation, int64_t from,
                          int64_t duration) const;
  static int64_t LowerBound(const GroupRequirements& requirements,
                            const std::vector<int64_t>& firsts);
  int64_t NextChange(const GroupRequirements& requirements, int64_t after) const;
  GroupSlot SlotAt(const GroupRequirements& requirements, int64_t duration, int64_t start,
                   const std::vector<int64_t>& firsts) const;
  GroupSlot SeveralNodes(const GroupRequirements& requirements, int64_t duration, int64_t from,
                         int64_t latest) const;
  GroupSlot OneNode(const GroupRequirements& requirements, int64_t duration, int64_t from,
                    int64_t not_after) const;

  int64_t OnGrid(int32_t group, int64_t time) const;

  const NodeGroups& groups_;
  const Grid grid_;
  int64_t now_ = 0;  // at the last Reset
  std::vector<NodeTimeline> lines_;
  std::vector<uint64_t> contents_;
};

// Takes requirements.nodes nodes out of `counts` (parallel to requirements.demands). The start is
// kNever if there are too few or a required one is missing. `free`: see FillOrder.
GroupSlot TakeNodes(const NodeGroups& groups, const GroupRequirements& requirements,
                    const std::vector<int64_t>& counts, const std::vector<const Resources*>& free,
                    const std::vector<uint64_t>& contents, int64_t start);

// Demands with a count above 0, in the order in which Slurm fills nodes: required ones, low weight,
// then the fullest.
// `free`: free resources per demand (null without a count); `contents`: the jobs there, by group.
std::vector<int32_t> FillOrder(const NodeGroups& groups, const GroupRequirements& requirements,
                               const std::vector<int64_t>& counts,
                               const std::vector<const Resources*>& free,
                               const std::vector<uint64_t>& contents);

}  // namespace gpuadvise
