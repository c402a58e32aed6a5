// The micro-batch for the GPUs that a job actually got, and what to try after a training ran out of
// memory.
//
// A card counts with the memory that the driver reports if that is clearly below the nominal size
// (a MIG slice, an unusual variant). If the node's cards differ, the smallest counts. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/gpu/gpu_catalogue.h"
#include "common/models/model_presets.h"
#include "common/spec/train_spec.h"

namespace gpuadvise::client {

struct Batch {
  int64_t micro_batch = 1;
  int64_t accumulation = 1;
};

// The GPUs of this process on this node, as reported by the driver.
struct GpusHere {
  std::vector<std::string> names;     // "NVIDIA L40S"
  std::vector<int64_t> memory_bytes;  // parallel to names; 0: not known
  int64_t nodes = 1;                  // of the job, assumed equal
};

// The card with the driver's name `name`; if several match, the one with memory nearest to
// `memory_bytes` (0: unknown). nullptr: not in the catalogue.
const GpuModel* CardNamed(const std::string& name, int64_t memory_bytes,
                          const GpuCatalogue& catalogue);

// The batch of `spec` on `here` with the same effective batch. Errors: kNotFound for unknown cards,
// kInfeasible if nothing fits, kBadInput (pointer into the spec) if the spec does not determine its
// memory or has several stages.
Result<Batch> BatchForGpus(const TrainSpec& spec, const ModelPresets& presets,
                           const GpuCatalogue& catalogue, const GpusHere& here);

// At most half the micro-batch, with more accumulation and exactly the same product; nullopt at a
// micro-batch of 1. REQUIRES: both at least 1.
std::optional<Batch> SmallerBatch(const Batch& batch);

// Advice for a training that ran out of memory with a batch of 1: other savings, least harmful
// first. None is applied automatically.
std::string NextOfTheLadder();

}  // namespace gpuadvise::client
