// How `gpuadvise run` runs its command: what the command line says, and where it is silent what
// `submit` has put into the environment.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/commands.h"
#include "client/run/gpu_sampler.h"
#include "client/run/watched_command.h"

namespace gpuadvise {

struct RunPlan {
  std::optional<int64_t> micro_batch, accumulation;
  bool retry = false;
  std::string output;  // folder of the outcome
  std::string resume;  // the words of {resume}: "" at the first start
};

/// "" where it is not set.
std::string FromEnvironment(const char* name);

/// A whole number from 1 to `most`.
std::optional<int64_t> CountFromEnvironment(const char* name, int64_t most = 1'000'000);

RunPlan PlanOf(const RunCommand& command);

/// With --fit the file's batch for the GPUs that are here; else `plan` stays. Errors: nobody says a
/// batch.
Result<void> FitPlan(const RunCommand& command, GpuSampler* sampler, Console& console,
                     RunPlan& plan);

/// The command with its words filled in.
std::vector<std::string> CommandWith(const RunCommand& command, const RunPlan& plan);

WatchedOptions OptionsFor(const RunPlan& plan);

}  // namespace gpuadvise
