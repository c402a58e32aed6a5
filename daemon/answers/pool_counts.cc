#include "daemon/answers/pool_counts.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/scheduler/node_pool.h"

namespace gpuadvise::daemon {
namespace {

// The pools of one partition.
class PartitionPools {
 public:
  PartitionPools(const std::string& partition, std::vector<PoolCount>& all)
      : partition_(partition), all_(all) {}

  void Add(const Node& node, bool kept, GpuLabels& labels) {
    if (node.gpus.empty()) ++all_[IndexOf({})].nodes;
    std::vector<size_t> counted;  // two GRES types may be one card: the node counts once
    for (const GpuCount& gpus : node.gpus) {
      const size_t pool = IndexOf(labels.LabelOf(node, gpus.type));
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

std::vector<PoolCount> CountPools(const Snapshot& snapshot, const Visibility& seen,
                                  const KeptNodes& kept, GpuLabels& labels) {
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

namespace {

// The pools in order, found by partition and GPU id: strings of the snapshot and of the labels.
class Pools {
 public:
  api::QueuePool& PoolFor(const std::string& partition, const GpuLabel& gpu) {
    const auto [at, is_new] = index_.try_emplace({partition, gpu.id}, pools_.size());
    if (is_new) pools_.push_back({.partition = partition, .gpu = gpu.id, .gpu_name = gpu.name});
    return pools_[at->second];
  }

  std::vector<api::QueuePool> Take() && { return std::move(pools_); }

 private:
  std::vector<api::QueuePool> pools_;
  std::map<std::pair<std::string_view, std::string_view>, size_t> index_;
};

void Count(const Job& job, api::QueuePool& pool) {
  if (HoldsNodes(job)) {
    ++pool.running;
    pool.running_gpus += GpusOfJob(job);
  } else {
    ++pool.pending;
    pool.pending_gpus += GpusOfJob(job) * job.array_task_count;
  }
}

}  // namespace

std::vector<api::QueuePool> QueuePools(const Snapshot& snapshot, const Visibility& seen,
                                       GpuLabels& labels) {
  const std::vector<PoolCount> counts = CountPools(snapshot, seen, {}, labels);
  Pools pools;
  for (const PoolCount& count : counts) {
    if (count.gpu.id.empty()) continue;
    pools.PoolFor(count.partition, count.gpu).free = count.gpus.free + count.gpus.promised;
  }
  for (const Job& job : snapshot.jobs) {
    const GpuLabel& gpu = labels.FindJobLabel(job);
    for (const std::string& partition : job.request.partitions) {
      if (seen.IsVisible(partition)) Count(job, pools.PoolFor(partition, gpu));
    }
  }
  return std::move(pools).Take();
}

}  // namespace gpuadvise::daemon
