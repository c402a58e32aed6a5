// Peak memory of one GPU in training, by part.
//
// Idea. The peak is the largest of three moments. At the start of the backward pass: weights,
// optimizer states, all kept activations and the logits, but only gradients left by earlier
// micro-batches. At its end: all gradients and one layer in work. In the optimizer step: weights,
// gradients, states and temporaries, but no activations. (In between, activations shrink as
// gradients grow, so no other moment is higher.)
//
// Each part is counted from shapes, in bytes:
// clang-format off
//   weights       4 a parameter (2 more for the copies of autocast), 2 in pure bf16 or where
//                 DeepSpeed keeps masters, 2 where frozen, less in 8 and 4 bits
//   states        by the optimizer (optimizer_bytes.h), and 4 for DeepSpeed's masters
//   activations   what autograd keeps (activations.h)
//   logits        likewise, by the kind of loss
//   workspace     the layer that is being worked on, gathered shards, DeepSpeed's buckets,
//                 temporaries of the optimizer
//   framework     CUDA context and libraries, and what the caching allocator cannot use
// clang-format on
// memory_constants.h has the constants that shapes do not give. docs/models.md compares the result
// with published measurements and states its limits.
#pragma once

#include <cstdint>
#include <limits>

#include "common/gpu/gpu_catalogue.h"
#include "common/memory/memory_constants.h"
#include "common/models/media_network.h"
#include "common/models/model_shape.h"
#include "common/spec/training_setup.h"

namespace gpuadvise {

// Bytes.
struct MemoryParts {
  double weights = 0;
  double gradients = 0;
  double optimizer = 0;
  double activations = 0;
  double logits = 0;
  double workspace = 0;
  double framework = 0;
  bool in_step = false;  // the peak is in the optimizer step, else in the backward pass

  double total() const {
    return weights + gradients + optimizer + activations + logits + workspace + framework;
  }
};

MemoryParts PeakMemory(const ModelShape& model, const TrainingSetup& setup,
                       const MemoryConstants& constants = kMemoryConstants);

// Bytes of the driver and of libraries, which PyTorch's allocator does not count: part of
// MemoryParts::framework.
double ContextBytes(const TrainingSetup& setup,
                    const MemoryConstants& constants = kMemoryConstants);

// Upper bound of the peak. Above the computed one where lengths vary (mean_seq_length below
// seq_length): blocks allocated for one batch's logits are too small for the next and stay
// reserved.
double HighestBytes(const MemoryParts& parts, const TrainingSetup& setup,
                    const MemoryConstants& constants = kMemoryConstants);

// Work of one image, video or audio sample; all 0 if `model` has no network for them.
SampleWork CountMediaWork(const ModelShape& model, const TrainingSetup& setup);

// Parameters updated by the optimizer.
double TrainedParameters(const ModelShape& model, const TrainingSetup& setup);

// Bytes that the optimizer step reads and writes per updated parameter: weights and states both
// ways, gradients once.
double StepTrafficBytes(const TrainingSetup& setup);

// Bytes of optimizer states and master weights per updated parameter, on any device.
double StateBytesPerParameter(const TrainingSetup& setup);

// Largest micro-batch with a peak of at most `bytes` and an upper bound of at most `highest`; 0:
// not even one. At most kMaxModelledBatch.
int64_t LargestMicroBatch(const ModelShape& model, TrainingSetup setup, double bytes,
                          double highest = std::numeric_limits<double>::infinity());
inline constexpr int64_t kMaxModelledBatch = 65'536;

// The setup of `training` on `gpu`, as SetupFrom. Automatic checkpointing is on if the micro-batch
// would be small without.
TrainingSetup SetupOn(const GpuModel& gpu, const ModelShape& model, const TrainingSpec& training,
                      Precision precision, int64_t gpus);

// Card memory visible to a program.
double UsableBytes(const GpuModel& gpu);

}  // namespace gpuadvise
