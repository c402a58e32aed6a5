// GPUs by partition and type: the rows that `GET /v1/nodes` and `GET /v1/queue` have above their
// lists.
//
// Made for one request, O(nodes); lives no longer than its snapshot.
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "common/gpu_labels.h"
#include "common/node_use.h"
#include "common/seen.h"
#include "common/snapshot.h"

namespace gpuadvise {

struct PoolCount {
  std::string partition;
  GpuLabel gpu;  // id "": the nodes without GPUs
  int64_t nodes = 0;
  GpuTally gpus;
};

/// Nodes that a reservation holds now.
using KeptNodes = std::unordered_set<std::string_view>;
KeptNodes NodesKeptNow(const Snapshot& snapshot);

/// One per partition that is seen × type, in the snapshot's order. A node with several types is in
/// several; one in several partitions in each.
std::vector<PoolCount> CountPools(const Snapshot& snapshot, const Seen& seen, const KeptNodes& kept,
                                  GpuLabels& labels);

}  // namespace gpuadvise
