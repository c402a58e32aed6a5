// What the past says about a wait, beside what the simulation says: baselines, simulation and an
// on-line quantile forest, pooled by their recent loss, with outer quantiles calibrated on-line.
//
// Strictly causal: it knows what it was told, in the order of time. `Forecast` is const and changes
// nothing; a forecast becomes evidence only through `Submitted`, `Started` and `Advance`.
// Not thread-safe: one thread writes; concurrent `Forecast` calls are fine while nobody writes.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/job_record.h"
#include "common/queue_crowds.h"
#include "common/snapshot.h"
#include "common/wait_distribution.h"

namespace gpuadvise {

/// Who forecasts. The first five are the baselines of the back-test's table.
enum class Expert {
  kZero,
  kPartitionMedian,  // empirical: the last waits in the partition
  kLikeStates,       // empirical: the last waits in like states
  kPlanLimits,       // backfill plan of the whole queue at the limits
  kPlanLastTwo,      // the same plan with the mean of each user's last two run times
  kSimulation,
  kForest,
};
inline constexpr size_t kExperts = 7;

/// What the scheduler simulation found out about one submission.
struct SimulatedWait {
  WaitDistribution simulation;
  double plan_limits_seconds = 0;
  double plan_last_two_seconds = 0;
  bool free_now = false;       // its nodes are free, whoever else waits
  int64_t jobs_before = 0;     // pending jobs of higher rank that want some of its nodes
  int64_t jobs_competing = 0;  // all pending jobs that want some of its nodes
  int64_t held_jobs = 0;       // pending jobs left out as held by something unseen
  double free_share = 0;       // of the nodes' GPUs (CPUs where it wants none) that could serve it
};

/// The groups of the back-test's table, by what is known at submission.
enum class WaitGroup { kFitsNow, kFreeButQueued, kNotFree };

/// One forecast with all that is needed to learn from it later.
struct WaitForecast {
  WaitDistribution wait;  // pooled and calibrated: the forecast
  WaitGroup group = WaitGroup::kFitsNow;
  std::array<WaitDistribution, kExperts> experts;
  std::array<double, kExperts> weights{};  // in the pool; sum 1
  std::vector<float> features;
  WaitDistribution pooled;        // before calibration
  std::vector<std::string> keys;  // of the state, for the histories
  bool forest_ready = false;
};

/// Distribution functions of all experts on one grid of waits (expert_pool.h).
inline constexpr size_t kGridPoints = 64;
using ExpertGrid = std::array<std::array<float, kGridPoints>, kExperts>;

/// What has to be kept of a forecast until it shows how right it was: what is learned from.
struct WaitLesson {
  WaitGroup group = WaitGroup::kFitsNow;
  ExpertGrid experts{};
  std::vector<float> features;
  std::vector<float> pooled;  // quantiles of the pool, 0 … 1 in equal steps
  double p90 = 0;             // of the forecast
  std::vector<std::string> keys;
  bool forest_ready = false;
  friend bool operator==(const WaitLesson&, const WaitLesson&) = default;
};

WaitLesson LessonOf(const WaitForecast& forecast);

/// A value: a copy learns on its own.
class WaitLearner {
 public:
  explicit WaitLearner(uint64_t seed = 1);
  ~WaitLearner();
  WaitLearner(const WaitLearner& other);
  WaitLearner& operator=(const WaitLearner& other);
  WaitLearner(WaitLearner&&) noexcept;
  WaitLearner& operator=(WaitLearner&&) noexcept;

  /// The wait of `job`, submitted at queue.taken_at(); `queue` does not count the job itself.
  WaitForecast Forecast(const QueueCrowds& queue, const JobRecord& job,
                        const SimulatedWait& simulated) const;

  /// How much longer a job waits that is in the queue already. `job_id`: what was said of it at its
  /// submission counts as well, as far as it has not been proved wrong; nullopt: nothing was.
  WaitDistribution ForecastWaiting(std::optional<int64_t> job_id, UnixSeconds now,
                                   const SimulatedWait& simulated) const;

  /// `job` is in the queue from now on. Without a lesson it only feeds the histories.
  void Submitted(const JobRecord& job);
  void Submitted(const JobRecord& job, std::shared_ptr<const WaitLesson> lesson);

  void Started(int64_t job_id, UnixSeconds at);
  void Ended(int64_t job_id, UnixSeconds at);     // after it ran
  void Vanished(int64_t job_id, UnixSeconds at);  // left the queue without having started

  /// Time has passed: pending jobs that are past their p90 count as misses; retrains when due.
  void Advance(UnixSeconds now);

  /// Between the two the forest is not built: for a past that is told at once.
  void Pause();
  void Resume(UnixSeconds now);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gpuadvise
