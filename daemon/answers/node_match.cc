#include "daemon/answers/node_match.h"

#include <algorithm>
#include <string>

#include "common/base/text.h"
#include "common/slurm/node_state.h"

namespace gpuadvise::daemon {
namespace {

bool HasType(const Node& node, const std::string& gpu, GpuLabels& labels) {
  return std::any_of(node.gpus.begin(), node.gpus.end(), [&](const GpuCount& gpus) {
    return labels.LabelOf(node, gpus.type).id == gpu;
  });
}

bool IsFound(const Node& node, const std::string& search, const Submitter& caller) {
  return ContainsIgnoringCase(node.name, search) ||
         (caller.uid >= 0 && ContainsIgnoringCase(node.reason, search)) ||
         ContainsIgnoringCase(ToString(node.state), search) ||
         std::any_of(node.features.begin(), node.features.end(), [&](const std::string& feature) {
           return ContainsIgnoringCase(feature, search);
         });
}

bool Matches(const Node& node, const NodesFilter& filter, const Visibility& seen,
             const Submitter& caller, GpuLabels& labels) {
  const std::vector<std::string>& partitions = labels.PartitionsOf(node.name);
  if (!filter.node.empty() && node.name != filter.node) return false;
  if (!seen.SeesOneOf(partitions)) return false;
  if (!filter.partition.empty()) {
    const std::vector<std::string> shown = seen.SeenOf(partitions);
    if (std::find(shown.begin(), shown.end(), filter.partition) == shown.end()) return false;
  }
  if (!filter.gpu.empty() && !HasType(node, filter.gpu, labels)) return false;
  return filter.search.empty() || IsFound(node, filter.search, caller);
}

bool HasCondition(const Node& node, NodeUse use, const NodesFilter& filter,
                  const IdleAllocated& idle) {
  if (filter.idle_allocated) return idle.contains(node.name);
  if (filter.broken) return IsBroken(use);
  return !filter.condition || *filter.condition == use;
}

}  // namespace

std::vector<const Node*> MatchingNodes::PageOf(const NodesFilter& filter, size_t most) const {
  const size_t from = std::min(filter.offset, nodes.size());
  const size_t count = std::min({filter.limit, most, nodes.size() - from});
  const auto begin = nodes.begin() + static_cast<std::ptrdiff_t>(from);
  return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

MatchingNodes MatchNodes(const Snapshot& snapshot, const NodesFilter& filter,
                         const Visibility& seen, const Submitter& caller, const KeptNodes& kept,
                         GpuLabels& labels) {
  MatchingNodes matching;
  matching.idle_allocated = CountIdleAllocated(snapshot);
  for (const Node& node : snapshot.nodes) {
    if (!Matches(node, filter, seen, caller, labels)) continue;
    const NodeUse use = UseOf(node, kept.contains(node.name));
    ++matching.conditions[static_cast<size_t>(use)];
    if (HasCondition(node, use, filter, matching.idle_allocated)) matching.nodes.push_back(&node);
  }
  return matching;
}

}  // namespace gpuadvise::daemon
