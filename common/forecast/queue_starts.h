// When will everybody in the queue start? One play of the whole queue a sample, for all jobs.
//
// Says the same as StartOfWaiting would of each job alone, but for who shares a future with whom.
// Pure; safe from any thread. See docs/performance.md for what it costs.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "common/forecast/start_of.h"

namespace gpuadvise {

// By job id; jobs that do not compete now are not there. Of an array its next task. `nodes` is
// where the first play puts it; empty where that is among many equal nodes, or not before the
// horizon.
using QueueStarts = std::unordered_map<int64_t, StartSamples>;

// What was asked about one of them.
struct AskedJob {
  int64_t id = 0;
  SimulatedWait wait;
};

// `asked`: gets what `past` may be told by KeepAsked; null: nobody wants it.
QueueStarts StartsInQueue(const QueueModel& queue, std::vector<AskedJob>* asked = nullptr);

// So that what is said of jobs that wait is calibrated at their age as well. `now`: when it was
// asked. Who asks rarely, every kAskedEvery, learns as much as who asks often.
inline constexpr int64_t kAskedEvery = 600;
void KeepAsked(const std::vector<AskedJob>& asked, UnixSeconds now, ForecastHistory& past);

}  // namespace gpuadvise
