// A forecast of one wait: experts, simulation result, combination, and what is kept of it for
// scoring. Values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/history/wait_distribution.h"

namespace gpuadvise {

// Sources of forecasts. The first five are the baselines in the back-test's table.
enum class Expert {
  kZero,
  kPartitionMedian,  // empirical: last waits in the partition
  kLikeStates,       // empirical: last waits in similar states
  kPlanLimits,       // backfill plan of the whole queue with limits
  kPlanLastTwo,      // the same with the mean of each user's last two run times
  kSimulation,
  kForest,
};
inline constexpr size_t kExperts = 7;

// Simulation result for one submission.
struct SimulatedWait {
  WaitDistribution simulation;
  double earliest_seconds = 0;  // if no other job existed
  double plan_limits_seconds = 0;
  double plan_last_two_seconds = 0;
  bool free_now = false;       // its nodes are free, ignoring other waiting jobs
  bool held = false;           // held for an unseen reason, which simulation and plans ignore
  int64_t jobs_before = 0;     // pending jobs ranked above it that want some of its nodes
  int64_t jobs_competing = 0;  // all pending jobs that want some of its nodes
  int64_t held_jobs = 0;       // pending jobs excluded as held for an unseen reason
  double free_share = 0;       // of the GPUs on suitable nodes (CPUs if it wants no GPUs)
};

// Groups in the back-test's table, by what is known at submission.
enum class WaitGroup { kFitsNow, kFreeButQueued, kNotFree };

// One forecast with everything needed to learn from it later.
struct WaitForecast {
  WaitDistribution wait;  // pooled and calibrated: the forecast
  WaitGroup group = WaitGroup::kFitsNow;
  std::array<WaitDistribution, kExperts> experts;
  std::array<double, kExperts> weights{};  // in the pool; sum to 1
  std::vector<float> features;
  WaitDistribution pooled;        // before calibration
  std::vector<std::string> keys;  // of the state, for WaitHistory
  bool forest_ready = false;
};

// Distribution functions of all experts on one grid (expert_pool.h).
inline constexpr size_t kGridPoints = 64;
using ExpertGrid = std::array<std::array<float, kGridPoints>, kExperts>;

// The part of a forecast that is kept for learning until its outcome is known.
struct ForecastRecord {
  WaitGroup group = WaitGroup::kFitsNow;
  ExpertGrid experts{};
  std::vector<float> features;
  std::vector<float> pooled;  // equally likely waits of the pool, ascending
  double p90 = 0;             // of the final forecast
  std::vector<std::string> keys;
  bool forest_ready = false;
  friend bool operator==(const ForecastRecord&, const ForecastRecord&) = default;
};

}  // namespace gpuadvise
