#include "common/scheduler/node_fit.h"

#include <algorithm>

namespace gpuadvise {
namespace {

int64_t MemoryFor(const PoolNode& node, const JobRequirements& requirements, int64_t cpus) {
  if (requirements.whole_memory) return node.capacity.memory_mib;
  return std::max(requirements.memory_per_node_mib, requirements.memory_per_cpu_mib * cpus);
}

// CPUs of the node available to one job. Slurm never grants a whole node above MaxCPUsPerNode.
int64_t MostCpus(const NodePool& pool, const PoolNode& node, const JobRequirements& requirements) {
  const int64_t most = requirements.max_cpus_per_node;
  const bool whole = requirements.whole_node && !pool.whole_nodes_only();
  if (whole && node.cpus_of_a_job > most) return 0;
  return std::min(node.cpus_of_a_job, most);
}

bool GpusFit(const PoolNode& node, const JobRequirements& requirements, const Resources& free) {
  int64_t wanted = 0;
  for (const GpuNeed& need : requirements.gpus_per_node) {
    if (FreeGpus(node, free, need.type) < need.count) return false;
    wanted += need.count;
  }
  if (wanted > FreeGpus(node, free, -1)) return false;
  const int64_t shards =
      node.shards_are_mps ? requirements.mps_per_node : requirements.shards_per_node;
  const int64_t others =
      node.shards_are_mps ? requirements.shards_per_node : requirements.mps_per_node;
  if (others > 0) return false;
  if (shards == 0) return true;
  // A GPU is allocated whole or as shards; the shards of one job are on one GPU.
  const int64_t whole = node.capacity.TotalGpus() - free.TotalGpus() + wanted;
  return shards <= node.shards_per_gpu && shards <= free.shards - whole * node.shards_per_gpu;
}

bool NobodyElse(const PoolNode& node, const Resources& free, bool count_memory) {
  return free.cpus >= node.capacity.cpus && free.shards >= node.capacity.shards &&
         free.gpus == node.capacity.gpus &&
         (!count_memory || free.memory_mib >= node.capacity.memory_mib);
}

}  // namespace

int64_t FreeGpus(const PoolNode& node, const Resources& free, int32_t type) {
  int64_t whole = free.TotalGpus();
  if (node.shards_per_gpu > 0) {
    whole -= (node.capacity.shards - free.shards + node.shards_per_gpu - 1) / node.shards_per_gpu;
  }
  if (type < 0) return whole;
  const int slot = node.SlotOf(type);
  return slot < 0 ? 0 : std::min<int64_t>(whole, free.gpus[static_cast<size_t>(slot)]);
}

bool HasSomeOf(const PoolNode& node, const Resources& free, const std::vector<GpuNeed>& needs) {
  if (needs.empty()) return true;
  return std::any_of(needs.begin(), needs.end(),
                     [&](const GpuNeed& need) { return FreeGpus(node, free, need.type) > 0; });
}

bool CanServe(const NodePool& pool, const PoolNode& node, const JobRequirements& requirements,
              const Resources& free, int64_t tasks) {
  const int64_t cpus = pool.WholeCores(node, requirements.cpus(tasks));
  if (cpus > free.cpus || cpus > MostCpus(pool, node, requirements)) return false;
  if (MemoryFor(node, requirements, cpus) > free.memory_mib && pool.memory_is_counted())
    return false;
  if (requirements.whole_node && !NobodyElse(node, free, pool.memory_is_counted())) return false;
  return GpusFit(node, requirements, free);
}

int64_t TasksThatFit(const NodePool& pool, const PoolNode& node,
                     const JobRequirements& requirements, const Resources& free, int64_t most) {
  const int64_t cpus = std::min(free.cpus, MostCpus(pool, node, requirements));
  int64_t tasks = std::min(most, cpus / requirements.cpus_per_task);
  if (requirements.memory_per_cpu_mib > 0) {
    tasks = std::min(
        tasks, free.memory_mib / (requirements.memory_per_cpu_mib * requirements.cpus_per_task));
  }
  while (tasks > 0 && !CanServe(pool, node, requirements, free, tasks)) {
    // Only core rounding can make fewer tasks fit; otherwise stop.
    if (node.threads_per_core == 1) return 0;
    --tasks;
  }
  return std::max<int64_t>(tasks, 0);
}

}  // namespace gpuadvise
