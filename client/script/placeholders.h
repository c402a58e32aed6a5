// Replaces figures of a script's command that an advice decides (batch, accumulation, GPUs, nodes)
// by placeholders. Pure.
#pragma once

#include <optional>
#include <string>

#include "client/sbatch/sbatch_options.h"
#include "client/script/kept_script.h"
#include "client/script/launch_command.h"
#include "client/script/script_layout.h"
#include "client/script/script_report.h"
#include "client/script/script_setup.h"
#include "client/script/training_config.h"
#include "client/script/training_flags.h"

namespace gpuadvise::client {

// A training as read from a script.
struct ScriptTraining {
  SbatchOptions options;
  LaunchCommand launch;
  TrainingFlags flags;
  TrainingConfig config;
  ScriptLayout layout;
  ScriptSetup setup;
  std::optional<KeptScript> kept = {};           // nullopt: setup and launch say all
  std::vector<std::string> plugin_options = {};  // #SBATCH options that sbatch itself has not
};

// Whether the program has a flag for gradient accumulation: the command uses one, or its batch flag
// is from Transformers' TrainingArguments, which have one.
bool TakesAccumulation(const TrainingFlags& flags);

// Changes command and setup of `training`; reports the changes and what could not be changed.
// Afterwards the positions in `training.flags` are invalid.
void PutPlaceholders(ScriptTraining& training, ScriptReport& report);

}  // namespace gpuadvise::client
