// Runs a training script on tensors without values for two optimizer steps: trace_main.py in the
// Python of the script's own command.
//
// The script runs as the caller, on this machine's CPU, within limits of time and memory; its
// output is discarded. Blocking.
#pragma once

#include <chrono>
#include <string>

#include "client/script/launch_command.h"
#include "client/trace/trace_report.h"

namespace gpuadvise::client {

struct TraceLimits {
  std::chrono::seconds time{300};  // per run
  int64_t memory_gib = 16;         // host memory that the script may use for data
};

// A command that starts a Python program, ready to be traced.
struct TracedCommand {
  std::string python;                    // runs the script
  std::string program;                   // "train.py"
  std::vector<std::string> words;        // ["-m"], the program and its arguments
  std::vector<std::string> environment;  // NAME=VALUE before the command
  bool launched = false;  // by torchrun or similar, which gives each process its rank
};

// `command`: shell text. `python`: overrides the command's Python unless "". For torchrun,
// accelerate and similar, uses the Python in the launcher's folder of `path` ("a:b"). Errors:
// kBadInput if no Python program is started or its words depend on a shell.
Result<TracedCommand> ReadTracedCommand(const std::string& command, const std::string& python,
                                        const char* path);

// Traces one run. `scale`: factor on the batch of the script's data loaders. Errors: as
// ReadTraceReport, or Python cannot be run or ends without a report.
Result<TraceReport> TraceOnce(const TracedCommand& command, int64_t scale,
                              const TraceLimits& limits);

}  // namespace gpuadvise::client
