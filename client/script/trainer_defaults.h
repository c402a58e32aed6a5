// What training programs do where their command does not say it.
#pragma once

#include <optional>

#include "client/script/launch_command.h"
#include "client/script/training_flags.h"

namespace gpuadvise::client {

struct TrainerDefaults {
  const char* trainer;  // "Transformers", for sentences
  bool gradient_checkpointing;
  bool fp32;  // false: half precision, or by the model
};

// By the launcher, or by flags that only this trainer's programs have; nullopt: an unknown program,
// or one whose releases differ (TRL's). Sources: the argument classes of Transformers
// (TrainingArguments), LLaMA-Factory (disable_gradient_checkpointing), ms-swift (SftArguments) and
// axolotl's schema (bf16: auto), and the parsers of diffusers' example scripts (--mixed_precision,
// whose default is that of the accelerate configuration).
std::optional<TrainerDefaults> DefaultsOfTrainer(const LaunchCommand& command,
                                                 const TrainingFlags& flags);

// Whether all options of the command are seen: no variable whose value is not known may hold more.
bool IsWholeCommandKnown(const LaunchCommand& command);

}  // namespace gpuadvise::client
