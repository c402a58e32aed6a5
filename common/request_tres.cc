#include "common/request_tres.h"

#include <algorithm>
#include <cctype>
#include <set>

namespace gpuadvise {
namespace {

void AddGpus(TresCounts& tres, const GpuCounts& gpus, int64_t times) {
  for (const GpuCount& gpu : gpus) {
    if (gpu.count == 0) continue;
    tres["gres/gpu"] += gpu.count * times;
    if (!gpu.type.empty()) tres["gres/gpu:" + gpu.type] += gpu.count * times;
  }
}

int64_t MemoryMib(const JobRequest& request, const Partition& partition,
                  const SchedulerConfig& config, int64_t nodes) {
  if (request.memory_per_node_mib.has_value()) return request.memory_per_node_mib.value() * nodes;
  if (request.memory_per_cpu_mib.has_value())
    return request.memory_per_cpu_mib.value() * request.cpus;
  for (const SlurmNumber per_cpu :
       {partition.default_memory_per_cpu_mib, config.default_memory_per_cpu_mib}) {
    if (per_cpu.value_or(0) > 0) return per_cpu.value() * request.cpus;
    if (partition.default_memory_per_node_mib.value_or(0) > 0) break;
  }
  for (const SlurmNumber per_node :
       {partition.default_memory_per_node_mib, config.default_memory_per_node_mib}) {
    if (per_node.value_or(0) > 0) return per_node.value() * nodes;
  }
  return 0;
}

}  // namespace

TresCounts RequestTres(const JobRequest& request, const Partition& partition,
                       const SchedulerConfig& config) {
  TresCounts tres;
  const int64_t nodes = std::max<int64_t>(request.nodes_min, 1);
  tres["node"] = nodes;
  tres["cpu"] = std::max<int64_t>(request.cpus, 1);
  tres["mem"] = MemoryMib(request, partition, config, nodes);
  AddGpus(tres, request.gpus_per_node, nodes);
  AddGpus(tres, request.gpus_total, 1);
  return tres;
}

TresCounts PartitionTres(const Snapshot& snapshot, const Partition& partition) {
  const std::set<std::string> members(partition.nodes.begin(), partition.nodes.end());
  TresCounts tres;
  for (const Node& node : snapshot.nodes) {
    if (!members.contains(node.name)) continue;
    tres["node"] += 1;
    tres["cpu"] += node.cpus;
    tres["mem"] += node.memory_mib;
    AddGpus(tres, node.gpus, 1);
  }
  return tres;
}

std::string CanonicalTres(std::string_view name) {
  const size_t type = std::min(name.find(':'), name.size());  // the type keeps its case
  std::string canonical(name);
  std::transform(canonical.begin(), canonical.begin() + static_cast<std::ptrdiff_t>(type),
                 canonical.begin(), [](unsigned char c) { return std::tolower(c); });
  return canonical;
}

TresCounts HeldTres(const Job& job) {
  TresCounts tres;
  for (const Allocation& held : job.allocations) {
    tres["node"] += 1;
    tres["cpu"] += held.cpus;
    tres["mem"] += held.memory_mib;
    for (const GpuCount& gpu : held.gpus) {
      tres["gres/gpu"] += gpu.count;
      if (!gpu.type.empty()) tres["gres/gpu:" + gpu.type] += gpu.count;
    }
  }
  return tres;
}

}  // namespace gpuadvise
