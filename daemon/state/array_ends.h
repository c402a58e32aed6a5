// When the tasks of arrays that wait will have ended: one simulation of the whole queue per sample.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "common/scheduler/queue_model.h"

namespace gpuadvise::daemon {

// By job id of what waits of an array: the end of its last task in each sample, in seconds from the
// snapshot; kNever: some tasks start after the simulated time, or are too many to simulate. Samples
// of several arrays have the same future.
using ArrayEnds = std::unordered_map<int64_t, std::vector<int64_t>>;

// As expensive as StartsInQueue(). Pure; safe from any thread.
ArrayEnds ArrayEndsOf(const QueueModel& queue);

}  // namespace gpuadvise::daemon
