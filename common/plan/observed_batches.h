// Which micro-batches a training has been seen to run with, and to run out of memory with: from its
// `measured` lines, a person's and those of past runs. `advise`, `scale` and `fit` go by it alike.
// Pure.
#pragma once

#include <cstdint>
#include <string>

#include "common/gpu/gpu_catalogue.h"
#include "common/memory/batch_fit.h"
#include "common/memory/memory_model.h"
#include "common/spec/train_spec.h"

namespace gpuadvise {

struct ObservedBatches {
  int64_t ran = 0;                       // largest that ran; 0: none
  int64_t ran_out = kMaxMicroBatch + 1;  // smallest that ran out of memory
  std::string how_it_ran_out;            // "micro-batch 2 ran out of memory there"
};

// Share of the card by which a batch that ran may exceed it: the accuracy of computed memory
// (docs/models.md). A card too small for one sample is always rejected.
inline constexpr double kMemoryDoubt = 0.25;

// Whether the batch that ran is taken although `fits`, by count, is smaller: not on a card that one
// sample does not fit (`most`, without a margin, is 0), and not above `in_doubt`, the largest with
// kMemoryDoubt more memory.
inline bool IsTaken(const ObservedBatches& seen, int64_t fits, int64_t most, int64_t in_doubt) {
  return seen.ran > fits && most >= 1 && seen.ran <= in_doubt;
}

// What to do where a batch ran on a card that it does not fit, by count. `has_line`: memory is one.
std::string TimedAnyway(bool has_line);

// On `gpu` itself.
ObservedBatches BatchesSeenOn(const GpuModel& gpu, const TrainingSpec& training,
                              const TrainingSetup& setup, const GpuCatalogue& catalogue);

// If the model's memory is unknown, runs on other cards still bound it: what ran with no more
// memory runs here; what peaked above `gpu`'s memory, or failed with no less, does not.
ObservedBatches BatchesSeenAnywhere(const GpuModel& gpu, const TrainingSpec& training,
                                    const TrainingSetup& setup, const GpuCatalogue& catalogue);

}  // namespace gpuadvise
