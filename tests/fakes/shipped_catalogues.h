// The shipped catalogue and presets, with the alias of seed_cluster.h, for tests of advice.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "common/gpu/gpu_naming.h"
#include "common/models/model_presets.h"

namespace gpuadvise {

const GpuNaming& ShippedGpus();
const ModelPresets& ShippedModels();
// The same before it is read: what the file itself says.
const nlohmann::json& ShippedModelsJson();

}  // namespace gpuadvise
