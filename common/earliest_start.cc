#include "common/earliest_start.h"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <optional>

namespace gpuadvise {
namespace {

/// A node that could serve from `start` on for the whole duration, with what is free all through.
struct Candidate {
  int32_t node = 0;
  int64_t start = kNever;
  Resources free;
};

class Search {
 public:
  Search(const NodePool& pool, const std::vector<NodeTimeline>& free, const JobShape& shape)
      : pool_(pool), free_(free), shape_(shape) {}

  Slot Run(int64_t from) {
    Slot slot = shape_.nodes_max == 1 ? OneNode(from) : ManyNodes(from);
    if (slot.start >= shape_.latest || slot.start >= kNever) return {};
    return slot;
  }

 private:
  const PoolNode& Node(int32_t node) const { return pool_.nodes()[static_cast<size_t>(node)]; }
  const NodeTimeline& Timeline(int32_t node) const { return free_[static_cast<size_t>(node)]; }
  int64_t TasksOnEach() const { return shape_.nodes_max == 1 ? shape_.tasks : 1; }

  int64_t End(int64_t start) const {
    return shape_.duration >= kNever ? kNever : start + shape_.duration;
  }

  bool Serves(const PoolNode& node, const Resources& free) const {
    if (!CanServe(pool_, node, shape_, free, TasksOnEach())) return false;
    if (shape_.nodes_max > 1) return HasSomeOf(node, free, shape_.gpus_total);
    return std::all_of(
        shape_.gpus_total.begin(), shape_.gpus_total.end(),
        [&](const GpuNeed& need) { return FreeGpus(node, free, need.type) >= need.count; });
  }

  /// The first time from `from` on that no reservation of others overlaps; `from` itself if none.
  int64_t AfterReserved(const PoolNode& node, int64_t from) const {
    for (const ReservedWindow& window : node.reserved) {
      if (window.reservation == shape_.reservation) continue;
      if (window.start < End(from) && window.end > from) from = window.end;
    }
    return from;
  }

  /// The first start >= from at which `node` serves for the whole duration.
  Candidate FirstFit(int32_t index, int64_t from, int64_t not_after) const {
    const PoolNode& node = Node(index);
    const NodeTimeline& line = Timeline(index);
    int64_t start = AfterReserved(node, from);
    size_t first = start >= kNever ? line.size() : line.StepAt(start);
    while (first < line.size() && start <= not_after) {
      std::optional<size_t> blocked;  // the last step that the start must lie after
      Resources least = line.Free(first);
      for (size_t i = first; i < line.size() && line.Start(i) < End(start); ++i) {
        if (i > first) least = Least(least, line.Free(i));
        if (Serves(node, least)) continue;
        // A step that fails alone rules out every start up to it; else only this start is ruled
        // out.
        blocked = Serves(node, line.Free(i)) ? first : i;
        break;
      }
      if (!blocked) return {index, start, least};
      first = *blocked + 1;
      if (first == line.size()) break;
      start = AfterReserved(node, line.Start(first));
      if (start >= kNever) break;
      if (start > line.Start(first)) first = line.StepAt(start);
    }
    return {index, kNever, {}};
  }

  /// Whether `a` is the better node to take at the same start.
  bool Better(const Candidate& a, const Candidate& b) const {
    const PoolNode& na = Node(a.node);
    const PoolNode& nb = Node(b.node);
    if (na.weight != nb.weight) return na.weight < nb.weight;
    const int64_t ga = a.free.TotalGpus();
    const int64_t gb = b.free.TotalGpus();
    if (ga != gb) return ga < gb;
    if (a.free.cpus != b.free.cpus) return a.free.cpus < b.free.cpus;
    if (a.free.memory_mib != b.free.memory_mib) return a.free.memory_mib < b.free.memory_mib;
    const auto order = Timeline(a.node) <=> Timeline(b.node);
    return order != 0 ? order < 0 : a.node < b.node;
  }

  Slot OneNode(int64_t from) const {
    Candidate best;
    const std::vector<int32_t>& nodes = shape_.required.empty() ? *shape_.nodes : shape_.required;
    for (const int32_t node : nodes) {
      const Candidate candidate = FirstFit(node, from, best.start);
      if (candidate.start > best.start || candidate.start >= kNever) continue;
      if (candidate.start < best.start || Better(candidate, best)) best = candidate;
    }
    if (best.start >= kNever) return {};
    std::vector<int64_t> extra;
    for (const GpuNeed& need : shape_.gpus_total) extra.push_back(need.count);
    return {best.start,
            {{best.node, ShareOf(pool_, Node(best.node), shape_, best.free, shape_.tasks, extra)}}};
  }

  Slot ManyNodes(int64_t from) const {
    std::vector<Candidate> candidates;
    for (const int32_t node : *shape_.nodes) candidates.push_back(FirstFit(node, from, kNever));
    for (int64_t start = from;;) {
      start = std::max(start, LowerBound(candidates));
      if (start >= kNever) return {};
      for (Candidate& candidate : candidates) {
        if (candidate.start < start) candidate = FirstFit(candidate.node, start, kNever);
      }
      Slot slot = TakeAt(candidates, start);
      if (slot.start < kNever) return slot;
      const int64_t bound = LowerBound(candidates);
      start = bound > start ? bound : NextChange(start);
      if (start >= kNever) return {};
    }
  }

  /// No start is possible before nodes_min nodes, the required ones among them, each could serve.
  int64_t LowerBound(const std::vector<Candidate>& candidates) const {
    std::vector<int64_t> starts;
    starts.reserve(candidates.size());
    int64_t required = 0;
    for (const Candidate& candidate : candidates) {
      starts.push_back(candidate.start);
      if (IsRequired(candidate.node)) required = std::max(required, candidate.start);
    }
    const auto nth = static_cast<std::ptrdiff_t>(shape_.nodes_min - 1);
    if (nth >= static_cast<std::ptrdiff_t>(starts.size())) return kNever;
    std::nth_element(starts.begin(), starts.begin() + nth, starts.end());
    return std::max(required, starts[static_cast<size_t>(nth)]);
  }

  bool IsRequired(int32_t node) const {
    return std::binary_search(shape_.required.begin(), shape_.required.end(), node);
  }

  int64_t NextChange(int64_t after) const {
    int64_t next = kNever;
    for (const int32_t node : *shape_.nodes) {
      const NodeTimeline& line = Timeline(node);
      const size_t at = line.StepAt(after) + 1;
      if (at < line.size()) next = std::min(next, line.Start(at));
      for (const ReservedWindow& window : Node(node).reserved) {
        if (window.end > after) next = std::min(next, window.end);
      }
    }
    return next;
  }

  /// Takes the nodes at `start`, or nothing when those free then are not enough together.
  Slot TakeAt(const std::vector<Candidate>& candidates, int64_t start) const {
    std::vector<Candidate> ready;
    for (const Candidate& candidate : candidates) {
      if (candidate.start == start) ready.push_back(candidate);
    }
    std::sort(ready.begin(), ready.end(), [&](const Candidate& a, const Candidate& b) {
      const bool ra = IsRequired(a.node);
      return ra != IsRequired(b.node) ? ra : Better(a, b);
    });
    for (int64_t count = shape_.nodes_min; count <= shape_.nodes_max; ++count) {
      if (count > static_cast<int64_t>(ready.size())) return {};
      Slot slot = Distribute({ready.begin(), ready.begin() + count}, start);
      if (slot.start < kNever) return slot;
      slot = Distribute(Roomiest(ready, count), start);
      if (slot.start < kNever) return slot;
    }
    return {};
  }

  /// The `count` nodes with most to offer: GPUs first, then tasks. Required nodes stay.
  std::vector<Candidate> Roomiest(std::vector<Candidate> ready, int64_t count) const {
    const auto keep = static_cast<std::ptrdiff_t>(shape_.required.size());
    std::stable_sort(ready.begin() + keep, ready.end(),
                     [&](const Candidate& a, const Candidate& b) {
                       if (!shape_.gpus_total.empty()) {
                         const int32_t type = shape_.gpus_total.front().type;
                         const int64_t ga = FreeGpus(Node(a.node), a.free, type);
                         const int64_t gb = FreeGpus(Node(b.node), b.free, type);
                         if (ga != gb) return ga > gb;
                       }
                       return Room(a) > Room(b);
                     });
    ready.resize(static_cast<size_t>(count));
    return ready;
  }

  int64_t Room(const Candidate& candidate) const {
    return TasksThatFit(pool_, Node(candidate.node), shape_, candidate.free, shape_.tasks);
  }

  /// Spreads tasks and GPUs as evenly as the nodes allow; nothing when they do not fit.
  Slot Distribute(const std::vector<Candidate>& nodes, int64_t start) const {
    const std::vector<int64_t> tasks =
        Spread(std::max(shape_.tasks, static_cast<int64_t>(nodes.size())), nodes,
               [&](const Candidate& node) { return Room(node); });
    if (tasks.empty()) return {};
    std::vector<std::vector<int64_t>> gpus(nodes.size());
    for (const GpuNeed& need : shape_.gpus_total) {
      const std::vector<int64_t> counts = Spread(need.count, nodes, [&](const Candidate& node) {
        return FreeGpus(Node(node.node), node.free, need.type);
      });
      if (counts.empty()) return {};
      for (size_t i = 0; i < nodes.size(); ++i) gpus[i].push_back(counts[i]);
    }
    Slot slot{start, {}};
    for (size_t i = 0; i < nodes.size(); ++i) {
      slot.shares.push_back({nodes[i].node, ShareOf(pool_, Node(nodes[i].node), shape_,
                                                    nodes[i].free, tasks[i], gpus[i])});
    }
    std::sort(slot.shares.begin(), slot.shares.end(),
              [](const Share& a, const Share& b) { return a.node < b.node; });
    return slot;
  }

  /// `total` over the nodes, evenly where there is room; empty when there is too little.
  template <typename RoomOf>
  static std::vector<int64_t> Spread(int64_t total, const std::vector<Candidate>& nodes,
                                     const RoomOf& room_of) {
    std::vector<int64_t> room;
    for (const Candidate& node : nodes) room.push_back(room_of(node));
    if (std::accumulate(room.begin(), room.end(), int64_t{0}) < total) return {};
    std::vector<int64_t> given(nodes.size(), 0);
    int64_t left = total;
    while (left > 0) {
      const int64_t even = std::max<int64_t>(left / static_cast<int64_t>(nodes.size()), 1);
      for (size_t i = 0; i < nodes.size() && left > 0; ++i) {
        const int64_t more = std::min({even, room[i] - given[i], left});
        given[i] += more;
        left -= more;
      }
    }
    return given;
  }

  const NodePool& pool_;
  const std::vector<NodeTimeline>& free_;
  const JobShape& shape_;
};

}  // namespace

Slot EarliestStart(const NodePool& pool, const std::vector<NodeTimeline>& free,
                   const JobShape& shape, int64_t from) {
  return Search(pool, free, shape).Run(std::max(from, shape.earliest));
}

}  // namespace gpuadvise
