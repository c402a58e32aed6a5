// `gpuadvise run --fit FILE`: the batch of a training file on the GPUs of this node.
#pragma once

#include <string>

#include "client/commands.h"
#include "client/run/batch_for_gpu.h"
#include "client/run/gpu_sampler.h"

namespace gpuadvise {

/// The batch of the file on the GPUs that `sampler` (nullptr: no driver) sees, times `nodes`.
/// Nothing but the file and the built-in catalogues is asked. Errors: sentences that start with the
/// file and its line, or say what is wrong with the GPUs.
Result<Batch> BatchHere(const std::string& file, const std::string& section, GpuSampler* sampler,
                        int64_t nodes, int64_t now);

}  // namespace gpuadvise
