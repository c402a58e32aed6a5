// Finds the command of a job script that starts the training, and removes its wrapping: srun,
// `bash -c`, arrays and variables with arguments, `VAR=x` before it, redirections after it.
//
// Candidates are rated by their launcher, program name and flags. Pure.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "client/script/launch_program.h"
#include "client/script/script_variables.h"
#include "client/shell/shell_script.h"

namespace gpuadvise::client {

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
