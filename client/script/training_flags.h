// The meaning of a training command's flags: batch, accumulation, GPUs, steps, precision, …
//
// One table of names used by public training programs (config/train_keys.yaml) covers arguments
// (`--batch-size 8`), overrides (`trainer.devices=4`) and keys of config files. A setting is named
// like its key in train.yaml, without "training.". Pure.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/script/launch_command.h"
#include "common/keys/foreign_keys.h"

namespace gpuadvise::client {

// Position of a figure in the command, for replacing it.
struct FlagUse {
  std::string spelling;              // "--batch-size", "trainer.devices"
  std::optional<std::string> value;  // nullopt: unknown; "": a flag without a value
  std::string raw;                   // the value as written
  size_t word = 0;                   // index of the word with the value
  size_t value_at = 0;               // offset of the value in that word's raw text
  bool bare = false;                 // has no value
  bool in_config = false;            // in a config file; `word` is invalid
  std::string file = {};             // that file; "": not known
  bool in_env = false;               // NPROC_PER_NODE=4 before the command: `word` is its index
};

struct TrainingFlags {
  // By setting: its last use, the launcher's in preference to the program's.
  std::map<std::string_view, FlagUse> uses;
  std::vector<std::pair<std::string_view, FlagUse>> also;  // counts repeated by the program
  std::vector<std::string> unclear;  // "--bs 4": looks like a figure of unknown meaning

  // Flags that change memory or run time but are not modelled; parts of a sentence.
  std::vector<std::string> not_counted;
  // Options of the program that no table has: "--esm_model facebook/esm2_t33".
  std::vector<std::string> others = {};
  std::vector<std::string> unread = {};  // files of settings under a name that no table has
  std::string accelerate_config = {};    // the launcher's own config file; "": none
  int64_t accelerate_accumulation = 0;   // that file's, which wins over the program's; 0: none
  int64_t accelerate_processes = 0;      // on all nodes, by that file; 0: not said

  // REQUIRES for all: a known setting.
  const FlagUse* Find(std::string_view setting) const;
  // A positive whole number; nullopt if absent or invalid.
  std::optional<int64_t> Number(std::string_view setting) const;
  // Whether the batch of all GPUs is so large that it must be one of tokens.
  bool BatchIsInTokens() const;
  // Whether a switch is on; nullopt if absent.
  std::optional<bool> Switch(std::string_view setting) const;
  // The text; "" if absent or unknown.
  std::string Text(std::string_view setting) const;
};

// Adds a name to `not_counted` if it is known to matter but sets none of our keys.
void AddNotCounted(std::string_view name, const nlohmann::json& value, TrainingFlags& flags);

// Resolves "batch" to the batch of one GPU or of all, depending on the other flags.
void SettlePlainBatch(TrainingFlags& flags);

TrainingFlags ReadTrainingFlags(const LaunchCommand& command);

// The settings that names mean in the program of one command.
class SettingNames {
 public:
  explicit SettingNames(const LaunchCommand& command);

  // Setting of a flag as written or of a config file's key ("trainer.devices"); nullptr: none.
  const Setting* Find(std::string_view name) const;

 private:
  std::string command_;  // in lower case
};

// Replaces the value of `use` by `text`.
void Replace(LaunchCommand& command, const FlagUse& use, const std::string& text);

// "true", "True", "1", "yes", … ; nullopt for any other word.
std::optional<bool> SwitchFrom(std::string_view word);

// The half precision that they ask for, "bf16" or "fp16"; "" where they ask for none.
std::string HalfPrecisionOf(const TrainingFlags& flags);

}  // namespace gpuadvise::client
