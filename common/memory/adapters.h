// Linear layers with adapters. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/models/model_shape.h"
#include "common/spec/training_setup.h"

namespace gpuadvise {

// Whether adapters train `linear`; never in full training.
bool IsAdapted(const LinearLayer& linear, const TrainingSetup& setup);

// The first name in target_modules that is close to a linear layer's and matches none, with that
// layer: " 'q_porj' (did you mean 'q_proj'?)"; "": none. Names like no layer's may be modules that
// are not counted, such as a router.
std::string MistypedTarget(const ModelShape& model, const TrainingSetup& setup);

// Adapter parameters of all layers.
double AdapterParameters(const TransformerStack& stack, const TrainingSetup& setup);

// Whether the vision tower trains: whole, unless frozen, or by adapters if the file says that it is
// not frozen.
bool TrainsTower(const ModelShape& model, const TrainingSetup& setup);

// Adapter parameters of the decoder, the encoder and a tower that trains.
double TextAdapterParameters(const ModelShape& model, const TrainingSetup& setup);

// Parameters of lora.modules_to_save, which are fully trained in addition to the adapters.
double SavedModules(const ModelShape& model, const TrainingSetup& setup);

}  // namespace gpuadvise
