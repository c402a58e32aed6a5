// What is free on every group of nodes from now on, and the earliest slot for a job in it.
//
// Built anew for each backfill pass from what is free now and when running jobs end at the latest;
// jobs that the pass starts or reserves nodes for are taken out of it. Times are seconds from the
// snapshot. Not thread-safe; one per thread.
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
  // kCoarse: what happens to pooled groups is put on a grid that widens with the distance, to a
  // sixteenth of it. Slurm's own strides are wider.
  enum class Grid { kExact, kCoarse };
  explicit GroupPlan(const NodeGroups& groups, Grid grid = Grid::kExact);

  // Forgets everything about `group`: `free` at `now`, nothing ends. `content` stands for who is
  // there: equal groups are told apart by it and not by their names.
  void Reset(int32_t group, int64_t now, const Resources& free, uint64_t content);

  // `amount` comes free at `time`. REQUIRES: in ascending order of time for each group, and before
  // the first Take.
  void Release(int32_t group, int64_t time, const Resources& amount);

  // The earliest slot of `duration` (kNever: for ever) from `from` on and before `latest`.
  GroupSlot Earliest(const GroupRequirements& requirements, int64_t duration, int64_t from,
                     int64_t latest = kNever) const;

  // Whether Earliest() from `start` on would be `start`.
  bool HasSlotAt(const GroupRequirements& requirements, int64_t duration, int64_t start) const;

  // Takes out what reservations set aside of the nodes of `group`. REQUIRES: after its Releases.
  void SetPartsAside(int32_t group);

  void Take(const GroupRequirements& requirements, const GroupSlot& slot, int64_t duration);

  // Keeps the nodes of `slot` for its job from `from` to `to`, whole nodes whatever it asks for:
  // so Slurm's backfill does it for jobs that wait.
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
  int64_t now_ = 0;  // of the last Reset
  std::vector<NodeTimeline> lines_;
  std::vector<uint64_t> contents_;
};

// Takes requirements.nodes nodes out of `counts` (parallel to requirements.demands); kNever as the
// start when they are too few or a required one is missing. `free`: see FillOrder.
GroupSlot TakeNodes(const NodeGroups& groups, const GroupRequirements& requirements,
                    const std::vector<int64_t>& counts, const std::vector<const Resources*>& free,
                    const std::vector<uint64_t>& contents, int64_t start);

// The places that have some of `counts`, in the order in which Slurm fills them: required ones,
// then low weights, then the fullest nodes.
// `free`: what each place has free (parallel to requirements.demands; null where it has no count);
// `contents`: who is there, by group.
std::vector<int32_t> FillOrder(const NodeGroups& groups, const GroupRequirements& requirements,
                               const std::vector<int64_t>& counts,
                               const std::vector<const Resources*>& free,
                               const std::vector<uint64_t>& contents);

}  // namespace gpuadvise
