// The learned forecast of a wait within what is certain.
#pragma once

#include <cstdint>
#include <vector>

#include "common/history/wait_forecast.h"
#include "common/scheduler/queue_model.h"

namespace gpuadvise {

// Bounds of the waits of jobs in queue order. Not thread-safe.
class WaitBounds {
 public:
  // REQUIRES: `queue` outlives it.
  explicit WaitBounds(const QueueModel& queue)
      : queue_(queue), wanted_(queue.cap_use()), share_of_a_day_(ShareOfADay(queue)) {}

  // Counts `job` against the usage limits of those behind it.
  void AddBefore(const PendingJob& job);

  // Equally likely waits of `wait`, ascending, none before `simulated.earliest_seconds`. Where
  // no room is free and others are before the job, none within a minute that no simulation has.
  //
  // A young history has seen a few hours of arrivals: what jobs yet to come may add to the plan at
  // the time limits counts in proportion to the share of a day that was watched, unless a usage
  // limit, a dependency or fair share may delay the job beyond that plan. REQUIRES: AddBefore() of
  // all jobs before it in the queue, and of no other.
  std::vector<int64_t> Within(const PendingJob& job, const WaitDistribution& wait,
                              const SimulatedWait& simulated) const;

 private:
  static double ShareOfADay(const QueueModel& queue);
  static double EarliestOf(const SimulatedWait& simulated);
  bool MayMeetALimit(const PendingJob& job) const;

  const QueueModel& queue_;
  std::vector<int64_t> wanted_;  // by cap: in use, and by jobs before
  double share_of_a_day_;
};

// For one job: bounds behind all that rank before it.
std::vector<int64_t> BoundedWaits(const QueueModel& queue, const PendingJob& job,
                                  const WaitDistribution& wait, const SimulatedWait& simulated);

}  // namespace gpuadvise
