// Reads the words of a job's command, of a script's line, and of a #SBATCH line, whose quoting
// resembles the shell's.
//
// All understand quotes, escapes, comments and continued lines; for a whole command also variables
// and the operators between simple commands, as far as possible without running it. What only a
// shell or the job can know (command substitution, globs, braces, variables without a value) makes
// a word uncertain; a compound command (if, for, while, …) or a function definition ends the
// reading. Assignments are left out, except to PATH, which affects later look-ups: it becomes
// `export PATH=…`. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "client/shell/shell_text.h"

namespace gpuadvise::client {

struct ShellWord {
  std::string text;
  bool certain = true;  // false: `text` is only a part of the expanded word
};

using SimpleCommand = std::vector<ShellWord>;  // never empty; redirections are left out

std::vector<SimpleCommand> SimpleCommands(std::string_view script, const Variables& variables);

// The words of one line without quotes; nothing is expanded, operators are text.
std::vector<std::string> SplitShellLine(std::string_view line);

// The words of a #SBATCH line as read by sbatch ("--job-name='a b' -N1 # why" gives two): a '#'
// outside quotes starts a comment even within a word, and in double quotes a backslash escapes any
// character.
std::vector<std::string> SplitDirective(std::string_view line);

// Whether it is NAME=VALUE or NAME+=VALUE.
bool IsAssignment(std::string_view word);

}  // namespace gpuadvise::client
