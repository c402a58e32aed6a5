// The shipped catalogue and presets, with the founding cluster's alias, for tests of advice.
#pragma once

#include "common/gpu_naming.h"
#include "common/model_presets.h"

namespace gpuadvise {

const GpuNaming& ShippedGpus();
const ModelPresets& ShippedModels();

}  // namespace gpuadvise
