// A forecast of one wait: who contributes to it, what the simulation found out, what it comes to,
// and what is kept of it until it shows how right it was. Values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/history/wait_distribution.h"

namespace gpuadvise {

// Who forecasts. The first five are the baselines of the back-test's table.
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

// What the scheduler simulation found out about one submission.
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

// The groups of the back-test's table, by what is known at submission.
enum class WaitGroup { kFitsNow, kFreeButQueued, kNotFree };

// One forecast with all that is needed to learn from it later.
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

// Distribution functions of all experts on one grid of waits (expert_pool.h).
inline constexpr size_t kGridPoints = 64;
using ExpertGrid = std::array<std::array<float, kGridPoints>, kExperts>;

// What has to be kept of a forecast until it shows how right it was: what is learned from.
struct ForecastRecord {
  WaitGroup group = WaitGroup::kFitsNow;
  ExpertGrid experts{};
  std::vector<float> features;
  std::vector<float> pooled;  // equally likely waits, as the pool says, ascending
  double p90 = 0;             // of the forecast
  std::vector<std::string> keys;
  bool forest_ready = false;
  friend bool operator==(const ForecastRecord&, const ForecastRecord&) = default;
};

}  // namespace gpuadvise
