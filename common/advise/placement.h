// Where a training job could run: GPU type × GPUs per node × nodes × partition × QOS.
//
// Enumerated from the snapshot before anything is computed, so that each way is either tried or has
// a reason why not. What the caller fixed (constraints) is kept; what the spec allows is a filter.
// Counts tried: 1, 2, 4, …, half a node and the whole node; several nodes only with whole nodes.
// A fixed total is tried on one node, or on as many whole nodes as have it.
// MIG slices have no peer-to-peer, so they are tried one at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/forecast/start_of.h"
#include "common/gpu/gpu_pool.h"
#include "common/spec/train_spec.h"

namespace gpuadvise {

// What flags of the caller fix; each wins over the spec's own key.
struct Constraints {
  std::string partition, account, qos, constraint, exclude, nodelist;
  std::optional<int64_t> time_limit_seconds;
  int64_t time_min_seconds = 0;  // no limit below it is advised; 0: not given
  std::optional<int64_t> gpus_per_node;
  std::optional<int64_t> nodes;
  std::optional<int64_t> gpus_total;  // on all nodes
  std::vector<std::string> gpus;      // accepted names
};

struct Placement {
  const GpuPool* pool = nullptr;
  int64_t gpus_per_node = 1;
  int64_t nodes = 1;
  int64_t cpus_per_node = 1;
  std::optional<int64_t> memory_per_node_mib;  // nullopt: Slurm's default
  std::vector<std::string> qos;                // to try, the caller's default ("" too) first
  PoolSelector selector;
};

// A way that was considered and cannot be.
struct Rejection {
  const GpuPool* pool = nullptr;
  int64_t gpus_per_node = 0;
  int64_t nodes = 1;
  std::vector<std::string> reasons;
};

struct Placements {
  std::vector<Placement> possible;
  std::vector<Rejection> rejected;
};

// All placements of `spec` under `constraints` for `caller`. `pools` must outlive the result.
// Errors: kBadInput for a GPU name or partition that the cluster does not have, for more GPUs or
// nodes than exist; pointers are relative to the request ("/spec/resources/gpus/0").
Result<Placements> FindPlacements(const TrainSpec& spec, const Constraints& constraints,
                                  const Snapshot& snapshot, const std::vector<GpuPool>& pools,
                                  const GpuCatalogue& catalogue, const Submitter& caller);

}  // namespace gpuadvise
