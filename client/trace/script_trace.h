// A training script run without values until its optimizer has made two steps: by trace_main.py, in
// the Python of the script's own command.
//
// The script runs as the caller, on this machine's CPU, within a time and a bound of memory; its
// output is taken and dropped. Blocking.
#pragma once

#include <chrono>
#include <string>

#include "client/script/launch_command.h"
#include "client/trace/trace_report.h"

namespace gpuadvise::client {

struct TraceLimits {
  std::chrono::seconds time{300};  // of one run
  int64_t memory_gib = 16;         // of this machine, that the script may fill with data
};

// A command that starts a Python program, ready to be traced.
struct TracedCommand {
  std::string python;                    // runs the script
  std::string program;                   // "train.py"
  std::vector<std::string> words;        // ["-m"], the program and its arguments
  std::vector<std::string> environment;  // NAME=VALUE that stands before it
  bool launched = false;  // by torchrun or its like, which says each process its rank
};

// `command` is a shell's text. `python`: runs it instead of the command's own; "" that one. Of
// torchrun, accelerate and the like the Python that lies beside them in `path` ("a:b"). Errors:
// kBadInput where no Python program is started, or where its words depend on a shell.
Result<TracedCommand> ReadTracedCommand(const std::string& command, const std::string& python,
                                        const char* path);

// One run; `scale` times the batch of the script's data loaders. Errors: as ReadTraceReport, and
// where Python cannot be run or ends without a report.
Result<TraceReport> TraceOnce(const TracedCommand& command, int64_t scale,
                              const TraceLimits& limits);

}  // namespace gpuadvise::client
