// Plan of a training on given GPUs: batch, memory and run time of each stage, hours and cost of the
// run.
//
// fit -> estimate for one GPU layout; `advise` calls it for each placement, `scale` for each GPU
// count, so both give the same figures. Run time is log-normal around its median. GPU-hours, cost
// and energy use the mean: totals over many runs add up to it, not to the median. Pure. Times are
// seconds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/gpu/gpu_catalogue.h"
#include "common/memory/batch_fit.h"
#include "common/models/model_presets.h"
#include "common/spec/train_spec.h"
#include "common/time/training_time.h"

namespace gpuadvise {

inline constexpr double kCompileSeconds = 3 * 60;         // torch.compile's first steps
inline constexpr double kCheckpointBytesPerSecond = 1e9;  // to a parallel file system

struct StagePlan {
  std::string name;
  Precision precision = Precision::kBf16;
  BatchPlan batch;
  Work work;
  int64_t memory_bytes = 0;     // 0: unknown
  bool memory_checked = true;   // false: the fixed micro-batch may not fit
  bool counted = false;         // run time is computed from the model's shape
  bool batch_measured = false;  // the micro-batch ran on this GPU
  // Whether memory and run time count with gradient checkpointing; nullopt: not computed.
  std::optional<bool> checkpointing;
  bool checkpointing_chosen = false;  // it was chosen automatically
  double run_p50_seconds = 0;         // without start-up
  double checkpoint_seconds = 0;      // part of it: writing checkpoints
  double roofline_seconds = 0;        // lower bound: matrix products at the card's rate; 0: unknown
  double sigma = 0;
  std::string lesson;        // "micro-batch 2 ran out of memory there, in 1 of your runs", or that
                             // only the safety margin has room; "": none
  std::string basis;         // of the run time, for people
  std::string disagreement;  // between timings, for people; "": none
  StepSeconds step;          // one optimizer step by part; all 0 unless computed
};

// Where the stage would run.
struct StageQuestion {
  const GpuModel& gpu;
  int64_t gpus_per_node;
  int64_t nodes;
  Interconnect interconnect;
  const OutputSpec& output;
  const GpuCatalogue& catalogue;
  const ModelPresets& presets;
  int64_t node_gpus = 0;  // in a node of this kind; 0: unknown
};

// Errors: kInfeasible with the reason; kBadInput (pointer from "/spec") if no GPU could run it.
Result<StagePlan> PlanStage(const Stage& stage, const StageQuestion& question);

// Errors: kBadInput at `pointer`/training/lora/target_modules where adapters would train no layer,
// or a name is mistyped.
Result<void> CheckTargetModules(const ModelShape& model, const TrainingSetup& setup,
                                const std::string& pointer);

// Whether `error` is the caller's to fix for any GPUs; it ends the question.
bool IsFatalForAll(const Error& error);

// Whether the time before the first step was given or measured.
bool IsStartKnown(const TrainSpec& spec);

// Seconds before the first step, for all stages together: the median of measured runs, or else
// kStartUpSeconds plus compilation.
double StartUpSeconds(const TrainSpec& spec);

// Distribution of one predicted time.
struct Spread {
  double p10 = 0, p50 = 0, p90 = 0, mean = 0;
};

// Of a log-normal time; `sigma` is that of its logarithm.
Spread LogNormalSpread(double median, double sigma);

// All stages of a training, one after the other.
struct RunPlan {
  std::vector<StagePlan> stages;
  double sigma = 0;         // of the log run time
  Spread seconds;           // including start-up
  double cautious_p90 = 0;  // larger p90 of `seconds` with and without other users' runs
};

// Bound on the influence of other users' runs: factor by which they may change the speed. Never
// faster than the card's compute rate.
inline constexpr double kMaxChangeByOthers = 3;

// Other users' measured runs may inform a plan that is possible without them, and change it by at
// most kMaxChangeByOthers. Errors: of PlanStage, for the first failing stage.
Result<RunPlan> PlanRun(const TrainSpec& spec, const StageQuestion& question);

// Expected use of a run.
struct RunCost {
  double gpu_hours = 0;
  std::optional<double> price;           // nullopt: the card has no price
  std::optional<double> kilowatt_hours;  // at the card's power limit; nullopt: unknown
};

// For `gpus` of `gpu` over the mean of `run`, at `price_per_gpu_hour` (<= 0: none).
RunCost CostOfRun(const Spread& run, int64_t gpus, const GpuModel& gpu, double price_per_gpu_hour);

}  // namespace gpuadvise
