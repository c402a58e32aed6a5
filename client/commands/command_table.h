// The commands and options of `gpuadvise` as a table, taken from its parser: what completion
// offers (complete_command.h) and what `help` lists (help_topics.h).
//
// Pure values; a new command or option is in the table as soon as the parser has it.
#pragma once

#include <string>
#include <vector>

#include "client/commands/command.h"

namespace gpuadvise::client {

struct OptionRow {
  std::vector<std::string> names;  // "-t", "--state"; of a positional its one word, "JOBID"
  std::string value;               // what stands for its value: "STATE"; "": it takes none
  std::string description;
  std::vector<std::string> words;  // the values it takes, where they are few
  bool positional = false;
  bool many = false;  // may be given more than once in a row
};

struct CommandRow {
  std::string name;  // "" the program itself
  std::string description;
  std::vector<OptionRow> options;  // positionals first, then as --help has them
  ForeignWords foreign = ForeignWords::kNone;
};

// The program itself first, then its commands in the order of --help.
std::vector<CommandRow> CommandTable();

}  // namespace gpuadvise::client
