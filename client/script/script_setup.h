// The part of a job script before its training: environment, folder, modules, preparations.
//
// Keeps the lines and their order; leaves out and reports what has no meaning in a train.yaml.
// Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/script/launch_command.h"
#include "client/script/script_variables.h"
#include "client/shell/shell_script.h"

namespace gpuadvise::client {

struct SetupLine {
  std::string text;
  std::string assigns;  // the variable, if the line only assigns it; else ""
};

struct ScriptSetup {
  std::vector<std::pair<std::string, std::string>> env;  // values independent of the script
  std::string workdir;
  std::vector<SetupLine> lines;
  std::vector<std::string> left;     // sentences: what was left out and why
  std::vector<std::string> changed;  // sentences: what now reads otherwise
};

// Reads the statements around `launch`; `others`: other possible trainings.
ScriptSetup ReadSetup(const std::vector<ScriptStatement>& statements, const LaunchCommand& launch,
                      const std::vector<LaunchCommand>& others, const ScriptVariables& variables);

// Drops assignments to variables that neither `command` nor another kept line uses.
void DropUnused(ScriptSetup& setup, const std::string& command);

// Lines for the top of the command: setup's variables reach the program, those of a script without
// `export` do not, so one that launchers give their processes (RANK=16 of an adapter) stays a word
// of the command. "": none.
std::string WordsAlone(const ScriptSetup& setup);

}  // namespace gpuadvise::client
