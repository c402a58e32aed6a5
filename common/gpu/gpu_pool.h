// GPUs of one kind in one partition: candidates for placement, and rows of `gpus`.
//
// Valid while the snapshot and the naming live. Counts are whole GPUs.
#pragma once

#include <string>
#include <vector>

#include "common/gpu/gpu_naming.h"
#include "common/slurm/snapshot.h"

namespace gpuadvise {

struct GpuPool {
  const Partition* partition = nullptr;
  const GpuModel* model = nullptr;  // nullptr: unknown GRES type
  std::string gres_type;            // Slurm's; "" untyped
  std::vector<const Node*> nodes;   // all with such GPUs
  std::vector<const Node*> usable;  // usable now or later
  int64_t gpus_per_node = 0;        // maximum over usable nodes (over all nodes if none is usable)
  int64_t total = 0;
  int64_t usable_gpus = 0;
  Interconnect interconnect;  // as the site describes it
  int64_t free_gpus = 0;      // on nodes that also have a CPU and memory free for a small job

  // "RTX 4090", or the GRES type where the model is unknown.
  std::string Name() const;
  // The catalogue's id, or the GRES type.
  std::string Id() const;
};

// One pool per partition × GRES type × model, in order of partitions and types. Omits hidden and
// root-only partitions.
std::vector<GpuPool> FindGpuPools(const Snapshot& snapshot, const GpuNaming& naming);

// GPUs of `type` on `node` that are split into shards in use. With several types, the split ones
// are unknown: counted in order of types.
int64_t CountShardedGpus(const Node& node, const std::string& type);

// Whole GPUs of `type` on `node` available now to a job with one CPU and little memory; none in
// maintenance.
int64_t CountFreeGpus(const Node& node, const std::string& type);

// What restricts an untyped request ("gpu:4" means any GPU, also typed ones) to this pool: a
// feature shared by all its nodes and no other GPU node of the partition, or else the other nodes'
// names.
struct PoolSelector {
  std::string constraint;            // for -C; "" none needed
  std::vector<std::string> exclude;  // for --exclude
};
PoolSelector MakeSelector(const GpuPool& pool, const std::vector<GpuPool>& pools);

}  // namespace gpuadvise
