// What a training does on some GPUs: batch, memory and run time of each stage, hours and cost of
// the whole run.
//
// fit -> estimate for one shape of GPUs; `advise` asks it for every placement, `scale` for every
// number of GPUs, so that both give the same figures. A run time is log-normal around its median.
// What a run uses (GPU-hours, cost, energy) is told at the mean: it is an expectation, and what
// many runs use adds up to it, not to the median. Pure. Times are seconds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/gpu/gpu_catalogue.h"
#include "common/training/batch_fit.h"
#include "common/training/model_presets.h"
#include "common/training/train_spec.h"
#include "common/training/training_time.h"

namespace gpuadvise {

inline constexpr double kCompileSeconds = 3 * 60;         // torch.compile's first steps
inline constexpr double kCheckpointBytesPerSecond = 1e9;  // to a parallel file system

struct StagePlan {
  std::string name;
  Precision precision = Precision::kBf16;
  BatchPlan batch;
  Work work;
  int64_t memory_bytes = 0;           // 0: nothing says how much memory the model takes
  bool memory_checked = true;         // false: the fixed micro-batch may or may not fit
  bool counted = false;               // run time comes from the model's shape
  bool batch_measured = false;        // the micro-batch ran on this GPU, whatever the line says
  bool checkpointing_chosen = false;  // gradient checkpointing was left to us
  double run_p50_seconds = 0;         // without the start
  double checkpoint_seconds = 0;      // of these, for writing checkpoints
  double roofline_seconds = 0;        // its products of matrices at the card's rate; 0: not known
  double sigma = 0;
  std::string basis;         // what the run time rests on
  std::string disagreement;  // of the timings among it, in words; "" none
  StepSeconds step;          // of one optimizer step by part; all 0 where it is not counted
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
  int64_t node_gpus = 0;  // that a node of this kind has; 0 unknown
};

// Errors: kInfeasible with the reason; kBadInput (pointer from "/spec") when no GPU could do.
Result<StagePlan> PlanStage(const Stage& stage, const StageQuestion& question);

// Whether `error` is the caller's to mend on whatever GPUs: such an error ends the question.
bool EndsTheQuestion(const Error& error);

// Before the first step of all stages together: as runs have shown it (the median of their lines),
// else kStartUpSeconds and what compiling takes.
double StartUpSeconds(const TrainSpec& spec);

// p10, p50, p90 and mean of one predicted time.
struct Spread {
  double p10 = 0, p50 = 0, p90 = 0, mean = 0;
};

// Of a log-normal time; `sigma` is that of its logarithm.
Spread LogNormalSpread(double median, double sigma);

// All stages of a training, one after the other.
struct RunPlan {
  std::vector<StagePlan> stages;
  double sigma = 0;         // of the logarithm of the run time
  Spread seconds;           // start-up included
  double cautious_p90 = 0;  // of `seconds` with other users' runs or without, the larger
};

// What runs of other users may change of what is known without them: this much faster or slower,
// and never faster than the card multiplies.
inline constexpr double kMostByOthers = 3;

// Where lines of other users' runs are among the measured ones, they inform a plan that holds
// without them: it must be possible without, and is moved by kMostByOthers at most.
// Errors: as PlanStage's, for the first stage that has one.
Result<RunPlan> PlanRun(const TrainSpec& spec, const StageQuestion& question);

// What a run is expected to use.
struct RunCost {
  double gpu_hours = 0;
  std::optional<double> price;           // nullopt: the card has none
  std::optional<double> kilowatt_hours;  // at the card's power limit; nullopt: that is not known
};

// Of `gpus` of `gpu` for the mean of `run`, at `price_per_gpu_hour` (<= 0: none).
RunCost CostOfRun(const Spread& run, int64_t gpus, const GpuModel& gpu, double price_per_gpu_hour);

}  // namespace gpuadvise
