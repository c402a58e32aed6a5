// Settings of other training programs (command flags, config keys, or keys pasted into a
// train.yaml): Transformers' TrainingArguments, TRL, PEFT, Axolotl, LLaMA-Factory, torchtune,
// DeepSpeed and others (config/train_keys.yaml).
//
// In a train.yaml, a key without effect on memory or run time is ignored silently. One with an
// effect that is not modelled is reported as "not counted: …". One with another name here is
// refused, with that name. Pure; safe from any thread.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "common/keys/train_key_table.h"

namespace gpuadvise {

// The setting called "max_steps" etc.; nullptr if unknown.
const Setting* FindSetting(std::string_view name);

// The setting that `name` (lower case, '-' as '_') means in the program of `command` (lower case;
// "": any program); nullptr if none.
const Setting* FindSettingBySpelling(std::string_view command, std::string_view name);

struct ForeignKey {
  enum class Effect {
    kNone,        // on memory or run time
    kNotCounted,  // `text`: "device_map (layers …)"
    kOtherName,   // `text`: "training.max_seq_length"
  };
  Effect effect = Effect::kNone;
  std::string text;
};

// Classifies `name` with `value`; nullopt: unknown in all programs. A disabled key (false, 0, none)
// has no effect.
std::optional<ForeignKey> FindForeignKey(std::string_view name, const nlohmann::json& value);

// What is not modelled of a Transformers or Axolotl optimizer, for a sentence: "optim galore_adamw
// (states of low rank; counted as AdamW with states in fp32)"; "": nothing.
std::string FindUncountedOptimizerPart(std::string_view optim);

}  // namespace gpuadvise
