// The command line of `gpuadvise`, read into one of the commands of command.h.
//
// Pure: arguments in, a command that can be run or a text to leave with out.
#pragma once

#include <functional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "client/commands/command.h"

namespace gpuadvise::client {

struct CommandLine {
  Command command;  // its options are read
  CommonOptions common;
};

// Help, the version, or what is wrong: the process prints `text` and ends.
struct EarlyExit {
  int exit_code = 0;
  std::string text;  // what to print when exit_code is 0, else the sentence that says what is wrong
};

// Whether --json is among `arguments` before `--`. For a command line that cannot be read, whose
// error is then told as JSON too; of one that can, CommonOptions::json says it.
bool WantsJson(const std::vector<std::string>& arguments);

// `arguments` without the program's name.
tl::expected<CommandLine, EarlyExit> ParseCommandLine(std::vector<std::string> arguments);

// Our own words of a command that takes sbatch's options as they are.
struct OwnWords {
  std::vector<std::string> flags;   // "--json"
  std::vector<std::string> values;  // "--socket": "--socket PATH" or "--socket=PATH"
};

// Calls `look` with the parser and the commands in it, for who lists them (command_table.h).
void WithParser(
    const std::function<void(const CLI::App& app, const std::vector<Command>& commands)>& look);

// Takes everything but the command and `own` out of `arguments`: sbatch's options and a script.
std::vector<std::string> TakeSbatchWords(const OwnWords& own, std::vector<std::string>* arguments);

// Takes `--` and what follows it out of `arguments`; without `--` nothing.
std::vector<std::string> TakeAfterDashes(std::vector<std::string>* arguments);

}  // namespace gpuadvise::client
