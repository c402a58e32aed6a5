// The jobs that arrive in one sample of the played queue, drawn hour by hour from the submissions
// of the past as the sample gets there.
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
  Rank rank;  // by its priority beside those who have waited until then; one for all of an array
  double run_seconds = 0;  // so long it will run
};

class ComingJobs {
 public:
  // `is_played`: whether a job is looked at in this sample.
  ComingJobs(const QueueModel& queue, int sample, std::function<bool(const PendingJob&)> is_played);

  // When the next one arrives, later than `now`; kNever when nobody does before the horizon.
  int64_t Next(int64_t now);

  // That one. REQUIRES: Next() < kNever.
  const ComingJob& Take() { return coming_[taken_++]; }

 private:
  void DrawHour(int64_t now);

  const QueueModel& queue_;
  const uint64_t sample_;
  std::function<bool(const PendingJob&)> is_played_;
  std::vector<ComingJob> coming_;  // in the order of time
  size_t taken_ = 0;
  int64_t hour_ = 0;  // the next to be drawn
};

}  // namespace gpuadvise
