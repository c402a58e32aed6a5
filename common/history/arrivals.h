// Recent submissions, from which future arrivals are drawn.
//
// A sample's future consists of past hours at the same time of day. Bursts stay together, busy
// hours stay busy and active users stay active. Takes submissions in order of time; not
// thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>

#include "common/history/job_duration_history.h"
#include "common/slurm/job_record.h"
#include "common/slurm/snapshot.h"

namespace gpuadvise {

// Upper bounds: submissions kept, and their age in seconds.
inline constexpr size_t kKeptArrivals = 500;
inline constexpr int64_t kWatchedSeconds = int64_t{7} * 86'400;

struct Arrival {
  UnixSeconds at = 0;
  Job job;           // as submitted
  int64_t kind = 0;  // equal for jobs that would be equal if resubmitted
};

// The arrival as a new, separate submission.
JobRecord Resubmitted(const Arrival& arrival);

class Arrivals {
 public:
  void Arrived(Job job, UnixSeconds at);

  // Asks `run_times` for the current run time of each kind. Answers are cached until a few more
  // jobs have ended: they change slowly, and each snapshot has hundreds of kinds.
  void AskRunTimes(const RunTimeHistory& run_times);

  // The cached answer; null if none since the kind first arrived.
  std::shared_ptr<const RunTimeDistribution> RunTimeOf(int64_t kind) const;

  // By time.
  const std::deque<Arrival>& recent() const { return recent_; }

  // Seconds before `now` for which every submission is known.
  int64_t WatchedFor(UnixSeconds now) const;

 private:
  int64_t KindOf(const Job& job, UnixSeconds at) const;

  std::deque<Arrival> recent_;
  int64_t kinds_ = 0;  // kinds so far
  struct Answer {
    std::shared_ptr<const RunTimeDistribution> run_time;
    int64_t jobs = 0;  // ended jobs at that time
  };
  std::unordered_map<int64_t, Answer> answers_;  // by kind
  UnixSeconds since_ = 0;                        // all later submissions are known
};

// How many seconds ago the past hour began that stands for the hour in `hour` hours. Same time of
// day if a full day is known, otherwise any hour; 0 without a full hour. Pure: `seed` and `sample`
// pick the day.
int64_t PastHourFor(int64_t hour, int64_t watched_seconds, uint64_t seed, uint64_t sample);

}  // namespace gpuadvise
