// Tables generated at build time from config/train_keys.yaml (config/make_train_keys.cc). Static
// values; safe from any thread.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "common/keys/train_key.h"

namespace gpuadvise {

// A target of flags and config keys: a key of train.yaml (without "training."), or a launcher
// value.
struct Setting {
  std::string_view name;  // "max_steps", "lora.r", "model.preset", "gpus_per_node"
  std::string_view here;  // what to write in train.yaml; "": nothing
  bool may_be_bare;       // as a flag, the value is optional
  bool takes_any_word;    // even then, the next word is its value
};

// Another program's name, with a setting or a text.
struct ForeignName {
  std::string_view name;
  std::string_view text;
};

// A name with a different meaning in one program.
struct ProgramsName {
  std::string_view program;  // part of its command, in lower case
  std::string_view name;
  std::string_view setting;  // "" none
};

namespace train_key_table {

std::vector<TrainKey> Keys();
std::span<const Setting> Settings();
std::span<const ForeignName> Spellings();
std::span<const ProgramsName> ProgramsNames();
std::span<const ForeignName> Refused();
std::span<const ForeignName> NotCounted();
std::span<const std::string_view> Ignored();

}  // namespace train_key_table
}  // namespace gpuadvise
