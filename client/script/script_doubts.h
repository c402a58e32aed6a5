// What a job script does that the train.yaml made from it does not say, in sentences.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "client/sbatch/sbatch_options.h"
#include "client/script/chosen_training.h"
#include "client/script/script_report.h"
#include "client/script/script_setup.h"

namespace gpuadvise::client {

struct ScriptAsRead {
  std::string_view text;  // as it was written
  const ParsedArguments& options;
  const ReadScript& script;
  const std::vector<SetupLine>& setup;  // all of it, used or not
  int64_t nodes;                        // that it asks for
  bool stays;                           // the script itself is the command
};

// Adds to `report` what the script of `source` does and its train.yaml does not: a login shell,
// arguments, further trainings, conditions, options that are no option of sbatch's. Pure.
void AddDoubts(const ScriptAsRead& source, ScriptReport& report);

}  // namespace gpuadvise::client
