// The waits of other users' jobs in one simulated sample, to compare it with a sample that has one
// request more or less.
//
// Followed are the jobs that wait in the snapshot, and those that arrive before what is asked about
// has ended. Times are seconds from the snapshot. Not thread-safe; one per simulation.
#pragma once

#include <cstdint>
#include <vector>

#include "common/scheduler/scheduler_cycle.h"

namespace gpuadvise {

class FollowedWaits {
 public:
  // What is asked about is of `own_user`, whose other jobs are not followed either, and starts when
  // RequestStarts() says so, in the first sample.
  explicit FollowedWaits(int32_t own_user);

  // Jobs that arrive within `window`, at most a day, are followed.
  FollowedWaits(int32_t own_user, int64_t window);

  // Before each sample; `waiting`: the length of queue.pending().
  void Restart(size_t waiting);

  // queue.pending()[index] takes part.
  void Add(size_t index, const PendingJob& job);

  // A job arrives; returns its Waiting::arrival.
  int32_t Arrive(const PendingJob& job, int64_t now);

  void RequestStarts(int64_t now, double run_seconds);
  void Starts(const Waiting& waiting, int64_t now);

  // Whether no further start matters.
  bool IsOver(int64_t now) const { return now > until_ || (left_ == 0 && now >= window_); }

  // Seconds, jobs of queue.pending() first, then arrivals in their order: 0 for jobs that are not
  // followed, and at most what is left until the sample ends.
  std::vector<int64_t> Waits() const;

 private:
  struct Followed {
    int64_t since = 0;
    int64_t start = -1;
    bool counts = false;
  };
  void Follow(Followed& place, const PendingJob& job, int64_t since);

  const int32_t own_user_;
  int64_t window_;  // arrivals until then are followed; kNever: not yet known
  int64_t until_;   // the end of the sample
  std::vector<Followed> jobs_;
  size_t waiting_ = 0;  // number of queue.pending()
  size_t left_ = 0;     // have not started
};

}  // namespace gpuadvise
