// One row of an advice with everything that sbatch needs to run it.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "client/sbatch/sbatch_options.h"
#include "client/sbatch/sbatch_script.h"
#include "common/base/error.h"
#include "yaml/train_file.h"

namespace gpuadvise::client {

struct Choice {
  nlohmann::json answer;
  nlohmann::json strategy;
  JobScript script;
  std::vector<std::string> arguments;  // of sbatch
};

struct ChoiceRequest {
  int64_t pick = 0;                    // the row's rank; 0: the first
  SbatchOptions fixed;                 // flags, and what follows `--`
  std::vector<std::string> passed_on;  // what follows `--`, as written
};

// The row of `answer` that is asked for, as a job. Errors: there is no such row, it has options of
// sbatch that the daemon may not set, or the script cannot be made (told with the file's line).
Result<Choice> Choose(const ChoiceRequest& request, const TrainFile& file, nlohmann::json answer,
                      const std::string& job_template);

}  // namespace gpuadvise::client
