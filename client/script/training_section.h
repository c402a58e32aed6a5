// The section `training` of a train.yaml, from the flags and config files of a script's training.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "client/script/placeholders.h"
#include "client/script/script_report.h"
#include "client/script/section_writer.h"
#include "client/script/training_config.h"

namespace gpuadvise::client {

// The section's lines, "training:" first. Adds to `report` what was taken, is missing or is not
// counted. `read` reads files that the command names, relative to its folder.
std::string TrainingSectionOf(const ScriptHints& hints, const ScriptTraining& training,
                              const ReadNamedFile& read, ScriptReport& report);

// What a command says of memory and run time beside length, batch and precision, as keys of the
// section `training`; without what stands in files and what its trainer does by default.
nlohmann::json SettingsOfCommand(const LaunchCommand& command, const TrainingFlags& flags);

}  // namespace gpuadvise::client
