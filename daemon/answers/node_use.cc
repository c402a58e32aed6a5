#include "daemon/answers/node_use.h"

#include <algorithm>

#include "common/gpu/gpu_pool.h"
#include "common/slurm/gres.h"
#include "common/slurm/node_state.h"

namespace gpuadvise::daemon {
namespace {

bool IsKept(const Node& node, bool kept) {
  return kept || IsPromised(node.state) || node.state.Has(NodeFlag::kReserved);
}

bool IsDown(const NodeState& state) {
  const bool gone = state.base == NodeBase::kDown || state.base == NodeBase::kError ||
                    state.base == NodeBase::kFuture;
  return gone || state.Has(NodeFlag::kNotResponding) || state.Has(NodeFlag::kInvalidRegistration);
}

bool HasRoom(const Node& node) {
  if (node.cpus_allocated >= node.cpus || node.memory_allocated_mib >= node.memory_mib) {
    return false;
  }
  return node.gpus.empty() ||
         std::any_of(node.gpus.begin(), node.gpus.end(),
                     [&](const GpuCount& gpus) { return CountFreeGpus(node, gpus.type) > 0; });
}

bool RunsSomething(const Node& node) {
  return node.cpus_allocated > 0 || node.memory_allocated_mib > 0 || node.shards_allocated > 0 ||
         TotalGpus(node.gpus_allocated) > 0;
}

}  // namespace

std::string_view NameOf(NodeUse use) {
  switch (use) {
    case NodeUse::kFree:
      return "free";
    case NodeUse::kPartly:
      return "partly";
    case NodeUse::kBusy:
      return "busy";
    case NodeUse::kPromised:
      return "promised";
    case NodeUse::kDrained:
      return "drained";
    case NodeUse::kDown:
      return "down";
  }
  return "down";
}

std::optional<NodeUse> NodeUseNamed(std::string_view name) {
  for (const NodeUse use : kNodeUses) {
    if (NameOf(use) == name) return use;
  }
  return std::nullopt;
}

NodeUse UseOf(const Node& node, bool kept) {
  if (IsDown(node.state)) return NodeUse::kDown;
  if (!IsUsable(node.state) || node.state.Has(NodeFlag::kMaintenance)) return NodeUse::kDrained;
  if (!HasRoom(node)) return NodeUse::kBusy;
  if (IsKept(node, kept)) return NodeUse::kPromised;
  return RunsSomething(node) ? NodeUse::kPartly : NodeUse::kFree;
}

GpuTally GpuTallyOf(const Node& node, const std::string& type, bool kept) {
  GpuTally use;
  use.total = GpusOfType(node.gpus, type);
  use.used =
      std::min(use.total, GpusOfType(node.gpus_allocated, type) + CountShardedGpus(node, type));
  (IsKept(node, kept) ? use.promised : use.free) = CountFreeGpus(node, type);
  use.unavailable = use.total - use.used - use.free - use.promised;
  return use;
}

GpuTally& operator+=(GpuTally& sum, const GpuTally& more) {
  sum.total += more.total;
  sum.used += more.used;
  sum.free += more.free;
  sum.promised += more.promised;
  sum.unavailable += more.unavailable;
  return sum;
}

}  // namespace gpuadvise::daemon
