// The part of `gpuadvise fit --trace` that is not `fit`: the script to its memory line.
#pragma once

#include <string>

#include "client/questions/training_question.h"
#include "client/terminal/console.h"
#include "client/trace/traced_memory.h"
#include "common/yaml/train_file.h"

namespace gpuadvise::client {

// Of a run of the script without values (client/trace).
struct TraceWishes {
  std::vector<std::string> command;  // what follows --; empty: the file's command
  std::string python;                // runs the script; "" the command's own
  double minutes = 5;                // of one run
  int64_t memory_gib = 16;           // of this machine
};

struct TracedTraining {
  TrainFile file;  // with the traced memory line as model.memory
  TracedMemory memory;
};

// Runs the script (client/trace/script_trace.h), twice where its micro-batch can be changed; blocks
// for as long. Errors: sentences that name the script's line or the file's.
Result<TracedTraining> TraceTraining(const TrainingSource& source, const TraceWishes& wishes,
                                     Console& console);

// Below the table: what was traced, what is not in it, and the lines for a train.yaml.
std::string TraceText(const TracedMemory& traced, const TerminalStyle& style);

}  // namespace gpuadvise::client
