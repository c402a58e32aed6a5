// What a simple command of a job may do to those after it: bring programs into PATH, make files, or
// run its words where this machine's files are not. Judged by names alone, and in doubt that it
// does: a check may then warn, but stops no submission. Pure.
#pragma once

#include <string_view>

#include "client/preflight/shell_words.h"

namespace gpuadvise {

/// A builtin or reserved word of bash, or a function that every shell of a cluster has (`module`).
bool IsShellsOwn(std::string_view word);

/// Whether programs that are not in PATH now may be there after it: `source`, `module`, `PATH=…`.
bool MayBringPrograms(const SimpleCommand& command);

/// Whether files that are missing now may be there after it.
bool MayMakeFiles(const SimpleCommand& command);

/// Whether the files that it names are those of a container or of another machine.
bool RunsElsewhere(const SimpleCommand& command);

}  // namespace gpuadvise
