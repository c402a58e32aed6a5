// Finds the command of a job script that starts the training, and removes its wrapping: srun,
// `bash -c`, arrays and variables with arguments, `VAR=x` before it, redirections after it.
//
// Candidates are rated by their launcher, program name and flags. Pure.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/sbatch/sbatch_options.h"
#include "client/script/called_script.h"
#include "client/script/script_variables.h"
#include "client/shell/shell_script.h"

namespace gpuadvise::client {

enum class Launcher {
  kTorchrun,      // also python -m torch.distributed.run and .launch
  kAccelerate,    // accelerate launch
  kDeepspeed,     // deepspeed
  kPython,        // python script.py, python -m module: one process
  kMpi,           // mpirun, mpiexec, horovodrun
  kTune,          // torchtune's `tune run`
  kLlamaFactory,  // llamafactory-cli train
  kAxolotl,       // axolotl train, or its module under another launcher
  kSwift,         // ms-swift's `swift sft`
  kTrainScript,   // OpenMMLab's tools/dist_train.sh CONFIG GPUS, timm's distributed_train.sh GPUS
  kOther          // another known training program, such as fairseq-train
};

struct LaunchWord {
  std::string raw;                   // as written in a command
  std::optional<std::string> value;  // as expanded by the shell; nullopt: unknown
};

// The srun that starts the training.
struct SrunUse {
  SbatchOptions options;
  std::vector<std::string> left;  // options that change the run, such as a container
};

struct LaunchCommand {
  Launcher launcher = Launcher::kPython;
  std::vector<std::pair<std::string, std::string>> env;  // NAME and value as written, before it
  std::vector<std::optional<std::string>> env_values;    // expanded; nullopt: unknown
  std::vector<LaunchWord> words;                         // from the launcher or its wrapper on
  size_t launcher_at = 0;                                // index of the launcher's word
  size_t program_at = 0;        // index of the script or module; words.size(): none
  bool is_module = false;       // the program follows -m
  std::string visible_devices;  // CUDA_VISIBLE_DEVICES set earlier in the script; "": not
  std::string tail;             // redirections and pipes, as written
  std::optional<SrunUse> srun;
  bool in_login_shell = false;     // of `bash -lc`
  bool has_neighbours = false;     // other commands in the text of its `bash -c`
  std::optional<ScriptCall> call;  // of the shell script that it stands in; nullopt: this one
  ScriptBlock block = ScriptBlock::kNone;
  bool in_loop = false;
  int line = 0;
  size_t statement = 0;           // its index in the script
  size_t command = 0;             // its index in the statement
  int likeness = 0;               // score; higher: more like a training
  std::vector<std::string> open;  // variables in it that a condition may extend
};

// Minimum `likeness` of a training.
inline constexpr int kLooksLikeTraining = 3;

// Returns the text of a file named by a script; nullopt: unreadable.
using ReadNamedFile = std::function<std::optional<std::string>(const std::string& path)>;

// All commands that may be a training, in order, also those of shell scripts that are called.
// Fills `variables` with the script's assignments; a command sees only those before it.
std::vector<LaunchCommand> FindLaunches(const std::vector<ScriptStatement>& statements,
                                        ScriptVariables& variables, const ReadNamedFile& read = {});

// Reads a `command` of train.yaml, which may contain placeholders such as {gpus}. nullopt: no
// launcher in it.
std::optional<LaunchCommand> LaunchOf(const std::string& command, ScriptVariables& variables);

// The command's words and tail, as written.
std::string TextOf(const LaunchCommand& command);

}  // namespace gpuadvise::client
