#include "common/slurm/tres.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>

#include "common/base/text.h"
#include "common/slurm/policy.h"

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

// Usage a second: more is a mistake, and sums must stay finite.
constexpr double kMostPerSecond = 1e12;

struct Weight {
  std::string tres;
  double each = 0;  // per unit in TresCounts; memory in MiB
};

// MiB per unit of a memory weight's suffix.
std::optional<double> MebibytesOf(std::string_view suffix) {
  if (suffix.empty()) return 1;
  if (suffix.size() > 1) return {};
  const size_t place = std::string_view("KMGTP").find(suffix.front());
  if (place == std::string_view::npos) return {};
  return std::pow(1024.0, static_cast<double>(place) - 1);
}

std::optional<Weight> WeightFrom(const std::string& part) {
  const size_t equals = part.find('=');
  if (equals == std::string::npos || equals == 0) return {};
  const std::string value = part.substr(equals + 1);
  char* end = nullptr;
  Weight weight{CanonicalTres(part.substr(0, equals)), std::strtod(value.c_str(), &end)};
  const auto mebibytes = MebibytesOf(end);
  if (end == value.c_str() || !mebibytes || !std::isfinite(weight.each)) return {};
  if (weight.tres == "mem") weight.each /= *mebibytes;
  return weight;
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
  const size_t type = std::min(name.find(':'), name.size());  // types are case-sensitive
  return LowerCase(name.substr(0, type)) + std::string(name.substr(type));
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

std::optional<double> ComputeBilling(const std::string& weights, const TresCounts& tres,
                                     bool largest) {
  if (weights.empty()) return {};
  double sum = 0;
  double most = 0;
  for (size_t start = 0; start < weights.size();) {
    const size_t end = std::min(weights.find(',', start), weights.size());
    const auto weight = WeightFrom(weights.substr(start, end - start));
    start = end + 1;
    if (!weight) return {};
    const auto held = tres.find(weight->tres);
    if (held == tres.end()) continue;
    const double part = weight->each * static_cast<double>(held->second);
    sum += part;
    most = std::max(most, part);
  }
  return largest ? most : sum;
}

double UsagePerSecond(const TresCounts& tres, const Partition& partition, const Qos* qos,
                      const SchedulerConfig& config) {
  const auto cpus = tres.find("cpu");
  const auto billing =
      ComputeBilling(partition.billing_weights, tres, HasFlag(config.priority_flags, "MAX_TRES"));
  const double unweighted = cpus == tres.end() ? 0 : static_cast<double>(cpus->second);
  const double usage = billing.value_or(unweighted) * (qos != nullptr ? qos->usage_factor : 1);
  return usage > 0 ? std::min(usage, kMostPerSecond) : 0;
}

}  // namespace gpuadvise
