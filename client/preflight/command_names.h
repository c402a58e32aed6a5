// What a job's command needs before it starts: programs, scripts, settings, data, models of the
// Hugging Face Hub; and its own checkpoint options.
//
// Read from its words by the conventions of torchrun, Hugging Face's scripts and argparse. Relative
// paths are resolved against the command's folder, as changed by `cd`. Pure; opens no files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/shell/shell_words.h"

namespace gpuadvise::client {

struct NamedPath {
  std::string name;          // as written: "train.py", "--data-path data/train.jsonl"
  std::string path;          // absolute; "": unknown
  bool may_be_hub = false;   // may be a name on the Hub: "data/train"
  bool may_be_made = false;  // an earlier part of the command may create it
};

struct NamedProgram {
  std::string name;             // for PATH, or an absolute path
  bool may_be_brought = false;  // an earlier part of the command may provide it
};

struct CommandNames {
  std::vector<NamedProgram> programs;  // in order
  std::vector<NamedPath> scripts;      // run by a program of the command
  std::vector<NamedPath> settings;     // files given to --deepspeed, --config and the like
  std::vector<NamedPath> data;
  std::vector<NamedPath> hub_models;  // "meta-llama/Llama-3.1-8B", or a folder of that name
  bool pushes_to_hub = false;
  std::string output_dir;  // --output_dir, absolute; "": none
  std::optional<int64_t> save_steps, save_total_limit;
};

// `folder`: where the command starts, absolute.
CommandNames NamesIn(const std::vector<SimpleCommand>& commands, const std::string& folder);

}  // namespace gpuadvise::client
