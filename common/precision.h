// In which number format a model trains on a GPU.
#pragma once

#include <string>

#include "common/error.h"
#include "common/gpu_catalogue.h"
#include "common/train_spec.h"

namespace gpuadvise {

/// "bf16", "fp16" or "fp32": bf16 where the GPU has it and the spec does not say otherwise, else
/// fp16 where the model bears it (`fp16_is_safe`; T5 overflows), else fp32. Errors: kInfeasible
/// where bf16 is required and the GPU has none.
Result<std::string> PrecisionOn(const GpuModel& gpu, const TrainingSpec& training,
                                bool fp16_is_safe);

}  // namespace gpuadvise
