// What one stage of a training does on some GPUs: batch, memory, run time.
//
// fit -> estimate for one stage and one shape of GPUs; `advise` asks it for every placement,
// `scale` for every number of GPUs. Pure. Times are seconds.
#pragma once

#include <cstdint>
#include <string>

#include "common/batch_fit.h"
#include "common/error.h"
#include "common/gpu_catalogue.h"
#include "common/model_presets.h"
#include "common/run_time.h"
#include "common/train_spec.h"

namespace gpuadvise {

inline constexpr double kCompileSeconds = 3 * 60;         // torch.compile's first steps
inline constexpr double kCheckpointBytesPerSecond = 1e9;  // to a parallel file system

struct StagePlan {
  std::string name;
  std::string precision;  // "bf16", "fp16", "fp32"
  BatchPlan batch;
  Work work;
  int64_t memory_bytes = 0;           // 0: the spec has no memory line
  bool counted = false;               // run time comes from the model's shape
  bool batch_measured = false;        // the micro-batch ran on this GPU, whatever the line says
  bool checkpointing_chosen = false;  // gradient checkpointing was left to us
  double run_p50_seconds = 0;         // without the start
  double checkpoint_seconds = 0;      // of these, for writing checkpoints
  double sigma = 0;
  std::string basis;  // what the run time rests on
  StepSeconds step;   // of one optimizer step by part; all 0 where it is not counted
};

/// Where the stage would run.
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

/// Errors: kInfeasible with the reason; kBadInput (pointer from "/spec") when no GPU could do.
Result<StagePlan> PlanStage(const Stage& stage, const StageQuestion& question);

/// Before the first step of all stages together: as runs have shown it (the median of their lines),
/// else kStartUpSeconds and what compiling takes.
double StartUpSeconds(const TrainSpec& spec);

}  // namespace gpuadvise
