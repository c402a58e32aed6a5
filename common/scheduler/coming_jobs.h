// Jobs that arrive during one simulated sample, drawn hour by hour from past submissions.
//
// Times are seconds from the snapshot. Not thread-safe; one per sample.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "common/scheduler/queue_model.h"

namespace gpuadvise {

struct ComingJob {
  int64_t time = 0;
  const PendingJob* job = nullptr;
  Rank rank;  // by priority, compared with jobs that have aged until then; shared by an array
  double run_seconds = 0;  // its run time
};

class ComingJobs {
 public:
  // Most arrivals in a sample: further ahead, the jobs already queued decide.
  static constexpr size_t kMost = 200;

  // `is_simulated`: whether a job takes part in this sample.
  ComingJobs(const QueueModel& queue, int sample, std::function<bool(const PendingJob&)> is_played,
             size_t most = kMost);

  // Arrival time of the next job, later than `now`; kNever: none before the horizon.
  int64_t Next(int64_t now);

  // Takes that job. REQUIRES: Next() < kNever.
  const ComingJob& Take() { return coming_[taken_++]; }

 private:
  void DrawHour(int64_t now);

  const QueueModel& queue_;
  const uint64_t sample_;
  std::function<bool(const PendingJob&)> is_simulated_;
  const size_t most_;
  std::vector<ComingJob> coming_;  // by time
  size_t taken_ = 0;
  int64_t hour_ = 0;  // next hour to draw
};

}  // namespace gpuadvise
