// Scores forecasts against actual starts and Slurm's estimates.
//
// Each job is forecast once, as of its submission, and scored when it starts. Jobs that leave
// without starting are not scored. Causal; a value; not thread-safe while it learns.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>

#include "common/history/wait_forecast.h"
#include "common/slurm/job_record.h"

namespace gpuadvise {

// Newest scores kept.
inline constexpr size_t kKeptScores = 5'000;

// Predicted 10, 20, … 90 % quantiles of the wait, rounded down to whole seconds as waits are.
inline constexpr size_t kDeciles = 9;
using Deciles = std::array<int32_t, kDeciles>;

// Published forecast of a job's wait, seconds from eligibility.
struct PublishedForecast {
  double p10 = 0;
  double p50 = 0;
  double p90 = 0;
  double mean = 0;
  WaitGroup group = WaitGroup::kFitsNow;
  std::optional<Deciles> deciles = std::nullopt;  // nullopt: forecast predates deciles
  friend bool operator==(const PublishedForecast&, const PublishedForecast&) = default;
};

struct StartScore {
  int64_t job_id = 0;
  UnixSeconds started_at = 0;
  std::string partition;
  std::string gpu;   // GRES type; "" none or untyped
  int64_t gpus = 0;  // total
  int64_t nodes = 1;
  PublishedForecast said;
  double wait = 0;                            // actual, seconds
  std::optional<double> slurm_error_seconds;  // absolute, of the first published StartTime
};

class ScoreBook {
 public:
  void Said(const JobRecord& job, const PublishedForecast& said);
  void SlurmSaid(int64_t job_id, UnixSeconds start);
  void Started(int64_t job_id, UnixSeconds at);
  void Left(int64_t job_id) { waiting_.erase(job_id); }

  // In order of start.
  const std::deque<StartScore>& scores() const { return scores_; }

 private:
  struct Waiting {
    UnixSeconds eligible = 0;
    std::optional<UnixSeconds> slurm_said;
    StartScore score;
  };
  std::unordered_map<int64_t, Waiting> waiting_;
  std::deque<StartScore> scores_;
};

}  // namespace gpuadvise
