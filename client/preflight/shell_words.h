// The words of a job's command, as its shell will read them, as far as that can be told without
// running anything.
//
// Quotes, escapes, comments, variables and the operators between simple commands are understood;
// what only a shell or the job can know (command substitution, globs, braces, variables without a
// value) makes a word uncertain, and a compound command (if, for, while, …) or a function's
// definition ends the reading. Assignments are left out, but one to PATH, which decides what is
// found afterwards, is given as `export PATH=…`. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "client/preflight/shell_text.h"

namespace gpuadvise {

struct ShellWord {
  std::string text;
  bool certain = true;  // false: `text` is only a part of what the shell will make of it
};

using SimpleCommand = std::vector<ShellWord>;  // never empty; redirections are left out

std::vector<SimpleCommand> SimpleCommands(std::string_view script, const Variables& variables);

}  // namespace gpuadvise
