// What the words of a command run: wrappers, launchers, the training's program, and how much that
// looks like a training. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "client/script/launch_command.h"

namespace gpuadvise::client {

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
