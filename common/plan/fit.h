// Which stages of a training file fit on which GPU, and their memory by part: one row per stage and
// GPU, as values. `gpuadvise fit` prints them (answer_fit.h); tips use them (fit_tips.h).
//
// Pure; the caller provides cluster data. Sizes are bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/base/work_budget.h"
#include "common/gpu/gpu_catalogue.h"
#include "common/memory/batch_fit.h"
#include "common/memory/memory_model.h"
#include "common/memory/memory_range.h"
#include "common/models/model_presets.h"
#include "common/spec/train_spec.h"

namespace gpuadvise {

struct FitQuestion {
  const TrainSpec& spec;
  const ModelPresets& presets;
  const GpuCatalogue& catalogue;
  std::vector<const GpuModel*> gpus;   // one row each
  int64_t gpus_in_all = 1;             // available to one job
  std::optional<int64_t> micro_batch;  // shown instead of the recommended one
  bool tips = false;                   // include all tips for the first of `gpus`
  WorkBudget* budget = nullptr;        // for the answer; nullptr: unlimited
};

// A change that saves memory.
struct Saving {
  std::string change;  // "optim: adamw_8bit"
  std::string costs;   // its cost, for people
  double bytes = 0;
  int64_t max_micro_batch = 0;  // with the change
};

// Additional results if the model's shape is known.
struct ShapeFit {
  MemoryParts memory;                          // before correction
  std::optional<int64_t> lora_rank_that_fits;  // of adapters; 0: none of those tried
  std::vector<Saving> savings;                 // least harmful first
  // If nothing fits: cumulative changes until one sample fits; empty if none suffice.
  std::optional<std::vector<std::string>> would_fit_with;
};

// Forward passes only.
struct ForwardFit {
  int64_t batch = 0;      // largest, with the margin
  double bytes_of_1 = 0;  // one sample
};

// One stage on one kind of GPU.
struct FitRow {
  const GpuModel* gpu = nullptr;
  bool possible = false;  // if false, `notes` gives the reason and the rest is unset
  std::vector<std::string> notes;
  double margin = 0;               // share of the GPU left free by `recommended`
  int64_t conservative = 0;        // largest micro-batch with ConservativeMargin
  int64_t recommended = 0;         // with the margin
  int64_t aggressive = 0;          // without margin
  TrainingSetup setup;             // at the row's micro-batch
  std::optional<BatchPlan> batch;  // nullopt: impossible, or a micro-batch was requested
  bool fits = false;
  double total_bytes = 0;         // corrected
  MemoryRange range;              // total_bytes twice if memory is a line
  double highest_bytes = 0;       // HighestBytes, corrected, if lengths vary
  std::optional<ShapeFit> shape;  // nullopt: memory comes from a given line
  // Without training; nullopt: memory is a line, and shape and parameters are unknown.
  std::optional<ForwardFit> eval;
  std::optional<ForwardFit> inference;
};

// Memory basis of one stage's model (computed, or a given line), and its rows.
struct StageFit {
  const Stage* stage = nullptr;
  std::string title;                        // of the model
  std::shared_ptr<const ModelShape> shape;  // basis of memory; nullptr: a line is used
  std::optional<MemoryLine> line;           // corrected by measured peaks
  // With a line: the model's shape, or a plain transformer of as many parameters; nullopt: both
  // unknown. Basis for memory per sample without training.
  std::optional<ModelShape> likeness;
  bool likeness_is_own = false;
  bool fp16_is_safe = true;
  double trained_parameters = 0;  // if the shape is known
  double correction = 1;          // measured over computed peaks
  std::vector<FitRow> rows;
};

// For each stage, one row per GPU of the question. Errors: kBadInput, with a pointer into the spec,
// if nothing describes the model and no tips are asked for; with tips no row is possible then.
Result<std::vector<StageFit>> FitStages(const FitQuestion& question);

}  // namespace gpuadvise
