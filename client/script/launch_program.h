// A command that may start a training, and what its words run: wrappers, launchers, the training's
// program, and how much that looks like a training. Pure.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/sbatch/sbatch_options.h"
#include "client/script/called_script.h"
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
  bool of_text = false;            // of `bash -c '…'`, which expands its words
  bool in_login_shell = false;     // of `bash -lc`
  bool has_neighbours = false;     // other commands in the text of its `bash -c`
  std::optional<ScriptCall> call;  // of the shell script that it stands in; nullopt: this one
  ScriptBlock block = ScriptBlock::kNone;
  bool in_loop = false;
  int line = 0;
  size_t statement = 0;           // its index in the script
  size_t command = 0;             // its index in the statement
  int likeness = 0;               // score; higher: more like a training
  std::vector<std::string> held;  // variables that hold several of its words
  std::vector<std::string> open;  // those of them that a condition may extend
};

// Minimum `likeness` of a training.
inline constexpr int kLooksLikeTraining = 3;

// "train.sh" of "./scripts/train.sh".
std::string BaseName(const std::string& path);

// The word at `at`, as expanded or else as written; "" behind the last.
std::string WordAt(const std::vector<LaunchWord>& words, size_t at);

// Of a program's name: bash; one that runs its other words as a program, such as nohup; OpenMMLab's
// dist_train.sh and its like; a training of one's own, such as nequip-train.
bool IsShell(const std::string& name);
bool IsWrapper(const std::string& name);
bool IsTrainingScript(const std::string& name);
bool IsNamedTraining(const std::string& name);

// Whether a word starts a container: "apptainer", "/usr/bin/docker".
bool IsContainerWord(const std::string& word);

// The training's program: "train.py", "axolotl.cli.train"; "": none.
std::string ProgramOf(const LaunchCommand& command);

// The launcher at a word and the one after it; nullopt for any other program.
std::optional<Launcher> LauncherAt(const std::vector<LaunchWord>& words, size_t at);

// Fills program_at, launcher and is_module of a command whose words begin with a launcher.
void FindProgram(LaunchCommand& command);

// Number of words that are flags specific to trainings, 0 to 4.
int CountTrainingFlags(const std::vector<LaunchWord>& words);

// Its `likeness`, by launcher, program name and flags.
int RateLikeness(const LaunchCommand& command);

// Whether it is one process, as far as its command says: python, or a program that is neither a
// launcher nor known to start others.
bool StartsOneProcess(const LaunchCommand& launch);

}  // namespace gpuadvise::client
