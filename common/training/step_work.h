// What a GPU does for one micro-batch, forward and back: operations of matrices and bytes moved,
// counted from shapes. Pure.
#pragma once

#include "common/training/model_shape.h"
#include "common/training/step_time_constants.h"
#include "common/training/training_setup.h"

namespace gpuadvise {

struct MicroBatchWork {
  double layer_operations = 0;      // of products in layers, which fp8 makes faster
  double idle_operations = 0;       // that processors miss in the last wave of a product's tiles
  double attention_operations = 0;  // in fused kernels, or in products without them
  double head_operations = 0;
  double bytes = 0;
  double unpacked_bytes = 0;  // of 4- and 8-bit weights, kernel after kernel
};

MicroBatchWork WorkOfMicroBatch(const ModelShape& model, const TrainingSetup& setup,
                                const StepTimeConstants& constants);

// Bytes of a layer's weight as it is sent or fetched.
double WeightBytes(const TrainingSetup& setup);

// Parameters in layers, embeddings aside.
double LinearParameters(const ModelShape& model);

// GPUs that share the weights of one model: tensor × pipeline parallelism.
double ModelParallel(const TrainingSetup& setup);

// Tokens of a row that the layers work on, images included: the mean length where it is known.
int64_t TokensOfRow(const ModelShape& model, const TrainingSetup& setup);

}  // namespace gpuadvise
