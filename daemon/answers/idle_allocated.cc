#include "daemon/answers/idle_allocated.h"

#include <algorithm>

#include "common/slurm/gres.h"

namespace gpuadvise::daemon {
namespace {

constexpr int64_t kIdleSeconds = 30 * 60;  // as idle_gpus_query looks back

bool HeldThroughout(const Job& job, UnixSeconds now) {
  return HoldsNodes(job) && job.start_time && now - *job.start_time >= kIdleSeconds;
}

}  // namespace

IdleAllocated CountIdleAllocated(const Snapshot& snapshot) {
  std::unordered_map<std::string_view, int64_t> held;  // for as long, of nodes with idle GPUs
  for (const Node& node : snapshot.nodes) {
    if (node.gpus_idle > 0) held[node.name] = 0;
  }
  IdleAllocated idle;
  if (held.empty()) return idle;
  for (const Job& job : snapshot.jobs) {
    if (!HeldThroughout(job, snapshot.taken_at)) continue;
    for (const Allocation& allocation : job.allocations) {
      const auto node = held.find(allocation.node);
      if (node != held.end()) node->second += TotalGpus(allocation.gpus);
    }
  }
  for (const Node& node : snapshot.nodes) {
    if (node.gpus_idle <= 0) continue;
    const int64_t gpus = TotalGpus(node.gpus);
    const int64_t all = std::min(node.gpus_idle, gpus);
    const int64_t others = gpus - std::min(held[node.name], gpus);
    if (all > others) idle[node.name] = all - others;
  }
  return idle;
}

}  // namespace gpuadvise::daemon
