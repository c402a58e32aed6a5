#include "common/gpu/gpu_types.h"

#include "common/gpu/gpu_pool.h"

namespace gpuadvise {
namespace {

// Partitions of each node, and separately the public ones.
struct InPartitions {
  std::vector<std::string> all;
  bool shown = false;
};

std::map<std::string, InPartitions> PartitionsByNode(const Snapshot& snapshot) {
  std::map<std::string, InPartitions> by_node;
  for (const Partition& partition : snapshot.partitions) {
    for (const std::string& node : partition.nodes) {
      InPartitions& in = by_node[node];
      in.all.push_back(partition.name);
      in.shown = in.shown || !(partition.hidden || partition.root_only);
    }
  }
  return by_node;
}

}  // namespace

GpuTypes::GpuTypes(const Snapshot& snapshot, const GpuNaming& naming) {
  std::map<std::string, InPartitions> partitions = PartitionsByNode(snapshot);
  for (const Node& node : snapshot.nodes) {
    const InPartitions& in = partitions[node.name];
    for (const GpuCount& gpus : node.gpus) {
      GpuPool pool;
      pool.model = naming.ModelOf(node, in.all, gpus.type);
      pool.gres_type = gpus.type;
      GpuType& type = types_[pool.Id()];
      type.id = pool.Id();
      type.name = pool.Name();
      type.installed += gpus.count;
      if (in.shown) type.total += gpus.count;
      if (!gpus.type.empty()) ids_[gpus.type] = type.id;
    }
  }
  for (auto& [id, type] : types_) type.hidden = type.installed > 0 && type.total == 0;
  if (types_.size() == 1) ids_[""] = types_.begin()->first;
}

GpuType GpuTypes::TypeOf(const std::string& gres) const {
  const auto known = ids_.find(gres);
  if (known != ids_.end()) return types_.at(known->second);
  const std::string id = gres.empty() ? "gpu" : gres;
  if (const auto named = types_.find(id); named != types_.end()) return named->second;
  return {id, gres.empty() ? "untyped GPU" : gres};
}

}  // namespace gpuadvise
