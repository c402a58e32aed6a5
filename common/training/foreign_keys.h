// Keys of other programs' training files, which people paste into a train.yaml: Transformers'
// TrainingArguments, TRL, PEFT, Axolotl, LLaMA-Factory, torchtune, DeepSpeed.
//
// A key that changes neither memory nor run time is taken without a word. One that does and is not
// counted becomes a part of the answer's sentence "not counted: …". One that has another name here
// is refused with that name. Pure; safe from any thread.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace gpuadvise {

struct ForeignKey {
  enum class Effect {
    kNone,        // on memory or run time
    kNotCounted,  // `text`: "device_map (layers …)"
    kOtherName,   // `text`: "training.max_seq_length"
  };
  Effect effect = Effect::kNone;
  std::string text;
};

// `name` with `value`; nullopt: of no program that is known here. A key that is switched off
// (false, 0, none) has no effect.
std::optional<ForeignKey> FindForeignKey(std::string_view name, const nlohmann::json& value);

// What is not counted with an optimizer of Transformers' or Axolotl's, as a part of a sentence:
// "optim galore_adamw (states of low rank; counted as AdamW with states in fp32)"; "" nothing.
std::string NotCountedOfOptimizer(std::string_view optim);

}  // namespace gpuadvise
