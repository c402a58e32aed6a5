// What a training's setup means for a network over pictures, films or sound: the one place where
// the models of memory and of step time meet it. Pure.
#pragma once

#include "common/training/media_network.h"
#include "common/training/memory_model.h"
#include "common/training/model_shape.h"

namespace gpuadvise {

// Of one sample; all 0 where `model` has no such network.
SampleWork MediaWorkOf(const ModelShape& model, const TrainingSetup& setup);

// Bytes of all samples of a micro-batch.
struct MediaActivations {
  double kept = 0;
  double at_work = 0;  // besides, while a block is computed again or latents are made
};
MediaActivations MediaActivationsOf(const SampleWork& sample, const TrainingSetup& setup);

}  // namespace gpuadvise
