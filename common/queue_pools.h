// Who waits and who runs by partition and GPU type: the `pools` of `GET /v1/queue`.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "common/gpu_labels.h"
#include "common/seen.h"
#include "common/snapshot.h"

namespace gpuadvise {

/// One row per partition that is seen × type, in the snapshot's order; rows of jobs without GPUs
/// and of those that take any type only where there are such jobs. A job that waits for several
/// partitions counts in each. O(nodes + jobs).
nlohmann::json QueuePools(const Snapshot& snapshot, const Seen& seen, GpuLabels& labels);

}  // namespace gpuadvise
