// All that history contributes to a forecast: how long jobs run, how long they waited, which ones
// are held, who came lately, and how right what was said has been. Told of every event in the order
// of time; knows nothing else (strictly causal).
//
// A value: a copy learns on its own. Not thread-safe: one thread writes; questions may read while
// nobody writes.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "common/history/arrivals.h"
#include "common/history/held_jobs.h"
#include "common/history/job_duration_history.h"
#include "common/history/score_book.h"
#include "common/history/wait_learner.h"
#include "common/slurm/job_record.h"

namespace gpuadvise {

// Everything that is known of one job. It is also what a history keeps (daemon/store/history.h).
struct PastJob {
  JobRecord record;                       // an end without a start: it left the queue then
  std::optional<PublishedForecast> said;  // the forecast as of its submission
  std::shared_ptr<const ForecastRecord> forecast_record;  // null: nothing was said, or too long ago
  std::optional<UnixSeconds> slurm_said;  // the first StartTime that Slurm published for it
  std::shared_ptr<const Job> submission;  // as it was submitted; null: not seen, or too long ago
  bool lost = false;                      // left while nobody watched; when is not known
};

struct ForecastHistory {
  RunTimeHistory run_times;
  WaitLearner waits;
  HeldJobs held;
  Arrivals arrivals;
  ScoreBook scores;

  // A job is in the queue from now on. One of the same id that has not ended is forgotten.
  void Submitted(PastJob job);
  void Submitted(const JobRecord& job);

  // Slurm names a start for a job that waits; the first one counts.
  void SlurmSaid(int64_t job_id, UnixSeconds start);

  void Started(int64_t job_id, UnixSeconds at);
  void Ended(int64_t job_id, UnixSeconds at);     // after it ran
  void Vanished(int64_t job_id, UnixSeconds at);  // left the queue without having started
  void Advance(UnixSeconds now) { waits.Advance(now); }

  // What is known of a job that has not ended; null: nothing.
  const PastJob* Find(int64_t job_id) const;

  // Jobs that have not ended.
  const std::unordered_map<int64_t, PastJob>& open() const { return open_; }

  // The last kLeftKept jobs that ended or left the queue, oldest first; without a start: the
  // latter.
  static constexpr size_t kLeftKept = 500;
  const std::deque<JobRecord>& left() const { return left_; }

 private:
  void Leave(JobRecord job, UnixSeconds at);

  std::deque<JobRecord> left_;
  std::unordered_map<int64_t, PastJob> open_;
};

// A past that is told of all `jobs` at once, up to `now`.
ForecastHistory PastOf(std::vector<PastJob> jobs, UnixSeconds now);

}  // namespace gpuadvise
