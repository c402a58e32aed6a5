// The part of `gpuadvise fit --trace` that is not `fit`: the script to its memory line.
#pragma once

#include <string>

#include "client/commands/commands.h"
#include "client/trace/traced_memory.h"
#include "yaml/train_file.h"

namespace gpuadvise::client {

struct TracedTraining {
  TrainFile file;  // with the traced memory line as model.memory
  TracedMemory memory;
};

// Runs the script (client/trace/script_trace.h), twice where its micro-batch can be changed; blocks
// for as long. Errors: sentences that name the script's line or the file's.
// REQUIRES: command.trace.
Result<TracedTraining> TraceTraining(const FitCommand& command, Console& console);

// Below the table: what was traced, what is not in it, and the lines for a train.yaml.
std::string TraceText(const TracedMemory& traced, const TerminalStyle& style);

}  // namespace gpuadvise::client
