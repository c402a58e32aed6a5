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
  IdleAllocated idle;
  for (const Node& node : snapshot.nodes) {
    const int64_t gpus = TotalGpus(node.gpus);
    if (node.gpus_idle > 0) idle[node.name] = std::min(node.gpus_idle, gpus) - gpus;
  }
  if (idle.empty()) return idle;
  for (const Job& job : snapshot.jobs) {
    if (!HeldThroughout(job, snapshot.taken_at)) continue;
    for (const Allocation& allocation : job.allocations) {
      const auto node = idle.find(allocation.node);
      if (node != idle.end()) node->second += TotalGpus(allocation.gpus);
    }
  }
  std::erase_if(idle, [](const auto& node) { return node.second <= 0; });
  return idle;
}

}  // namespace gpuadvise::daemon
