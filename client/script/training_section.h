// The section `training` of a train.yaml, from what a script's training is told by its flags and
// config files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "client/script/placeholders.h"
#include "client/script/script_report.h"
#include "client/script/training_config.h"

namespace gpuadvise::client {

// What a person says beside the script; it goes before what the script says.
struct ScriptHints {
  std::string model;  // a preset; "" none
  std::optional<int64_t> max_steps;
  std::optional<int64_t> num_samples;  // in the data set
  std::optional<int64_t> effective_batch_size;
};

// The section's lines, "training:" first. What was taken, is missing or is not counted goes into
// `report`. `read` reads files that the command names, from its folder.
std::string TrainingSectionOf(const ScriptHints& hints, const ScriptTraining& training,
                              const ReadNamedFile& read, ScriptReport& report);

}  // namespace gpuadvise::client
