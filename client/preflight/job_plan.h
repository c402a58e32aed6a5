// A job as it is about to be submitted, in the words of its files: what a preflight looks at.
// A value; paths are as written, with the strategy's figures filled in but nothing expanded.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gpuadvise {

/// What the run leaves on disk.
struct CheckpointPlan {
  std::optional<int64_t> bytes;  // of one
  std::string estimated_from;    // how `bytes` was counted; "" it was given
  std::optional<int64_t> keep;
  std::optional<int64_t> save_steps;
  int64_t steps = 0;  // of the whole run; 0 not known
};

struct JobPlan {
  std::string chdir;              // sbatch's --chdir; "" the current folder
  std::string workdir;            // that the script changes to; "" none
  std::string output_dir;         // "" none
  std::vector<std::string> logs;  // sbatch's --output and --error, with their %-patterns
  std::string job_name;           // for %x
  std::string container;          // image; "" none
  std::string command;            // "" none
  bool has_setup = false;         // lines of the user's run before the command
  std::vector<std::pair<std::string, std::string>> env;  // in the order they are exported
  CheckpointPlan checkpoints;
};

}  // namespace gpuadvise
