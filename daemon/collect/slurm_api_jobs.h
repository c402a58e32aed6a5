// Jobs from libslurm's structures.
#pragma once

#include <vector>

#include "common/base/error.h"
#include "common/slurm/snapshot.h"
#include "daemon/collect/slurm_compat.h"

namespace gpuadvise::collect {

// The jobs of `message` that have not ended, in its order. `nodes`: all nodes of the cluster.
// Errors: kUnavailable with the job if this libslurm does not give its resources on each node.
Result<std::vector<Job>> JobsOf(const job_info_msg_t& message, const std::vector<Node>& nodes);

// Whether a job's resources are consistent in the layout of slurm_compat.h: groups of equal nodes
// add up to the number of nodes, CPUs do not exceed those of the nodes or `num_cpus`, and groups of
// like nodes add up to all its cores. Follows only pointers whose offset never changed or that
// earlier checks confirmed.
bool IsWhole(const slurm_compat::JobResources& resources, uint32_t num_cpus);

}  // namespace gpuadvise::collect
