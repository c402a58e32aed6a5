#include "common/gpu/gpu_pool.h"

#include <algorithm>
#include <map>
#include <set>

#include "common/slurm/gres.h"
#include "common/slurm/node_state.h"

namespace gpuadvise {
namespace {

using PartitionsOfNode = std::map<std::string, std::vector<std::string>>;

PartitionsOfNode IndexPartitions(const Snapshot& snapshot) {
  PartitionsOfNode index;
  for (const Partition& partition : snapshot.partitions) {
    for (const std::string& node : partition.nodes) index[node].push_back(partition.name);
  }
  return index;
}

void AddNode(const Node& node, const GpuCount& gpus, GpuPool& pool) {
  pool.nodes.push_back(&node);
  pool.total += gpus.count;
  if (!IsUsable(node.state)) return;
  pool.usable.push_back(&node);
  pool.usable_gpus += gpus.count;
  pool.free_gpus += CountFreeGpus(node, gpus.type);
}

void FinishPool(GpuPool& pool) {
  const std::vector<const Node*>& nodes = pool.usable.empty() ? pool.nodes : pool.usable;
  for (const Node* node : nodes) {
    pool.gpus_per_node = std::max(pool.gpus_per_node, GpusOfType(node->gpus, pool.gres_type));
  }
}

bool HasFeature(const Node& node, const std::string& feature) {
  return std::find(node.features.begin(), node.features.end(), feature) != node.features.end();
}

bool AllHave(const std::vector<const Node*>& nodes, const std::string& feature) {
  return std::all_of(nodes.begin(), nodes.end(),
                     [&](const Node* node) { return HasFeature(*node, feature); });
}

bool AnyHas(const std::vector<const Node*>& nodes, const std::string& feature) {
  return std::any_of(nodes.begin(), nodes.end(),
                     [&](const Node* node) { return HasFeature(*node, feature); });
}

// A job may get nodes of either kind, so the slower rate counts.
Interconnect SlowestOf(const Interconnect& a, const Interconnect& b) {
  return {std::min(a.link_gb_per_s, b.link_gb_per_s),
          std::min(a.network_gb_per_s, b.network_gb_per_s)};
}

// GPUs needed for `used` of the node's `all` shards or MPS.
int64_t GpusThatHold(int64_t used, int64_t all, const Node& node) {
  const int64_t per_gpu = all / std::max<int64_t>(TotalGpus(node.gpus), 1);
  return per_gpu <= 0 ? 0 : std::max<int64_t>(0, used + per_gpu - 1) / per_gpu;
}

}  // namespace

std::string GpuPool::Name() const {
  if (model != nullptr) return model->display_name;
  return gres_type.empty() ? "untyped GPU" : gres_type;
}

std::string GpuPool::Id() const {
  if (model != nullptr) return model->id;
  return gres_type.empty() ? "gpu" : gres_type;
}

int64_t CountShardedGpus(const Node& node, const std::string& type) {
  int64_t cut = GpusThatHold(node.shards_allocated, node.shards, node) +
                GpusThatHold(node.mps_allocated, node.mps, node);
  for (const GpuCount& gpus : node.gpus) {
    const int64_t whole = gpus.count - GpusOfType(node.gpus_allocated, gpus.type);
    const int64_t here = std::clamp<int64_t>(whole, 0, cut);
    if (gpus.type == type) return here;
    cut -= here;
  }
  return 0;
}

int64_t CountFreeGpus(const Node& node, const std::string& type) {
  bool takes_work = IsUsable(node.state) && !node.state.Has(NodeFlag::kMaintenance) &&
                    node.cpus_allocated < node.cpus && node.memory_allocated_mib < node.memory_mib;
  if (!takes_work) return 0;
  return std::max<int64_t>(0, GpusOfType(node.gpus, type) - GpusOfType(node.gpus_allocated, type) -
                                  CountShardedGpus(node, type));
}

std::vector<GpuPool> FindGpuPools(const Snapshot& snapshot, const GpuNaming& naming) {
  std::map<std::string, const Node*> node_of;
  for (const Node& node : snapshot.nodes) node_of[node.name] = &node;
  const PartitionsOfNode partitions_of = IndexPartitions(snapshot);
  std::vector<GpuPool> pools;
  for (const Partition& partition : snapshot.partitions) {
    if (partition.hidden || partition.root_only) continue;
    std::map<std::pair<std::string, const GpuModel*>, size_t> place;
    for (const std::string& name : partition.nodes) {
      auto found = node_of.find(name);
      if (found == node_of.end()) continue;
      for (const GpuCount& gpus : found->second->gpus) {
        const GpuModel* model = naming.ModelOf(*found->second, partitions_of.at(name), gpus.type);
        auto [entry, is_new] = place.try_emplace({gpus.type, model}, pools.size());
        const Interconnect reach = naming.FindInterconnect(*found->second, partitions_of.at(name));
        if (is_new) {
          pools.push_back({.partition = &partition,
                           .model = model,
                           .gres_type = gpus.type,
                           .nodes = {},
                           .usable = {},
                           .interconnect = reach});
        } else {
          pools[entry->second].interconnect = SlowestOf(pools[entry->second].interconnect, reach);
        }
        AddNode(*found->second, gpus, pools[entry->second]);
      }
    }
  }
  for (GpuPool& pool : pools) FinishPool(pool);
  return pools;
}

PoolSelector MakeSelector(const GpuPool& pool, const std::vector<GpuPool>& pools) {
  PoolSelector selector;
  if (!pool.gres_type.empty()) return selector;
  std::vector<const Node*> others;
  for (const GpuPool& other : pools) {
    if (other.partition != pool.partition || other.model == pool.model) continue;
    others.insert(others.end(), other.nodes.begin(), other.nodes.end());
  }
  if (others.empty()) return selector;
  for (const std::string& feature : pool.nodes.front()->features) {
    if (!AllHave(pool.nodes, feature) || AnyHas(others, feature)) continue;
    selector.constraint = feature;
    return selector;
  }
  for (const Node* node : others) selector.exclude.push_back(node->name);
  return selector;
}

}  // namespace gpuadvise
