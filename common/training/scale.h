// How a training gets faster with more GPUs of one kind, and how many are worth having.
//
// plan -> compare -> recommend: each stage is planned on 1, 2, 4, … GPUs, on as many as `advise`
// tries and with the same plan; what that costs in GPU-hours, money and energy; the number that the
// objective asks for; and the number after which more GPUs bring too little. Where nothing waits
// `advise` ranks the recommended number first. Pure. Times are seconds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/work_budget.h"
#include "common/gpu/gpu_catalogue.h"
#include "common/training/model_presets.h"
#include "common/training/stage_plan.h"
#include "common/training/train_spec.h"

namespace gpuadvise {

// A kind of GPU and the nodes it is in.
struct ScaledGpu {
  const GpuModel* model = nullptr;
  int64_t gpus_per_node = 8;
  Interconnect interconnect = {};
};

struct ScaleQuestion {
  const TrainSpec& spec;
  const ModelPresets& presets;
  const GpuCatalogue& catalogue;
  std::optional<int64_t> most_gpus = {};  // nullopt: 8, or a whole node where that is more
  Objective objective = Objective::kFinish;
  double deadline_seconds = 0;     // with kDeadline
  double price_per_gpu_hour = -1;  // < 0: the card's own, where it has one
  WorkBudget* budget = nullptr;    // of the answer; nullptr: no end
};

// The training on one number of GPUs.
struct ScaleStep {
  int64_t gpus_per_node = 1;
  int64_t nodes = 1;
  std::string impossible;  // why it cannot run; else ""
  RunPlan run;
  RunCost cost;
  double efficiency = 0;  // samples a second of each GPU, over those with the fewest GPUs

  int64_t gpus() const { return gpus_per_node * nodes; }
};

struct ScaleCurve {
  const GpuModel* gpu = nullptr;
  std::vector<ScaleStep> steps;       // 1, 2, 4, … GPUs
  std::optional<size_t> recommended;  // of steps, by the objective; nullopt: nothing runs
  std::optional<size_t> worthwhile;   // the most of which each still does kWorthwhileEfficiency
  std::string why;
  std::string why_not_more;
};

// A number of GPUs is worth having while each still does this share of what one alone does.
inline constexpr double kWorthwhileEfficiency = 0.85;

// The numbers of GPUs to try on a node of `most`: 1, 2, 4, …, half of it and all.
std::vector<int64_t> CountsOnANode(int64_t most);

// Several nodes are planned, but recommended only as far as resources.max_nodes says (1).
//
// Errors: kBadInput, with a pointer from "/spec", when no number of GPUs could do.
Result<ScaleCurve> Scale(const ScaleQuestion& question, const ScaledGpu& gpu);

// What a day of the training is spent on.
struct DayOfWork {
  int64_t first_day = 1;  // counted from 1
  int64_t last_day = 1;   // days that are alike are one line
  std::string task;       // a stage's name, or "start"
  double hours = 0;       // of each of these days
};
std::vector<DayOfWork> ScheduleOf(const TrainSpec& spec, const ScaleStep& step);

}  // namespace gpuadvise
