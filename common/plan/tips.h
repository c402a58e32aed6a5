// Further improvements for a training, as rules (docs/models.md lists them).
//
// Each rule looks at a training on one kind of GPU and states what to do, the effect, and whether
// it applies or why not. An effect is reported (by guides; not measured here), counted (the memory
// saving, where the shape is known) or both. What is not known, such as loading time and GPU
// utilisation, becomes a question. Values; pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/gpu/gpu_catalogue.h"
#include "common/memory/memory_model.h"
#include "common/spec/train_spec.h"

namespace gpuadvise {

// All members have initializers, so that rules can use designated initialisation.
struct Tip {
  std::string name = {};              // identifier for programs: "torch_compile"
  std::string text = {};              // what to do
  std::string effect = {};            // "" without a figure
  std::string source_of_effect = {};  // "reported for …", "counted", both or ""
  bool applies = false;
  std::string why_not = {};  // reason if it does not apply
  double worth = 0;          // rough share of GPU time or risk; 0 for remarks and questions
};

// Known facts about a training on one kind of GPU.
struct TipContext {
  const TrainSpec& spec;
  const Stage& stage;
  const GpuModel& gpu;
  std::optional<Precision> precision = {};  // nullopt: none supported by GPU and model, or unknown
  std::optional<bool> fp16_is_safe = {};    // nullopt: unknown

  int64_t gpus_per_node = 1;
  int64_t nodes = 1;
  std::optional<int64_t> cpus_per_gpu = {};

  std::optional<int64_t> micro_batch = {};
  std::optional<int64_t> accumulation = {};
  std::optional<int64_t> effective_batch = {};
  std::optional<int64_t> steps = {};
  std::optional<double> run_seconds = {};
  bool measured_here = false;  // has run on this GPU

  const ModelShape* shape = nullptr;        // nullptr: unknown
  std::optional<TrainingSetup> setup = {};  // with a shape; at the row's micro-batch
  double memory_correction = 1;             // measured over computed peaks
  bool memory_is_short = false;             // no sample fits with the recommended margin
  bool checkpointing = false;               // on, by the file or automatically
  std::optional<int64_t> rank_that_fits = {};

  int64_t gpus() const { return gpus_per_node * nodes; }
  const TrainingSpec& training() const { return stage.training; }
};

// One per rule: applicable ones first, by worth.
std::vector<Tip> AllTips(const TipContext& context);

}  // namespace gpuadvise
