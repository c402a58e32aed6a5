// Runs a program to its end and collects its output, within a deadline and a size limit.
//
// Blocks the calling thread; uses no shell. A call never exceeds its deadline by more than a
// second, for the killed program to end. May be called from any thread; ignores SIGPIPE from the
// first call on.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/process/child_process.h"

namespace gpuadvise {

struct ProgramCall {
  Command command;
  ChildOptions child;
  std::string input;                      // for its standard input
  std::chrono::milliseconds deadline{0};  // then killed; 0: none
  size_t max_output_bytes = 1 << 20;
  bool ends_at_bound = false;  // kill at the limit of either stream; otherwise drop the rest
  std::function<bool()> stop;  // polled five times a second: whether to kill it
};

struct ProgramEnd {
  enum class How { kByItself, kNotRun, kTooLate, kTooMuch, kStopped };

  How how = How::kByItself;
  int error = 0;  // kNotRun: errno
  ChildEnd end;   // kByItself
  std::string output;
  std::string errors;  // first 4 KiB of standard error, if it has its own pipe

  bool ok() const { return how == How::kByItself && end.ok(); }
};

// Runs the program until it ends or is cut short; then kills it, with its group if it has its own.
ProgramEnd RunWithin(const ProgramCall& call);

// Why `end`, other than kByItself, came: "sbatch did not answer within 60 s". kInternal if it could
// not be run, else kUnavailable.
Error ExplainTermination(const ProgramCall& call, const ProgramEnd& end);

// Like RunWithin, but anything other than kByItself is an error. Errors: ExplainTermination.
Result<ProgramEnd> RunToCompletion(const ProgramCall& call);

// Runs `program` in our process group and returns its standard output. Errors: kInternal if it
// could not run or failed.
Result<std::string> RunProgram(const std::string& program,
                               const std::vector<std::string>& arguments, const std::string& input,
                               ChildErrors errors);

// The first executable `name` in the directories of `path` ("a:b"); "" if none.
std::string FindInPath(const std::string& name, const char* path);

}  // namespace gpuadvise
