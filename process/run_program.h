// Running another program to its end and taking what it prints: within a deadline and a bound.
//
// Blocks the calling thread; no shell is involved. Nothing the program does makes a call last
// longer than its deadline (and a second, in which a killed one goes). May be called from any
// thread; SIGPIPE is ignored from the first call on.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "process/child_process.h"

namespace gpuadvise {

struct ProgramCall {
  Command command;
  ChildOptions child;
  std::string input;                      // for its standard input
  std::chrono::milliseconds deadline{0};  // then it is killed; 0: none
  size_t max_output_bytes = 1 << 20;
  bool ends_at_bound = false;  // killed once it prints more, on either; else the rest is dropped
  std::function<bool()> stop;  // asked five times a second: whether to kill it now
};

struct ProgramEnd {
  enum class How { kByItself, kNotRun, kTooLate, kTooMuch, kStopped };

  How how = How::kByItself;
  int error = 0;  // kNotRun: errno
  ChildEnd end;   // kByItself
  std::string output;
  std::string errors;  // the first 4 KiB of its standard error, where that has its own pipe

  bool ok() const { return how == How::kByItself && end.ok(); }
};

// Runs it until it ends, or to what cuts it short: then it is killed, with its group where that is
// its own.
ProgramEnd RunWithin(const ProgramCall& call);

// Why `end`, which is not kByItself, came: "sbatch did not answer within 60 s". kInternal where it
// could not be run, else kUnavailable.
Error WhyCutShort(const ProgramCall& call, const ProgramEnd& end);

// RunWithin, of one that must end by itself. Errors: WhyCutShort.
Result<ProgramEnd> RunToItsEnd(const ProgramCall& call);

// Runs `program` in our process group. Returns its standard output. Errors: kInternal, when it
// could not run or failed.
Result<std::string> RunProgram(const std::string& program,
                               const std::vector<std::string>& arguments, const std::string& input,
                               ChildErrors errors);

// The first executable `name` in the directories of `path` ("a:b"); "" when there is none.
std::string FindInPath(const std::string& name, const char* path);

}  // namespace gpuadvise
