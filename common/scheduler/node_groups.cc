#include "common/scheduler/node_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <unordered_map>

namespace gpuadvise {
namespace {

int64_t CeilDiv(int64_t value, int64_t by) { return (value + by - 1) / by; }

// Key of all attributes equal within a group.
std::string KindOf(const PoolNode& node, const std::vector<size_t>& partitions) {
  std::string key =
      fmt::format("{} {} {} {} {} {} {} {} {} {} {} {}|", node.capacity.cpus,
                  node.capacity.memory_mib, node.capacity.shards, node.threads_per_core,
                  node.weight, node.usable, node.shards_are_mps, node.cpus_of_a_job,
                  node.limited_partition, node.capacity.part_cpus, node.boot_seconds, node.boots);
  for (size_t i = 0; i < node.gpu_types.size(); ++i) {
    key += fmt::format("{}:{},", node.gpu_types[i], node.capacity.gpus[i]);
  }
  for (const std::string& feature : node.features) key += "&" + feature;
  for (const ReservedWindow& window : node.reserved) {
    key += fmt::format("[{} {} {}]", window.start, window.end, window.reservation);
  }
  for (const ReservedPart& part : node.parts) {
    key += fmt::format("({} {} {} {} {} {}", part.start, part.end, part.reservation, part.held.cpus,
                       part.held.any_gpus, part.held.shards);
    for (const int32_t gpus : part.held.gpus) key += fmt::format(" {}", gpus);
    key += ')';
  }
  for (const size_t partition : partitions) key += fmt::format("/{}", partition);
  return key;
}

// Adds the GPUs of one need. Untyped GPUs on a node with several types could be any of them.
void AddGpus(const PoolNode& node, const GpuNeed& need, int64_t count, Resources& held) {
  const int slot = need.type >= 0 ? node.SlotOf(need.type) : node.gpu_types.size() == 1 ? 0 : -1;
  if (slot >= 0) held.gpus[static_cast<size_t>(slot)] += static_cast<int32_t>(count);
  held.any_gpus += static_cast<int32_t>(count);
  held.shards += count * node.shards_per_gpu;
}

// Resources held per node when the job runs on `nodes` nodes.
Resources HeldOn(const NodePool& pool, const PoolNode& node, const JobRequirements& requirements,
                 int64_t nodes) {
  if (requirements.whole_node) return node.capacity;
  Resources held;
  held.cpus = pool.WholeCores(node, requirements.cpus(CeilDiv(requirements.tasks, nodes)));
  if (requirements.partition >= 0 && requirements.partition == node.limited_partition) {
    held.part_cpus = static_cast<int32_t>(held.cpus);
  }
  if (requirements.whole_memory) {
    held.memory_mib = node.capacity.memory_mib;
  } else {
    held.memory_mib =
        std::max(requirements.memory_per_node_mib, requirements.memory_per_cpu_mib * held.cpus);
  }
  if (!pool.memory_is_counted()) held.memory_mib = 0;
  held.shards = node.shards_are_mps ? requirements.mps_per_node : requirements.shards_per_node;
  for (const GpuNeed& need : requirements.gpus_per_node) AddGpus(node, need, need.count, held);
  for (const GpuNeed& need : requirements.gpus_total) {
    AddGpus(node, need, CeilDiv(need.count, nodes), held);
  }
  return held;
}

// Fewest empty nodes on which the job fits.
int64_t NodesNeeded(const NodePool& pool, const JobRequirements& requirements) {
  for (int64_t nodes = requirements.nodes_min; nodes < requirements.nodes_max; ++nodes) {
    int64_t fit = 0;
    for (const int32_t index : *requirements.nodes) {
      const PoolNode& node = pool.nodes()[static_cast<size_t>(index)];
      if (Fits(HeldOn(pool, node, requirements, nodes), node.capacity) && ++fit >= nodes)
        return nodes;
    }
  }
  return requirements.nodes_max;
}

}  // namespace

Resources Times(const Resources& amount, int64_t count) {
  Resources times;
  times.cpus = amount.cpus * count;
  times.memory_mib = amount.memory_mib * count;
  times.shards = amount.shards * count;
  times.any_gpus = static_cast<int32_t>(amount.any_gpus * count);
  times.part_cpus = static_cast<int32_t>(amount.part_cpus * count);
  for (size_t i = 0; i < times.gpus.size(); ++i) {
    times.gpus[i] = static_cast<int32_t>(amount.gpus[i] * count);
  }
  return times;
}

int64_t NodesThatFit(const GroupDemand& demand, bool pooled, const Resources& free) {
  if (!pooled) return Fits(demand.each, free) ? 1 : 0;
  int64_t count = demand.most;
  const auto bound = [&](int64_t each, int64_t left) {
    if (each > 0) count = std::min(count, left > 0 ? left / each : 0);
  };
  bound(demand.each.cpus, free.cpus);
  bound(demand.each.memory_mib, free.memory_mib);
  bound(demand.each.shards, free.shards);
  bound(demand.each.any_gpus, free.any_gpus);
  bound(demand.each.part_cpus, free.part_cpus);
  for (size_t i = 0; i < free.gpus.size(); ++i) bound(demand.each.gpus[i], free.gpus[i]);
  return count;
}

Resources SetAside(const NodeGroup& group, int32_t own, int64_t from, int64_t duration) {
  const int64_t until = duration >= kNever ? kNever : from + duration;
  Resources aside;
  for (const ReservedPart& part : group.parts) {
    if (part.reservation != own && part.start < until && part.end > from) aside += part.held;
  }
  return Times(aside, static_cast<int64_t>(group.nodes.size()));
}

Resources SetAsideFor(const NodeGroup& group, int32_t own) {
  Resources aside;
  for (const ReservedPart& part : group.parts) {
    if (part.reservation == own) aside += part.held;
  }
  return Times(aside, static_cast<int64_t>(group.nodes.size()));
}

NodeGroups::NodeGroups(const NodePool& pool, const std::vector<std::vector<int32_t>>& members,
                       size_t pool_from) {
  std::vector<std::vector<size_t>> partitions(pool.nodes().size());
  for (size_t i = 0; i < members.size(); ++i) {
    for (const int32_t node : members[i]) partitions[static_cast<size_t>(node)].push_back(i);
  }
  std::unordered_map<std::string, std::vector<int32_t>> kinds;
  std::vector<std::string> kind_of;
  for (size_t i = 0; i < pool.nodes().size(); ++i) {
    kind_of.push_back(KindOf(pool.nodes()[i], partitions[i]));
    kinds[kind_of.back()].push_back(static_cast<int32_t>(i));
  }
  group_of_.assign(pool.nodes().size(), -1);
  for (size_t i = 0; i < pool.nodes().size(); ++i) {
    if (group_of_[i] >= 0) continue;
    const PoolNode& node = pool.nodes()[i];
    NodeGroup group;
    group.nodes = {static_cast<int32_t>(i)};
    const std::vector<int32_t>& alike = kinds[kind_of[i]];
    if (alike.size() >= pool_from) group.nodes = alike;
    group.each = node.capacity;
    group.capacity = Times(node.capacity, static_cast<int64_t>(group.nodes.size()));
    group.weight = node.weight;
    group.reserved = node.reserved;
    group.parts = node.parts;
    group.boot_seconds = node.boot_seconds;
    group.boots = node.boots;
    if (!group.parts.empty()) with_parts_.push_back(static_cast<int32_t>(groups_.size()));
    for (const int32_t each : group.nodes) {
      group_of_[static_cast<size_t>(each)] = static_cast<int32_t>(groups_.size());
    }
    groups_.push_back(std::move(group));
  }
}

GroupRequirements NodeGroups::SpreadOverGroups(const NodePool& pool,
                                               const JobRequirements& requirements) const {
  const int64_t nodes = NodesNeeded(pool, requirements);
  GroupRequirements on;
  on.nodes = nodes;
  on.reservation = requirements.reservation;
  const bool pinned = static_cast<int64_t>(requirements.required.size()) >= nodes;
  std::unordered_map<int32_t, size_t> index;
  for (const int32_t node : pinned ? requirements.required : *requirements.nodes) {
    const int32_t group = GroupOf(node);
    const auto [known, added] = index.try_emplace(group, on.demands.size());
    if (added) {
      on.demands.push_back(
          {group, 0, HeldOn(pool, pool.nodes()[static_cast<size_t>(node)], requirements, nodes),
           false});
    }
    GroupDemand& demand = on.demands[known->second];
    ++demand.most;
    demand.required = demand.required || std::binary_search(requirements.required.begin(),
                                                            requirements.required.end(), node);
  }
  std::sort(on.demands.begin(), on.demands.end(),
            [](const GroupDemand& a, const GroupDemand& b) { return a.group < b.group; });
  return on;
}

}  // namespace gpuadvise
