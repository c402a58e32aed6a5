// How a training speeds up with more GPUs of one kind, and how many are worthwhile.
//
// plan -> compare -> recommend: plans each stage on 1, 2, 4, … GPUs, with the counts and plans that
// `advise` uses; then GPU-hours, cost and energy; the count that the objective prefers; and the
// count beyond which more GPUs gain too little. On an empty cluster `advise` ranks the recommended
// count first. Pure. Times are seconds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/work_budget.h"
#include "common/gpu/gpu_catalogue.h"
#include "common/models/model_presets.h"
#include "common/plan/stage_plan.h"
#include "common/spec/train_spec.h"

namespace gpuadvise {

// A kind of GPU and its nodes.
struct ScaledGpu {
  const GpuModel* model = nullptr;
  int64_t gpus_per_node = 8;
  Interconnect interconnect = {};
};

struct ScaleQuestion {
  const TrainSpec& spec;
  const ModelPresets& presets;
  const GpuCatalogue& catalogue;
  // GPUs to try at most; nullopt: 8, or a whole node if larger. A number is also permission to use
  // several nodes.
  std::optional<int64_t> most_gpus = {};
  Objective objective = Objective::kFinish;
  double deadline_seconds = 0;   // with kDeadline
  WorkBudget* budget = nullptr;  // for the answer; nullptr: unlimited
};

// The training on one number of GPUs.
struct ScaleStep {
  int64_t gpus_per_node = 1;
  int64_t nodes = 1;
  std::string impossible;  // the reason it cannot run; "" if it can
  RunPlan run;
  RunCost cost;
  double efficiency = 0;  // samples per second and GPU, relative to the fewest GPUs

  int64_t gpus() const { return gpus_per_node * nodes; }
};

struct ScaleCurve {
  const GpuModel* gpu = nullptr;
  std::vector<ScaleStep> steps;       // 1, 2, 4, … GPUs
  std::optional<size_t> recommended;  // index in steps, by the objective; nullopt: nothing runs
  std::optional<size_t> worthwhile;   // index of the largest count with kWorthwhileEfficiency
  std::string why;
  std::string why_not_more;
};

// Minimum efficiency per GPU of a worthwhile count.
inline constexpr double kWorthwhileEfficiency = 0.85;

// GPU counts to try on a node of `most`: 1, 2, 4, …, half and all.
std::vector<int64_t> CountsOnANode(int64_t most);

// Plans several nodes, and recommends at most resources.max_nodes of them: by default as many as
// `most_gpus` takes if it is given, else one.
//
// Errors: kBadInput, with a pointer from "/spec", if no number of GPUs works.
Result<ScaleCurve> Scale(const ScaleQuestion& question, const ScaledGpu& gpu);

// Work done on one day, or on several equal days.
struct DayOfWork {
  int64_t first_day = 1;  // counted from 1
  int64_t last_day = 1;   // equal days are merged
  std::string task;       // a stage's name, or "start"
  double hours = 0;       // per day
};
std::vector<DayOfWork> PlanSchedule(const TrainSpec& spec, const ScaleStep& step);

}  // namespace gpuadvise
