// All that history contributes to a forecast: how long jobs run, how long they waited, which ones
// are held. Told of every event in the order of time; knows nothing else (strictly causal).
// Not thread-safe: one thread writes; questions may read while nobody writes.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "common/arrivals.h"
#include "common/held_jobs.h"
#include "common/job_record.h"
#include "common/run_time_history.h"
#include "common/wait_learner.h"

namespace gpuadvise {

struct Past {
  RunTimeHistory run_times;
  WaitLearner waits;
  HeldJobs held;
  Arrivals arrivals;

  /// A job is in the queue from now on; the forecast made for it, where there is one.
  void Submitted(const JobRecord& job);
  void Submitted(const JobRecord& job, const WaitForecast& forecast);

  void Started(int64_t job_id, UnixSeconds at);
  void Ended(int64_t job_id, UnixSeconds at);     // after it ran
  void Vanished(int64_t job_id, UnixSeconds at);  // left the queue without having started
  void Advance(UnixSeconds now) { waits.Advance(now); }

 private:
  std::unordered_map<int64_t, JobRecord> known_;  // that have not ended
};

}  // namespace gpuadvise
