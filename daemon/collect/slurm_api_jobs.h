// Jobs, from libslurm's structures.
#pragma once

#include <vector>

#include "common/base/error.h"
#include "common/slurm/snapshot.h"
#include "daemon/collect/slurm_compat.h"

namespace gpuadvise::collect {

// The jobs of `message` that have not ended, in its order. `nodes`: the cluster's.
// Errors: kUnavailable with the job of which this libslurm does not tell what it holds on each of
// its nodes.
Result<std::vector<Job>> JobsOf(const job_info_msg_t& message, const std::vector<Node>& nodes);

// Whether a job's resources make sense in the form that slurm_compat.h gives them: groups of equal
// nodes add up to the number of nodes, no more CPUs are counted than the nodes or `num_cpus` have,
// and groups of like nodes add up to all of its cores. Follows only pointers whose place never
// changed or that what was compared before has confirmed.
bool IsWhole(const slurm_compat::JobResources& resources, uint32_t num_cpus);

}  // namespace gpuadvise::collect
