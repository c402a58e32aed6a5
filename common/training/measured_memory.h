// What the `measured:` lines of a training say about what is counted for it. Pure.
#pragma once

#include <unordered_map>

#include "common/gpu/gpu_catalogue.h"
#include "common/training/batch_fit.h"
#include "common/training/memory_model.h"
#include "common/training/model_shape.h"
#include "common/training/train_spec.h"

namespace gpuadvise {

// Errors: kBadInput (pointer below the stage's) where a line names no GPU that is known, or a peak
// that its GPU does not have.
Result<void> CheckMeasured(const Stage& stage, const GpuCatalogue& catalogue);

// How `training` runs on `gpu`. With gradient_checkpointing: auto as it would be advised there
// (SetupOn), and with checkpointing where a batch that was measured on this card does not fit
// without. What was measured on a card ran as it would be advised there: nothing else is known of
// it, and only so a card gives back what it has shown.
TrainingSetup SetupGivenMeasured(const GpuModel& gpu, const ModelShape& model,
                                 const TrainingSpec& training, Precision precision, int64_t gpus,
                                 const GpuCatalogue& catalogue);

// The same where each line of a training was measured; what all lines say of a card is found once.
// REQUIRES: what it is made of outlives it. Not for concurrent use.
class SetupsOfMeasured {
 public:
  SetupsOfMeasured(const ModelShape& model, const TrainingSpec& training, bool fp16_is_safe,
                   const GpuCatalogue& catalogue);

  // REQUIRES: `gpu` is the one that `step` names.
  TrainingSetup Of(const MeasuredStep& step, const GpuModel& gpu);

 private:
  const ModelShape& model_;
  const TrainingSpec& training_;
  const bool fp16_is_safe_;
  const GpuCatalogue& catalogue_;
  std::unordered_map<const GpuModel*, bool> checkpointed_;
};

// Measured peaks over counted ones (geometric mean; 1 where nothing was measured): `measured:
// [{gpu: rtx4090, batch: 2, peak: 21.3 GiB}]`. What is counted for this job is scaled by it. Peaks
// of other users' runs only make it larger: on their word nobody's batch grows.
double PeakCorrection(const ModelShape& model, const TrainingSpec& training, bool fp16_is_safe,
                      const GpuCatalogue& catalogue);

// The same for a memory line, by the peaks of runs alone: a person who wrote both a line and a
// peak knows why they differ. `own_line`: this user wrote the line; no peak makes it smaller.
double PeakCorrection(const MemoryLine& line, const TrainingSpec& training, bool own_line);

}  // namespace gpuadvise
