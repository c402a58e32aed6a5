// A short run of a training on one GPU, which measures seconds per step and peak memory.
//
// The command ends by itself if it counts its steps, else by SIGTERM after enough steps or at the
// time limit. Its output is passed on. Blocks; one at a time per process.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/run/gpu_sampler.h"
#include "client/run/training_log.h"
#include "client/run/watched_command.h"
#include "common/base/error.h"
#include "common/runs/outcome.h"

namespace gpuadvise::client {

struct TrialOptions {
  int64_t steps = 20;
  double seconds = 300;                  // time limit
  bool ends_by_itself = false;           // after its steps; else we end it
  std::vector<std::string> environment;  // "NAME=VALUE"
};

struct TrialEnd {
  Attempt attempt;           // batch not set; seconds_per_step excludes the first steps
  bool stopped = false;      // by us
  bool told_to_end = false;  // we got a signal to end
};

// Runs `script` in bash. `sampler`: of the GPU in use; nullptr: none. Errors: bash cannot be run.
Result<TrialEnd> RunTrial(const std::string& script, const TrialOptions& options,
                          const TrainingLog& log, GpuSampler* sampler);

// Steps as counted in a log, each with the time of its line in seconds.
using StepTimes = std::vector<std::pair<int64_t, double>>;

// Seconds per step, excluding the first quarter of the steps, in which libraries load and kernels
// are selected. nullopt: fewer than two times.
std::optional<double> SteadySecondsPerStep(const StepTimes& times);

}  // namespace gpuadvise::client
