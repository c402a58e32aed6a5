// Resolves a request against one partition: eligible nodes, resources per node, duration and
// earliest start.
//
// Fills in defaults as Slurm does: memory and time limit of the partition, then of the cluster;
// without a default memory, all memory of the node. Time limits are whole minutes, CPUs whole
// cores. Node counts grow where tasks or GPUs cannot fit on fewer nodes. Pure functions over an
// immutable NodePool; safe from any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "common/base/error.h"
#include "common/scheduler/node_fit.h"
#include "common/scheduler/node_pool.h"
#include "common/slurm/snapshot.h"

namespace gpuadvise {

// Requirements of `request` in `partition`, whose nodes are `members` (indices in `pool`,
// ascending).
//
// Errors (kInfeasible, kNotFound, kBadInput) name the need that leaves too few nodes, and the
// available nodes, GPU types or limits.
Result<JobRequirements> ResolveRequirements(const NodePool& pool, const Snapshot& snapshot,
                                            const Partition& partition,
                                            const std::vector<int32_t>& members,
                                            const JobRequest& request);

// Sets duration, earliest, latest and reservation, which do not affect node eligibility. Errors:
// kNotFound for an unknown reservation, kInfeasible for one that is over.
Result<void> SetTimes(const NodePool& pool, const Snapshot& snapshot, const Partition& partition,
                      const JobRequest& request, JobRequirements& requirements);

}  // namespace gpuadvise
