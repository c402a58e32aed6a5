// Converts GPU names typed by users to this cluster's GRES types.
#pragma once

#include "common/base/error.h"
#include "common/gpu/gpu_pool.h"
#include "common/slurm/snapshot.h"

namespace gpuadvise {

// `counts` with each type ("l40s") replaced by Slurm's ("gpul40s"); keeps Slurm's own spelling and
// untyped counts. Uses only pools of `partition` unless it is "". Errors: kNotFound for a name
// without a pool (lists those available), kBadInput for an ambiguous name.
Result<GpuCounts> ToSlurmTypes(const GpuCounts& counts, const std::string& partition,
                               const std::vector<GpuPool>& pools, const GpuCatalogue& catalogue);

}  // namespace gpuadvise
