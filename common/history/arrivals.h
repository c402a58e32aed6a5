// Jobs that will arrive: what was submitted lately, from which a future is drawn again.
//
// A sample's future is put together from hours of the past at the same time of the day, so that
// bursts stay together, busy hours stay busy, and users who are active stay so. Told of every
// submission in the order of time; not thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>

#include "common/history/job_duration_history.h"
#include "common/slurm/job_record.h"
#include "common/slurm/snapshot.h"

namespace gpuadvise {

// So many submissions are kept at most, of the last so many seconds.
inline constexpr size_t kKeptArrivals = 500;
inline constexpr int64_t kWatchedSeconds = int64_t{7} * 86'400;

struct Arrival {
  UnixSeconds at = 0;
  Job job;           // as it was submitted
  int64_t kind = 0;  // the same for jobs that would be the same if they were submitted again
};

// The job of an arrival as one that is submitted once more, together with nobody.
JobRecord AgainOf(const Arrival& arrival);

class Arrivals {
 public:
  void Arrived(Job job, UnixSeconds at);

  // Asks `run_times` how long each kind would run if it were submitted now. An answer is kept until
  // a few more jobs have ended, for it changes slowly and hundreds of kinds are there at each
  // snapshot.
  void AskRunTimes(const RunTimeHistory& run_times);

  // The answer; null where it has not been asked since the first of its kind arrived.
  std::shared_ptr<const RunTimeDistribution> RunTimeOf(int64_t kind) const;

  // In the order of time.
  const std::deque<Arrival>& recent() const { return recent_; }

  // How far back from `now` every submission is known, in seconds.
  int64_t WatchedFor(UnixSeconds now) const;

 private:
  int64_t KindOf(const Job& job, UnixSeconds at) const;

  std::deque<Arrival> recent_;
  int64_t kinds_ = 0;  // so far
  struct Answer {
    std::shared_ptr<const RunTimeDistribution> run_time;
    int64_t jobs = 0;  // that had ended then
  };
  std::unordered_map<int64_t, Answer> answers_;  // by kind
  UnixSeconds since_ = 0;                        // every submission after it is known
};

// The hour of the past that stands for the one which begins in `hour` hours: it began so many
// seconds ago. At the same time of the day where a day is known, else any hour; 0 when there is
// not an hour. Pure: `seed` and `sample` pick the day.
int64_t PastHourFor(int64_t hour, int64_t watched_seconds, uint64_t seed, uint64_t sample);

}  // namespace gpuadvise
