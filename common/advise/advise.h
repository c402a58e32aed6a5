// Where and how to run a training job so that the result comes first. This file is the product:
//
//     advise = enumerate -> fit -> estimate -> predict -> rank -> explain
//
// Pure: everything comes in as an argument. Cost: one StartOf per placement and QOS, some 20 to 40
// on a cluster of a handful of GPU types.
#pragma once

#include <string>
#include <vector>

#include "common/advise/advice_context.h"
#include "common/advise/ranking.h"
#include "common/advise/strategy.h"
#include "common/advise/sweep_plan.h"
#include "common/plan/assumptions.h"
#include "common/slurm/array_tasks.h"

namespace gpuadvise {

// Tasks of an array that wait already, on the strategy with these GPUs.
struct WaitingTasks {
  std::string gpu, partition;  // GpuPool::Id() and a name
  int64_t gpus_per_node = 1;
  int64_t nodes = 1;
  int64_t tasks = 0;
  int64_t priority = 0;  // Slurm's; 0: not known
  int64_t job_id = 0;    // of the array
};

struct AdviceRequest {
  TrainSpec spec;
  Constraints constraints;
  RankBy by;
  std::optional<UnixSeconds> deadline;     // that `by` counts down to
  bool others = false;                     // say of every row what it costs others
  std::optional<ArrayTasks> array = {};    // many runs; nullopt: one
  std::vector<WaitingTasks> waiting = {};  // where the array's tasks wait now, if they do
};

struct Advice {
  std::vector<GpuPool> pools;        // what strategies and rejections point into
  std::vector<Strategy> strategies;  // best first
  std::optional<SweepPlan> sweep;    // of the request's array
  std::vector<Rejection> rejected;
  std::vector<std::string> tips;
  Assumptions assumptions;
  std::optional<ShorterLimit> shorter_limit;  // also the first of `tips`
};

// The ranked strategies of `request`. No strategy at all is an answer, not an error.
// Errors: kBadInput for what no cluster could make right, with a pointer into the request.
Result<Advice> Advise(const AdviceRequest& request, const AdviceContext& context,
                      const Submitter& caller);

}  // namespace gpuadvise
