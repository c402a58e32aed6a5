#include "common/pool_counts.h"

#include <algorithm>

namespace gpuadvise {
namespace {

/// The pools of one partition.
class PartitionPools {
 public:
  PartitionPools(const std::string& partition, std::vector<PoolCount>& all)
      : partition_(partition), all_(all) {}

  void Add(const Node& node, bool kept, GpuLabels& labels) {
    if (node.gpus.empty()) ++all_[IndexOf({})].nodes;
    std::vector<size_t> counted;  // two GRES types may be one card: the node counts once
    for (const GpuCount& gpus : node.gpus) {
      const size_t pool = IndexOf(labels.Of(node, gpus.type));
      all_[pool].gpus += GpuTallyOf(node, gpus.type, kept);
      if (std::find(counted.begin(), counted.end(), pool) != counted.end()) continue;
      ++all_[pool].nodes;
      counted.push_back(pool);
    }
  }

 private:
  size_t IndexOf(const GpuLabel& label) {
    const auto [at, is_new] = index_.try_emplace(label.id, all_.size());
    if (is_new) all_.push_back({partition_, label, 0, {}});
    return at->second;
  }

  const std::string& partition_;
  std::vector<PoolCount>& all_;
  std::unordered_map<std::string, size_t> index_;  // by id
};

}  // namespace

KeptNodes NodesKeptNow(const Snapshot& snapshot) {
  KeptNodes kept;
  for (const Reservation& reservation : snapshot.reservations) {
    const UnixSeconds now = snapshot.taken_at;
    if (reservation.start_time.value_or(now) > now) continue;
    if (reservation.end_time && *reservation.end_time <= now) continue;
    kept.insert(reservation.nodes.begin(), reservation.nodes.end());
  }
  return kept;
}

std::vector<PoolCount> CountPools(const Snapshot& snapshot, const Seen& seen, const KeptNodes& kept,
                                  GpuLabels& labels) {
  std::vector<PoolCount> all;
  for (const Partition& partition : snapshot.partitions) {
    if (!seen.Sees(partition)) continue;
    PartitionPools pools(partition.name, all);
    for (const std::string& name : partition.nodes) {
      const Node* node = labels.FindNode(name);
      if (node != nullptr) pools.Add(*node, kept.contains(name), labels);
    }
  }
  return all;
}

}  // namespace gpuadvise
