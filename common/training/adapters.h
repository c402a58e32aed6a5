// Which linear layers of a model have adapters. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/training/model_shape.h"
#include "common/training/training_setup.h"

namespace gpuadvise {

// Whether `linear` is trained by adapters; never in full training.
bool IsAdapted(const LinearLayer& linear, const TrainingSetup& setup);

// Parameters of the adapters of all layers.
double AdapterParameters(const TransformerStack& stack, const TrainingSetup& setup);

// Parameters of lora.modules_to_save, which are trained whole beside the adapters.
double SavedModules(const ModelShape& model, const TrainingSetup& setup);

}  // namespace gpuadvise
