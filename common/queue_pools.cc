#include "common/queue_pools.h"

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/node_pool.h"
#include "common/pool_counts.h"

namespace gpuadvise {

using nlohmann::json;

namespace {

struct QueuePool {
  std::string partition;
  GpuLabel gpu;
  int64_t free = 0;
  int64_t pending = 0;
  int64_t pending_gpus = 0;
  int64_t running = 0;
  int64_t running_gpus = 0;
};

/// The pools in order, found by partition and GPU id: strings of the snapshot and of the labels.
class Pools {
 public:
  QueuePool& Of(const std::string& partition, const GpuLabel& gpu) {
    const auto [at, is_new] = index_.try_emplace({partition, gpu.id}, pools_.size());
    if (is_new) pools_.push_back({partition, gpu});
    return pools_[at->second];
  }

  const std::vector<QueuePool>& pools() const { return pools_; }

 private:
  std::vector<QueuePool> pools_;
  std::map<std::pair<std::string_view, std::string_view>, size_t> index_;
};

void Count(const Job& job, QueuePool& pool) {
  if (HoldsNodes(job)) {
    ++pool.running;
    pool.running_gpus += GpusOfJob(job);
  } else {
    ++pool.pending;
    pool.pending_gpus += GpusOfJob(job) * job.array_task_count;
  }
}

json RowOf(const QueuePool& pool) {
  return {{"partition", pool.partition},       {"gpu", pool.gpu.id},
          {"gpu_name", pool.gpu.name},         {"pending", pool.pending},
          {"pending_gpus", pool.pending_gpus}, {"running", pool.running},
          {"running_gpus", pool.running_gpus}, {"free", pool.free}};
}

}  // namespace

json QueuePools(const Snapshot& snapshot, const Seen& seen, GpuLabels& labels) {
  const std::vector<PoolCount> counts = CountPools(snapshot, seen, {}, labels);
  Pools pools;
  for (const PoolCount& count : counts) {
    if (count.gpu.id.empty()) continue;
    pools.Of(count.partition, count.gpu).free = count.gpus.free + count.gpus.promised;
  }
  for (const Job& job : snapshot.jobs) {
    const GpuLabel& gpu = labels.OfJob(job);
    for (const std::string& partition : job.request.partitions) {
      if (seen.SeesNamed(partition)) Count(job, pools.Of(partition, gpu));
    }
  }
  json rows = json::array();
  for (const QueuePool& pool : pools.pools()) rows.push_back(RowOf(pool));
  return rows;
}

}  // namespace gpuadvise
