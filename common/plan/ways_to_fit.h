// What would make a training fit that fits no GPU.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/gpu/gpu_catalogue.h"
#include "common/models/model_presets.h"
#include "common/spec/train_spec.h"

namespace gpuadvise {

struct GpusOfOneJob {
  const GpuModel* gpu = nullptr;
  int64_t count = 1;  // in all
};

// One sentence for each of `places`, those with most memory first, at most two:
// "L40S × 4: one sample would fit with deepspeed: 3, then method: lora". None where a sample fits,
// where no change helps, or where the model's shape is not known.
std::vector<std::string> WaysToFit(const TrainSpec& spec, const ModelPresets& presets,
                                   const GpuCatalogue& catalogue, std::vector<GpusOfOneJob> places);

}  // namespace gpuadvise
