// The report to the user on the conversion of a job script.
#pragma once

#include <string>
#include <vector>

namespace gpuadvise::client {

// Sentences in the order of discovery.
struct ScriptReport {
  std::vector<std::string> taken;    // "batch 10 × accumulation 3 × 4 GPUs = 120"
  std::vector<std::string> changed;  // now decided by the advice
  std::vector<std::string> kept;     // unchanged: #SBATCH lines, setup
  std::vector<std::string> left;     // left out
  std::vector<std::string> unclear;  // to check: the meaning is ambiguous
  std::vector<std::string> missing;  // to fill in for a correct answer
  bool batch_is_missing = false;     // in `missing`; nothing can be ranked without it
};

}  // namespace gpuadvise::client
