#include "common/scheduler/group_plan.h"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <tuple>

#include "common/base/job_random.h"

namespace gpuadvise {
namespace {

constexpr int64_t kFinestGrid = 60;  // seconds
constexpr int64_t kGridPointsAhead = 16;

int64_t EndOf(int64_t start, int64_t duration) {
  return duration >= kNever || start >= kNever ? kNever : start + duration;
}

}  // namespace

std::vector<int32_t> FillOrder(const NodeGroups& groups, const GroupRequirements& requirements,
                               const std::vector<int64_t>& counts,
                               const std::vector<const Resources*>& free,
                               const std::vector<uint64_t>& contents) {
  struct Place {
    bool optional;
    bool boots;
    int64_t weight;
    int32_t gpus;
    int64_t cpus;
    int64_t memory_mib;
    uint64_t content;
    int32_t demand;
    auto operator<=>(const Place&) const = default;
  };
  std::vector<Place> places;
  places.reserve(counts.size());
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    const auto group = static_cast<size_t>(requirements.demands[i].group);
    const NodeGroup& nodes = groups.groups()[group];
    places.push_back({!requirements.demands[i].required, nodes.boot_seconds > 0, nodes.weight,
                      free[i]->any_gpus, free[i]->cpus, free[i]->memory_mib, contents[group],
                      static_cast<int32_t>(i)});
  }
  std::sort(places.begin(), places.end());
  std::vector<int32_t> order;
  order.reserve(places.size());
  for (const Place& place : places) order.push_back(place.demand);
  return order;
}

GroupSlot TakeNodes(const NodeGroups& groups, const GroupRequirements& requirements,
                    const std::vector<int64_t>& counts, const std::vector<const Resources*>& free,
                    const std::vector<uint64_t>& contents, int64_t start) {
  for (size_t i = 0; i < counts.size(); ++i) {
    if (requirements.demands[i].required && counts[i] == 0) return {};
  }
  if (std::accumulate(counts.begin(), counts.end(), int64_t{0}) < requirements.nodes) return {};
  GroupSlot slot{start, {}};
  slot.nodes.reserve(static_cast<size_t>(
      std::min(requirements.nodes, static_cast<int64_t>(requirements.demands.size()))));
  int64_t left = requirements.nodes;
  for (const int32_t demand : FillOrder(groups, requirements, counts, free, contents)) {
    const int64_t taken = std::min(left, counts[static_cast<size_t>(demand)]);
    slot.nodes.push_back({demand, taken});
    left -= taken;
    if (left == 0) break;
  }
  return slot;
}

GroupPlan::GroupPlan(const NodeGroups& groups, Grid grid)
    : groups_(groups), grid_(grid), contents_(groups.groups().size(), 0) {
  lines_.reserve(groups.groups().size());
  for (const NodeGroup& group : groups.groups()) lines_.emplace_back(group.capacity);
}

GroupPlan GroupPlan::Of(const std::vector<int32_t>& groups) const {
  GroupPlan some(groups_, grid_);
  some.now_ = now_;
  some.contents_ = contents_;
  for (const int32_t group : groups) some.lines_[static_cast<size_t>(group)] = Line(group);
  return some;
}

void GroupPlan::Reset(int32_t group, int64_t now, const Resources& free, uint64_t content) {
  now_ = now;
  lines_[static_cast<size_t>(group)].Reset(now, free);
  contents_[static_cast<size_t>(group)] = content;
}

void GroupPlan::Release(int32_t group, int64_t time, const Resources& amount) {
  lines_[static_cast<size_t>(group)].ReleaseLast(OnGrid(group, time), amount);
}

// Rounds `time` up to the grid.
int64_t GroupPlan::OnGrid(int32_t group, int64_t time) const {
  if (grid_ == Grid::kExact || time >= kNever) return time;
  if (!groups_.groups()[static_cast<size_t>(group)].pooled()) return time;
  int64_t width = kFinestGrid;
  while (width * kGridPointsAhead < time - now_) width *= 2;
  return (time + width - 1) / width * width;
}

int64_t GroupPlan::AfterReserved(const NodeGroup& group, int32_t own, int64_t from,
                                 int64_t duration) const {
  for (const ReservedWindow& window : group.reserved) {
    if (window.reservation == own || !window.Bars(from, duration)) continue;
    from = window.floats ? kNever : window.end;
  }
  return from;
}

int64_t GroupPlan::FirstFit(const GroupDemand& demand, int64_t nodes, int32_t reservation,
                            int64_t duration, int64_t from, int64_t not_after) const {
  const NodeGroup& group = groups_.groups()[static_cast<size_t>(demand.group)];
  const NodeTimeline& line = Line(demand.group);
  Resources need = nodes == 1 ? demand.each : Times(demand.each, nodes);
  if (!group.parts.empty()) need -= SetAsideFor(group, reservation);
  int64_t start = AfterReserved(group, reservation, from, duration);
  if (start >= kNever) return kNever;
  for (size_t first = line.StepAt(start); start <= not_after;) {
    const int64_t end = EndOf(start, duration);
    size_t step = first;
    while (step < line.size() && line.Start(step) < end && Fits(need, line.Free(step))) ++step;
    if (step == line.size() || line.Start(step) >= end) return start;
    // It fits nowhere before the next step with enough free.
    first = step + 1;
    while (first < line.size() && line.Start(first) <= not_after && !Fits(need, line.Free(first))) {
      ++first;
    }
    if (first == line.size()) return kNever;
    start = AfterReserved(group, reservation, line.Start(first), duration);
    if (start >= kNever) return kNever;
    if (start > line.Start(first)) first = line.StepAt(start);
  }
  return kNever;
}

int64_t GroupPlan::CountThroughout(const GroupDemand& demand, int32_t reservation, int64_t from,
                                   int64_t duration) const {
  const NodeGroup& group = groups_.groups()[static_cast<size_t>(demand.group)];
  if (AfterReserved(group, reservation, from, duration) != from) return 0;
  const NodeTimeline& line = Line(demand.group);
  const int64_t end = EndOf(from, duration);
  int64_t count = demand.most;
  Resources aside;
  if (!group.parts.empty()) aside = SetAsideFor(group, reservation);
  for (size_t step = line.StepAt(from); step < line.size() && line.Start(step) < end; ++step) {
    count = std::min(count, NodesThatFit(demand, group.pooled(), line.Free(step) + aside));
    if (count == 0) break;
  }
  return count;
}

// Lower bound of the start: when the nodes of `firsts` first suffice.
int64_t GroupPlan::LowerBound(const GroupRequirements& requirements,
                              const std::vector<int64_t>& firsts) {
  std::vector<std::pair<int64_t, int64_t>> starts;  // first fit of one node, maximum nodes
  starts.reserve(firsts.size());
  for (size_t i = 0; i < firsts.size(); ++i) {
    if (firsts[i] < kNever) starts.emplace_back(firsts[i], requirements.demands[i].most);
  }
  std::sort(starts.begin(), starts.end());
  int64_t nodes = 0;
  for (const auto& [start, most] : starts) {
    nodes += most;
    if (nodes >= requirements.nodes) return start;
  }
  return kNever;
}

int64_t GroupPlan::NextChange(const GroupRequirements& requirements, int64_t after) const {
  int64_t next = kNever;
  for (const GroupDemand& demand : requirements.demands) {
    const NodeTimeline& line = Line(demand.group);
    const size_t step = line.StepAt(after) + 1;
    if (step < line.size()) next = std::min(next, line.Start(step));
    for (const ReservedWindow& window :
         groups_.groups()[static_cast<size_t>(demand.group)].reserved) {
      if (!window.floats && window.end > after) next = std::min(next, window.end);
    }
  }
  return next;
}

// `firsts`: from when one node of each demand fits, not before `start`.
GroupSlot GroupPlan::SlotAt(const GroupRequirements& requirements, int64_t duration, int64_t start,
                            const std::vector<int64_t>& firsts) const {
  std::vector<int64_t> counts(firsts.size(), 0);
  std::vector<const Resources*> free(firsts.size(), nullptr);
  for (size_t i = 0; i < firsts.size(); ++i) {
    if (firsts[i] != start) continue;
    const GroupDemand& demand = requirements.demands[i];
    const NodeTimeline& line = Line(demand.group);
    const bool pooled = groups_.groups()[static_cast<size_t>(demand.group)].pooled();
    counts[i] =
        pooled ? CountThroughout(demand, requirements.reservation, start, duration) : demand.most;
    free[i] = &line.Free(line.StepAt(start));
  }
  return TakeNodes(groups_, requirements, counts, free, contents_, start);
}

GroupSlot GroupPlan::SeveralNodes(const GroupRequirements& requirements, int64_t duration,
                                  int64_t from, int64_t latest) const {
  std::vector<int64_t> firsts(requirements.demands.size(), -1);
  for (int64_t start = from; start < latest;) {
    for (size_t i = 0; i < firsts.size(); ++i) {
      if (firsts[i] >= start) continue;  // unchanged
      firsts[i] = FirstFit(requirements.demands[i], 1, requirements.reservation, duration, start,
                           latest - 1);
    }
    const int64_t bound = LowerBound(requirements, firsts);
    if (bound >= latest) return {};
    if (bound == start) {
      GroupSlot slot = SlotAt(requirements, duration, start, firsts);
      if (slot.start < kNever) return slot;
      start = NextChange(requirements, start);
    } else {
      start = bound;
    }
  }
  return {};
}

GroupSlot GroupPlan::OneNode(const GroupRequirements& requirements, int64_t duration, int64_t from,
                             int64_t not_after) const {
  int64_t best = kNever;
  size_t best_place = 0;
  std::tuple<bool, int64_t, int32_t, int64_t, int64_t, uint64_t> best_key;
  for (size_t i = 0; i < requirements.demands.size(); ++i) {
    const GroupDemand& demand = requirements.demands[i];
    const int64_t start =
        FirstFit(demand, 1, requirements.reservation, duration, from, std::min(best, not_after));
    if (start > best || start >= kNever) continue;
    const NodeTimeline& line = Line(demand.group);
    const Resources& free = line.Free(line.StepAt(start));
    const NodeGroup& group = groups_.groups()[static_cast<size_t>(demand.group)];
    const std::tuple key(group.boot_seconds > 0, group.weight, free.any_gpus, free.cpus,
                         free.memory_mib, contents_[static_cast<size_t>(demand.group)]);
    if (start < best || key < best_key) {
      best = start;
      best_place = i;
      best_key = key;
    }
  }
  if (best >= kNever) return {};
  return {best, {{static_cast<int32_t>(best_place), 1}}};
}

GroupSlot GroupPlan::Earliest(const GroupRequirements& requirements, int64_t duration, int64_t from,
                              int64_t latest) const {
  GroupSlot slot;
  if (requirements.demands.size() == 1 && requirements.demands.front().most >= requirements.nodes) {
    const int64_t start = FirstFit(requirements.demands.front(), requirements.nodes,
                                   requirements.reservation, duration, from, latest - 1);
    if (start < latest) slot = {start, {{0, requirements.nodes}}};
  } else if (requirements.nodes == 1) {
    slot = OneNode(requirements, duration, from, latest - 1);
  } else {
    slot = SeveralNodes(requirements, duration, from, latest);
  }
  if (slot.start >= latest) return {};
  return slot;
}

bool GroupPlan::HasSlotAt(const GroupRequirements& requirements, int64_t duration,
                          int64_t start) const {
  const auto fits = [&](const GroupDemand& demand, int64_t nodes) {
    return FirstFit(demand, nodes, requirements.reservation, duration, start, start) == start;
  };
  const std::vector<GroupDemand>& demands = requirements.demands;
  if (demands.size() == 1 && demands.front().most >= requirements.nodes) {
    return fits(demands.front(), requirements.nodes);
  }
  if (requirements.nodes == 1) {
    return std::any_of(demands.begin(), demands.end(),
                       [&](const GroupDemand& demand) { return fits(demand, 1); });
  }
  return SeveralNodes(requirements, duration, start, start + 1).start == start;
}

void GroupPlan::SetPartsAside(int32_t group) {
  const NodeGroup& nodes = groups_.groups()[static_cast<size_t>(group)];
  for (const ReservedPart& part : nodes.parts) {
    lines_[static_cast<size_t>(group)].Take(
        part.start, part.end, Times(part.held, static_cast<int64_t>(nodes.nodes.size())));
  }
}

void GroupPlan::Take(const GroupRequirements& requirements, const GroupSlot& slot,
                     int64_t duration) {
  for (const GroupAllocation& allocation : slot.nodes) {
    const GroupDemand& demand = requirements.demands[static_cast<size_t>(allocation.demand)];
    lines_[static_cast<size_t>(demand.group)].Take(slot.start, EndOf(slot.start, duration),
                                                   Times(demand.each, allocation.nodes));
    contents_[static_cast<size_t>(demand.group)] +=
        MixBits(static_cast<uint64_t>(slot.start) * 1'000'003 + static_cast<uint64_t>(duration));
  }
}

void GroupPlan::Reserve(const GroupRequirements& requirements, const GroupSlot& slot, int64_t from,
                        int64_t to) {
  for (const GroupAllocation& allocation : slot.nodes) {
    const GroupDemand& demand = requirements.demands[static_cast<size_t>(allocation.demand)];
    const NodeGroup& group = groups_.groups()[static_cast<size_t>(demand.group)];
    // Before the slot these nodes belong to others; a pool would take them from its free ones.
    const int64_t begin = group.pooled() ? slot.start : from;
    lines_[static_cast<size_t>(demand.group)].Take(begin, OnGrid(demand.group, to),
                                                   Times(group.each, allocation.nodes));
    contents_[static_cast<size_t>(demand.group)] +=
        MixBits(static_cast<uint64_t>(slot.start) * 1'000'003 + static_cast<uint64_t>(to));
  }
}

}  // namespace gpuadvise
