// Keeps a sweep: until all runs have ended, waiting ones move to where they end first, lost ones
// are submitted again, and failed ones as often as asked.
#pragma once

#include <cstdint>

#include "client/commands/command.h"
#include "client/sweep/sweep_folder.h"

namespace gpuadvise::client {

struct KeepOptions {
  double every_seconds = 60;   // between two looks at the queue
  double settle_seconds = 90;  // until a run that is out of the queue counts as failed or lost
  int64_t retry = 0;           // of a failed run
};

// Returns when all runs have ended. It may be killed at any moment and started again. Exit status:
// 0 if all are done, 1 if some failed.
int KeepSweep(SweepFolder& folder, const KeepOptions& options, const CommandContext& context);

// How far the sweep is, once.
int ShowSweep(const SweepFolder& folder, const CommandContext& context);

}  // namespace gpuadvise::client
