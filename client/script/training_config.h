// Config files that a training's command names: axolotl's, LLaMA-Factory's and torchtune's YAML,
// TRL's --config, DeepSpeed's and accelerate's own.
//
// Their keys are read with the same table as flags. What the command says goes before what its file
// says. Where the program takes a file's keys on its command line too, the figures can be put
// there.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "client/script/launch_command.h"
#include "client/script/training_flags.h"

namespace gpuadvise::client {

// The text of a file that a script names; nullopt where it cannot be read.
using ReadNamedFile = std::function<std::optional<std::string>(const std::string& path)>;

struct TrainingConfig {
  std::string path;      // "" none is named
  bool is_read = false;  // false: it is not here, or no YAML or JSON
};

// Adds what the config file of `command` says to `flags`, marked as of a file; of accelerate's own
// config file the number format and how the model is sharded.
TrainingConfig AddConfig(const LaunchCommand& command, const ReadNamedFile& read,
                         TrainingFlags& flags);

// `key` set to `value` on the command line, where the program takes its file's keys there:
// " batch_size={micro_batch}"; nullopt where it does not.
std::optional<std::string> OverrideOf(const LaunchCommand& command, const std::string& key,
                                      const std::string& value);

// The ZeRO stage of a DeepSpeed config file: from its text, else from its name ("ds_zero3.json").
std::optional<int64_t> ZeroStageOf(const std::string& path, const ReadNamedFile& read);

// What a DeepSpeed config file keeps in the host's memory or on its disks.
struct OffloadDevices {
  bool optimizer = false;
  bool parameters = false;
};
OffloadDevices OffloadOf(const std::string& path, const ReadNamedFile& read);

// The batch figures that a DeepSpeed config file fixes with numbers ("auto" leaves them to the
// trainer), as sentences' parts: "train_micro_batch_size_per_gpu 4".
std::vector<std::string> FixedByDeepspeed(const std::string& path, const ReadNamedFile& read);

}  // namespace gpuadvise::client
