// All history behind a forecast: run times, waits, held jobs, arrivals, and accuracy. Takes events
// in order of time; strictly causal.
//
// A value: a copy learns independently. Not thread-safe: one writer; concurrent reads only without
// a writer.
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

// Everything known about one job. Also the stored form (daemon/store/history.h).
struct PastJob {
  JobRecord record;                       // an end without a start: the time it left the queue
  std::optional<PublishedForecast> said;  // forecast as of its submission
  std::shared_ptr<const ForecastRecord> forecast_record;  // null: no forecast, or too old
  std::optional<UnixSeconds> slurm_said;                  // first StartTime published by Slurm
  std::shared_ptr<const Job> submission;  // as submitted; null: not seen, or too old
  bool lost = false;                      // left unobserved; time unknown
};

struct ForecastHistory {
  RunTimeHistory run_times;
  WaitLearner waits;
  HeldJobs held;
  Arrivals arrivals;
  ScoreBook scores;

  // The job enters the queue. Forgets an open job of the same id.
  void Submitted(PastJob job);
  void Submitted(const JobRecord& job);

  // Slurm published a start for a waiting job; only the first counts.
  void SlurmSaid(int64_t job_id, UnixSeconds start);

  void Started(int64_t job_id, UnixSeconds at);
  void Ended(int64_t job_id, UnixSeconds at);     // after running
  void Vanished(int64_t job_id, UnixSeconds at);  // left the queue without a start
  void Advance(UnixSeconds now) { waits.Advance(now); }

  // The open job; null: unknown.
  const PastJob* Find(int64_t job_id) const;

  // Open jobs.
  const std::unordered_map<int64_t, PastJob>& open() const { return open_; }

  // The last kLeftKept jobs that ended or left the queue, oldest first. The latter have no start.
  static constexpr size_t kLeftKept = 500;
  const std::deque<JobRecord>& left() const { return left_; }

 private:
  void Leave(JobRecord job, UnixSeconds at);

  std::deque<JobRecord> left_;
  std::unordered_map<int64_t, PastJob> open_;
};

// History from all `jobs` at once, up to `now`.
ForecastHistory BuildHistory(std::vector<PastJob> jobs, UnixSeconds now);

}  // namespace gpuadvise
