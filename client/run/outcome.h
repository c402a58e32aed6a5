// What became of a training, as `gpuadvise-outcome.json` tells it.
//
// Written beside the training's results when it ends, also after a failure; `version` names the
// form. Sizes are bytes, times unix seconds and seconds.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "client/run/run_watch.h"
#include "common/error.h"

namespace gpuadvise {

inline constexpr int kOutcomeVersion = 1;
inline constexpr const char* kOutcomeFile = "gpuadvise-outcome.json";

/// One start of the command.
struct Attempt {
  std::optional<int64_t> micro_batch, accumulation;
  int64_t began = 0;
  double seconds = 0;
  int exit_code = 0;
  int signal = 0;
  bool out_of_memory = false;
  std::optional<int64_t> steps, total_steps;
  std::optional<double> seconds_per_step, loss;
  std::vector<GpuUse> gpus;
};

struct Outcome {
  std::string job_id;     // Slurm's; "" outside of a job
  std::string advice_id;  // "" where the job was not advised
  std::string host;
  std::vector<std::string> gpu_names;
  std::vector<Attempt> attempts;  // never empty
};

nlohmann::json OutcomeJson(const Outcome& outcome);

/// Writes `folder`/gpuadvise-outcome.json, whole or not at all. Errors: kUnavailable, naming the
/// file and what is wrong.
Result<void> WriteOutcome(const Outcome& outcome, const std::string& folder);

}  // namespace gpuadvise
