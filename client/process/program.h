// Running another program to its end and reading what it says.
//
// The program is given by its path and gets its arguments as they are: no shell is involved. Output
// is kept up to 1 MiB. May be called from any thread; SIGPIPE is ignored from the first call on.
#pragma once

#include <string>
#include <vector>

#include "common/error.h"

namespace gpuadvise {

/// Where a program's standard error goes: the caller's, nowhere, or into what is returned.
enum class ChildErrors { kInherited, kDiscarded, kTogether };

struct ProgramCall {
  std::string program;  // a path
  std::vector<std::string> arguments;
  std::string input;  // for its standard input
  ChildErrors errors = ChildErrors::kInherited;
  double deadline_seconds = 0;  // then it is killed with its children; 0: none
};

struct ProgramEnd {
  std::string output;
  std::string failure;  // "exit status 1", "signal 9"; "" it ended well
};

/// Runs it to its end. Errors: it could not be started, or the deadline came first.
Result<ProgramEnd> RunToItsEnd(const ProgramCall& call);

/// Runs `program` with `arguments` and `input`. Returns its standard output. Errors: it could not
/// run, or its status.
Result<std::string> RunProgram(const std::string& program,
                               const std::vector<std::string>& arguments, const std::string& input,
                               ChildErrors errors);

/// The first executable `name` in the directories of `path` ("a:b"); "" when there is none.
std::string FindInPath(const std::string& name, const char* path);

}  // namespace gpuadvise
