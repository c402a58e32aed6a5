// The micro-batch for the GPUs that a job really got, when it could have got several kinds.
//
// A card counts by what the driver reports where that is clearly less than what is sold under its
// name (a MIG slice, an unusual variant). Where the node's cards differ, the smallest counts.
// Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "client/run/smaller_batch.h"
#include "common/error.h"
#include "common/gpu_catalogue.h"
#include "common/model_presets.h"
#include "common/train_spec.h"

namespace gpuadvise {

/// The GPUs of this process on this node, as the driver says.
struct GpusHere {
  std::vector<std::string> names;     // "NVIDIA L40S"
  std::vector<int64_t> memory_bytes;  // parallel to names; 0: not known
  int64_t nodes = 1;                  // of the job, taken as equal
};

/// The batch of `spec` on `here`, its effective batch kept. Errors: kNotFound for cards that the
/// catalogue does not know, kInfeasible where nothing fits, kBadInput (pointer into the spec) where
/// the spec does not say what memory it takes, or has several stages.
Result<Batch> BatchForGpus(const TrainSpec& spec, const ModelPresets& presets,
                           const GpuCatalogue& catalogue, const GpusHere& here);

}  // namespace gpuadvise
