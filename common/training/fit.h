// What of a training file fits on which GPU, with how much memory for what: one row for each stage
// and GPU, as values. `gpuadvise fit` writes them as JSON (answer_fit.h), its tips look at them
// (fit_tips.h).
//
// Pure; everything about the cluster is the caller's to find out. Sizes are bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/base/work_budget.h"
#include "common/gpu/gpu_catalogue.h"
#include "common/training/batch_fit.h"
#include "common/training/memory_model.h"
#include "common/training/model_presets.h"
#include "common/training/train_spec.h"

namespace gpuadvise {

struct FitQuestion {
  const TrainSpec& spec;
  const ModelPresets& presets;
  const GpuCatalogue& catalogue;
  std::vector<const GpuModel*> gpus;   // a row each
  int64_t gpus_in_all = 1;             // that one job has
  std::optional<int64_t> micro_batch;  // show this one instead of the recommended
  bool tips = false;                   // with all tips, for the first of `gpus`
  WorkBudget* budget = nullptr;        // of the answer; nullptr: no end
};

// Something that could be asked for less.
struct Saving {
  std::string change;  // "optim: adamw_8bit"
  std::string costs;   // in words
  double bytes = 0;
  int64_t max_micro_batch = 0;  // with it
};

// What is counted beside the batches where the model's shape is known.
struct ShapeFit {
  MemoryParts memory;                          // before the correction
  std::optional<int64_t> lora_rank_that_fits;  // of adapters; 0: none of those tried
  std::vector<Saving> savings;                 // in the order of harm
  // Where nothing fits: changes, one after the other, until a single sample does; empty when none
  // does it.
  std::optional<std::vector<std::string>> would_fit_with;
};

// Forward passes alone.
struct ForwardFit {
  int64_t batch = 0;      // the largest, with the margin
  double bytes_of_1 = 0;  // with a single sample
};

// One stage on one kind of GPU.
struct FitRow {
  const GpuModel* gpu = nullptr;
  bool possible = false;  // else `notes` says why not, and nothing else is known
  std::vector<std::string> notes;
  double margin = 0;               // share of the card that `recommended` leaves free
  int64_t conservative = 0;        // the largest micro-batch with twice the margin,
  int64_t recommended = 0;         // with it,
  int64_t aggressive = 0;          // and without
  TrainingSetup setup;             // at the micro-batch that the row is about
  std::optional<BatchPlan> batch;  // nullopt: none makes the effective batch, or one was asked for
  bool fits = false;
  double total_bytes = 0;         // corrected
  double high_bytes = 0;          // the same where lengths vary, at its upper end; else total_bytes
  std::optional<ShapeFit> shape;  // nullopt: memory is a line that somebody gave
  // Without training; nullopt: memory is a line, and neither a shape nor parameters are known.
  std::optional<ForwardFit> eval;
  std::optional<ForwardFit> inference;
};

// One stage's model as memory sees it, counted or a line that somebody gave, and its rows.
struct StageFit {
  const Stage* stage = nullptr;
  std::string title;                        // of the model
  std::shared_ptr<const ModelShape> shape;  // that memory is counted from; nullptr: a line says it
  const MemoryLine* line = nullptr;
  // Beside a line: the model's own shape, or a plain transformer of as many parameters; nullopt:
  // neither is known. From it comes what a sample takes without training.
  std::optional<ModelShape> likeness;
  bool likeness_is_own = false;
  bool fp16_is_safe = true;
  double trained_parameters = 0;  // with a shape
  double correction = 1;          // measured peaks over counted ones
  std::vector<FitRow> rows;
};

// Of each stage, a row for each of the question's GPUs. Errors: kBadInput, with a pointer into the
// spec, when nothing says what the model is made of.
Result<std::vector<StageFit>> FitStages(const FitQuestion& question);

}  // namespace gpuadvise
