// Start times of all queued jobs: one simulation of the whole queue per sample.
//
// Equal to StartOfWaiting for each job, except for correlations between jobs. Pure; safe from any
// thread. Cost: bench/performance.md.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "common/forecast/start_of.h"

namespace gpuadvise {

// By job id, without jobs that do not compete now. An array is represented by its next task.
// `nodes`: those of the first sample; empty in a group of many equal nodes, or if it starts after
// the horizon.
using QueueStarts = std::unordered_map<int64_t, StartSamples>;

// The question asked about one of them.
struct AskedJob {
  int64_t id = 0;
  SimulatedWait wait;
};

// `asked` receives the input of RecordForecasts; may be null.
QueueStarts StartsInQueue(const QueueModel& queue, std::vector<AskedJob>* asked = nullptr);

// Records the forecasts so that forecasts of waiting jobs are calibrated by age. `now`: when they
// were made. Calling every kAskedEvery is enough.
inline constexpr int64_t kAskedEvery = 600;
void RecordForecasts(const std::vector<AskedJob>& asked, UnixSeconds now, ForecastHistory& past);

}  // namespace gpuadvise
