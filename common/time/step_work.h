// Work of a GPU for one micro-batch, forward and back: matrix operations and bytes moved, counted
// from shapes. Pure.
#pragma once

#include "common/models/model_shape.h"
#include "common/spec/training_setup.h"
#include "common/time/step_time_constants.h"

namespace gpuadvise {

struct MicroBatchWork {
  double layer_operations = 0;      // matrix products in layers, faster in fp8
  double idle_operations = 0;       // capacity lost in the last wave of a product's tiles
  double attention_operations = 0;  // in fused kernels, or in products without them
  double head_operations = 0;
  double bytes = 0;
  double unpacked_bytes = 0;  // unpacking of 4- and 8-bit weights
};

MicroBatchWork CountMicroBatchWork(const ModelShape& model, const TrainingSetup& setup,
                                   const StepTimeConstants& constants);

// Bytes of a layer's weight as sent or fetched.
double WeightBytes(const TrainingSetup& setup);

// Parameters in layers, without embeddings.
double LinearParameters(const ModelShape& model);

// GPUs that share one model's weights: tensor × pipeline parallelism.
double ModelParallel(const TrainingSetup& setup);

// Tokens per row processed by the layers, including images; the mean length if known.
int64_t CountRowTokens(const ModelShape& model, const TrainingSetup& setup);

}  // namespace gpuadvise
