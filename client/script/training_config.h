// Config files of a training's command: axolotl's, LLaMA-Factory's and torchtune's YAML, TRL's
// --config, DeepSpeed's and accelerate's own.
//
// Their keys use the same table as flags. The command overrides the file. If the program accepts
// the file's keys on its command line, figures can be set there.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/script/config_files.h"
#include "client/script/launch_command.h"
#include "client/script/training_flags.h"

namespace gpuadvise::client {

struct TrainingConfig {
  std::string path;                 // "": no config file
  bool is_read = false;             // false: missing, or neither YAML nor JSON
  bool takes_overrides = false;     // the program takes key=value: Hydra
  std::vector<std::string> unread;  // files that are named and cannot be read, accelerate's too

  // Whether a file may say more than is known.
  bool HidesSettings() const { return !unread.empty(); }
};

// Adds the settings of the command's config file and of those that it brings in to `flags`, marked
// `in_config`; from accelerate's own config file, only the number format and the sharding.
TrainingConfig AddConfig(const LaunchCommand& command, const ReadNamedFile& read,
                         TrainingFlags& flags);

// Text that sets `key` to `value` on the command line, " batch_size={micro_batch}"; nullopt if the
// program does not accept its file's keys there.
std::optional<std::string> OverrideOf(const LaunchCommand& command, const TrainingConfig& config,
                                      const std::string& key, const std::string& value);

// The ZeRO stage of a DeepSpeed config file: from its text, else from its name ("ds_zero3.json").
std::optional<int64_t> ZeroStageOf(const std::string& path, const ReadNamedFile& read);

// What a DeepSpeed config file offloads to host memory or disks.
struct OffloadDevices {
  bool optimizer = false;
  bool parameters = false;
};
OffloadDevices OffloadOf(const std::string& path, const ReadNamedFile& read);

// The batch figures that a DeepSpeed config file fixes (others are "auto"), as parts of a sentence:
// "train_micro_batch_size_per_gpu 4".
std::vector<std::string> FixedByDeepspeed(const std::string& path, const ReadNamedFile& read);

}  // namespace gpuadvise::client
