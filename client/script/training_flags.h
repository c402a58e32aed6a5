// What the flags of a training's command mean: batch, accumulation, GPUs, steps, precision, …
//
// One table of the spellings that public training programs use (Hugging Face's Trainer and TRL,
// Lightning, torchtune, axolotl, LLaMA-Factory, DeepSpeed, Megatron-LM, fairseq, timm, nanoGPT,
// Isaac-GR00T, OpenVLA, LeRobot, Hydra's dotted keys, …), for arguments (`--batch-size 8`), for
// overrides (`trainer.devices=4`) and for the keys of config files. Where one spelling means
// different things, the program decides. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/script/flag_spellings.h"
#include "client/script/launch_command.h"

namespace gpuadvise::client {

// Where a figure stands in the command, so that it can be replaced.
struct FlagUse {
  std::string spelling;              // "--batch-size", "trainer.devices"
  std::optional<std::string> value;  // nullopt: cannot be told; "" for a flag without a value
  std::string raw;                   // the value as written
  size_t word = 0;                   // index of the word that holds the value
  size_t value_at = 0;               // offset of the value in that word's raw text
  bool bare = false;                 // has no value
  bool in_config = false;            // of a config file: `word` says nothing
  bool in_env = false;               // NPROC_PER_NODE=4 before the command: `word` is its index
};

struct TrainingFlags {
  std::map<Meaning, FlagUse> uses;  // the last of each meaning; the launcher's before the program's
  std::vector<std::pair<Meaning, FlagUse>> also;  // counts that the program says once more
  std::vector<std::string> unclear;  // "--bs 4": sounds like a figure, but its meaning is not known

  // What is said, changes memory or run time, and is not counted: parts of a sentence.
  std::vector<std::string> not_counted;
  std::string accelerate_config = {};  // the launcher's own config file; "" none

  const FlagUse* Find(Meaning meaning) const;
  // A positive whole number; nullopt where it is not said, or is none.
  std::optional<int64_t> Number(Meaning meaning) const;
  // Whether a switch is on; nullopt where it is not said.
  std::optional<bool> Switch(Meaning meaning) const;
  // The text; "" where it is not said or cannot be told.
  std::string Text(Meaning meaning) const;
};

// Notes a setting that no Meaning is for, where it is known and not counted
// (common/training/foreign_keys.h).
void AddNotCounted(std::string_view name, const nlohmann::json& value, TrainingFlags& flags);

// Makes of kPlainBatch what the other flags say that it is.
void SettlePlainBatch(TrainingFlags& flags);

TrainingFlags ReadTrainingFlags(const LaunchCommand& command);

// What names mean to the program of one command.
class FlagMeanings {
 public:
  explicit FlagMeanings(const LaunchCommand& command);

  // Of a flag as written, or of a config file's key ("trainer.devices"); nullopt: none of ours.
  std::optional<Meaning> Of(std::string_view name) const;

 private:
  std::string command_;  // in lower case
};

// Puts `text` where the use's value stands.
void Replace(LaunchCommand& command, const FlagUse& use, const std::string& text);

// "true", "True", "1", "yes", … ; nullopt for any other word.
std::optional<bool> SwitchFrom(std::string_view word);

}  // namespace gpuadvise::client
