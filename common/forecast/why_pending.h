// Everything that keeps a job waiting, in plain words, with what ends each: Slurm's own reason, and
// findings from the tables (limits and their use, nodes by name, jobs ahead). Pure.
#pragma once

#include <string>
#include <vector>

#include "common/forecast/start_of.h"
#include "common/slurm/snapshot.h"

namespace gpuadvise {

struct WhyPending {
  std::string words;
  std::string clears;  // "": nothing
};

// Most relevant first. `start`: its forecast; may be null.
std::vector<WhyPending> ExplainWait(const Job& job, const QueueModel& queue,
                                    const StartSamples* start);

}  // namespace gpuadvise
