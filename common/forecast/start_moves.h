// What moved the predicted start of a waiting job since submission.
//
// A later start needs a reason: new jobs ahead of it, jobs that run longer than usual, ended early
// or were cancelled. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/forecast/start_of.h"
#include "common/slurm/snapshot.h"

namespace gpuadvise {

struct StartMove {
  UnixSeconds said = 0;              // p50 as of submission
  UnixSeconds now = 0;               // current p50
  std::vector<std::string> because;  // largest share of GPUs first; empty: no cause in the queue
};

// nullopt: moved by no more than ten minutes and a quarter of the remaining wait, or no forecast at
// submission. `start`: its current forecast.
std::optional<StartMove> FindStartMove(const Job& job, const QueueModel& queue,
                                       const StartSamples& start);

}  // namespace gpuadvise
