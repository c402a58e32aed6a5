// What moved the start of a job that waits, since it was submitted.
//
// A start that is an hour later than it was said to be wants a reason: who came and stands before
// it, who runs longer than such jobs do, who ended early, who was cancelled. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/forecast/start_of.h"
#include "common/slurm/snapshot.h"

namespace gpuadvise {

struct StartMove {
  UnixSeconds said = 0;              // the p50 as of its submission
  UnixSeconds now = 0;               // the p50 now
  std::vector<std::string> because;  // the largest share of GPUs first; empty: nothing in the queue
};

// nullopt: it has not moved by more than ten minutes and a quarter of what is left, or nothing was
// said at its submission. `start`: its forecast now.
std::optional<StartMove> MoveOf(const Job& job, const QueueModel& queue, const StartSamples& start);

}  // namespace gpuadvise
