// Start times of a job array that has not been submitted.
//
// The first task is an ordinary question (start_of.h). The delay of the last one is simulated: the
// array becomes a pending record whose tasks start within their user's limits and the array's
// throttle. Cost: one queue model including the array, and a full simulation per sample. Pure.
#pragma once

#include <cstdint>

#include "common/forecast/start_of.h"

namespace gpuadvise {

struct ArrayShape {
  int64_t tasks = 1;
  int64_t throttle = 0;  // most concurrent tasks; 0: unlimited
};

struct ArrayStarts {
  StartSamples first;  // of the first task
  StartSamples last;   // of the last simulated task
  int64_t tasks_played = 1;
  bool last_is_later = false;  // later than the horizon in at least half of the samples
};

// REQUIRES: array.tasks >= 1. Errors: as StartOf.
Result<ArrayStarts> StartOfArray(const QueueModel& queue, const JobRequest& request,
                                 const ArrayShape& array, const Submitter& submitter,
                                 size_t most_samples = kAllSamples);

}  // namespace gpuadvise
