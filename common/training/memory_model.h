// Peak memory of one GPU in training, by part.
//
// Idea. Three moments decide. At the start of the backward pass there are weights, optimizer
// states, everything the forward pass has kept and the scores of the vocabulary, but of gradients
// only what earlier micro-batches have left; at its end all gradients and one layer at work; in the
// optimizer's step weights, gradients, states and temporaries, but no activations any more. The
// largest of the three is the peak. (In between activations go as gradients come, so that no other
// moment is higher.)
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
// Constants that no shape gives are in memory_constants.h.
// docs/models.md says how far that is from published measurements, and where it is wrong.
#pragma once

#include <cstdint>
#include <limits>

#include "common/gpu/gpu_catalogue.h"
#include "common/training/media_network.h"
#include "common/training/memory_constants.h"
#include "common/training/model_shape.h"
#include "common/training/training_setup.h"

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
  bool in_step = false;  // the peak is in the optimizer's step, else in the backward pass

  double total() const {
    return weights + gradients + optimizer + activations + logits + workspace + framework;
  }
};

MemoryParts PeakMemory(const ModelShape& model, const TrainingSetup& setup,
                       const MemoryConstants& constants = kMemoryConstants);

// What the caching allocator reserves beyond what is in use, as a share of it.
double FragmentationShare(const TrainingSetup& setup,
                          const MemoryConstants& constants = kMemoryConstants);

// Upper end of what a peak of these parts may take: more than the count where lengths vary
// (mean_seq_length below seq_length), because blocks that were made for the scores of one batch are
// too short for those of the next, and wait beside them.
double HighestBytes(const MemoryParts& parts, const TrainingSetup& setup,
                    const MemoryConstants& constants = kMemoryConstants);

// Of one sample that is a picture, a film or sound; all 0 where `model` has no network for them.
SampleWork MediaWorkOf(const ModelShape& model, const TrainingSetup& setup);

// Parameters that an optimizer updates.
double TrainedParameters(const ModelShape& model, const TrainingSetup& setup);

// Bytes that the optimizer's step reads and writes for each parameter that it updates: weights and
// states both ways, gradients once.
double StepTrafficBytes(const TrainingSetup& setup);

// Bytes of optimizer states and master weights for each parameter that it updates, on whichever
// device they are kept.
double StateBytesPerParameter(const TrainingSetup& setup);

// The largest micro-batch whose peak is at most `bytes`, and whose upper end is at most `highest`;
// 0: not even one. At most kMostModelledBatch.
int64_t LargestMicroBatch(const ModelShape& model, TrainingSetup setup, double bytes,
                          double highest = std::numeric_limits<double>::infinity());
inline constexpr int64_t kMostModelledBatch = 65'536;

// How `training` runs on `gpu`: as SetupFrom has it, and auto is checkpointing where the
// micro-batch, with the share `margin` of the card left free, would be small without.
TrainingSetup SetupOn(const GpuModel& gpu, const ModelShape& model, const TrainingSpec& training,
                      Precision precision, int64_t gpus, double margin);

// Of a card's memory, what a program sees of it.
double UsableBytes(const GpuModel& gpu);

}  // namespace gpuadvise
