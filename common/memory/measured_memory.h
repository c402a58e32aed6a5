// Uses a training's `measured:` lines to correct computed memory. Pure.
#pragma once

#include <unordered_map>

#include "common/gpu/gpu_catalogue.h"
#include "common/memory/batch_fit.h"
#include "common/memory/memory_model.h"
#include "common/models/model_shape.h"
#include "common/spec/train_spec.h"

namespace gpuadvise {

// Errors: kBadInput (pointer below the stage's) if a line names an unknown GPU, or a peak above
// that GPU's memory.
Result<void> CheckMeasured(const Stage& stage, const GpuCatalogue& catalogue);

// The setup of `training` on `gpu`. With gradient_checkpointing: auto, as advised there (SetupOn),
// with checkpointing if a batch measured on this card would not fit without. Measurements are
// assumed to have run as advised: nothing else is known, and this way the model reproduces them.
TrainingSetup SetupGivenMeasured(const GpuModel& gpu, const ModelShape& model,
                                 const TrainingSpec& training, Precision precision, int64_t gpus,
                                 const GpuCatalogue& catalogue);

// The setup for each measured line of a training; per-card work is done once. REQUIRES: all inputs
// outlive it. Not for concurrent use.
class MeasuredSetups {
 public:
  MeasuredSetups(const ModelShape& model, const TrainingSpec& training, bool fp16_is_safe,
                 const GpuCatalogue& catalogue);

  // REQUIRES: `step` names `gpu`.
  TrainingSetup Of(const MeasuredStep& step, const GpuModel& gpu);

 private:
  const ModelShape& model_;
  const TrainingSpec& training_;
  const bool fp16_is_safe_;
  const GpuCatalogue& catalogue_;
  std::unordered_map<const GpuModel*, bool> checkpointed_;
};

// Whether the user's own runs say a peak.
bool HasOwnPeak(const TrainingSpec& training);

// Geometric mean of measured over computed peaks; 1 without measurements: `measured: [{gpu:
// rtx4090, batch: 2, peak: 21.3 GiB}]`. Scales what is computed for this job. Peaks from other
// users' runs can only increase it, so they never enlarge a batch.
double PeakCorrection(const ModelShape& model, const TrainingSpec& training, bool fp16_is_safe,
                      const GpuCatalogue& catalogue);

// `line` of `stage`'s model, scaled by the peaks of recorded runs only: a person who wrote both a
// line and a peak knows why they differ. No peak lowers a line that the user wrote.
MemoryLine CorrectedLine(const MemoryLine& line, const Stage& stage);

}  // namespace gpuadvise
