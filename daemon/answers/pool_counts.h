// GPUs by partition and type: the rows that `GET /v1/nodes` and `GET /v1/queue` have above their
// lists.
//
// Made for one request, O(nodes); lives no longer than its snapshot.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "common/api/queue.h"
#include "common/gpu/gpu_labels.h"
#include "common/slurm/snapshot.h"
#include "daemon/answers/node_use.h"
#include "daemon/answers/visibility.h"

namespace gpuadvise::daemon {

struct PoolCount {
  std::string partition;
  GpuLabel gpu;  // id "": the nodes without GPUs
  int64_t nodes = 0;
  GpuTally gpus;
};

// Nodes that a reservation holds now.
using KeptNodes = std::unordered_set<std::string_view>;
KeptNodes NodesKeptNow(const Snapshot& snapshot);

// One per partition that is seen × type, in the snapshot's order. A node with several types is in
// several; one in several partitions in each.
std::vector<PoolCount> CountPools(const Snapshot& snapshot, const Visibility& seen,
                                  const KeptNodes& kept, GpuLabels& labels);

// Who waits and who runs by partition and GPU type, the `pools` of `GET /v1/queue`: one row per
// partition that is seen × type, in the snapshot's order; rows of jobs without GPUs and of those
// that take any type only where there are such jobs. A job that waits for several partitions counts
// in each. O(nodes + jobs).
std::vector<api::QueuePool> QueuePools(const Snapshot& snapshot, const Visibility& seen,
                                       GpuLabels& labels);

}  // namespace gpuadvise::daemon
