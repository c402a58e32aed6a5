// What to try after a training ran out of memory. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace gpuadvise {

struct Batch {
  int64_t micro_batch = 1;
  int64_t accumulation = 1;
};

/// Half the micro-batch or less with as much more accumulation, the product kept exactly; nullopt
/// at a micro-batch of 1. REQUIRES: both at least 1.
std::optional<Batch> SmallerBatch(const Batch& batch);

/// What else would help, in the order of harm, for a training that ran out with a batch of 1: only
/// ever said, never done.
std::string NextOfTheLadder();

}  // namespace gpuadvise
