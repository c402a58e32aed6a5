// Accuracy of scored forecasts: errors and coverage, compared with Slurm's estimates. Pure; safe
// from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/history/score_book.h"

namespace gpuadvise {

// Minimum scored forecasts for a statement on accuracy.
inline constexpr int64_t kEnoughScores = 30;

// A forecast with a longer p90 predicts a wait; coverage counts only those (as in the back-test).
inline constexpr double kPredictsWaitSeconds = 60;

// Accuracy of one group of forecasts. Errors are of the median, in seconds; 0 if there are none.
struct Accuracy {
  int64_t jobs = 0;
  double median_abs_error_seconds = 0;
  double within_600s = 0;    // share of all jobs
  double at_once = 0;        // share within a minute, of jobs predicted to start at once
  int64_t covered_jobs = 0;  // predicted to wait
  double covered_median_abs_error_seconds = 0;
  double coverage_p50 = 0;  // share of those that started by their p50
  double coverage_p90 = 0;
  int64_t slurm_jobs = 0;  // with a StartTime published by Slurm before the start
  double slurm_median_abs_error_seconds = 0;
  double median_abs_error_seconds_beside_slurm = 0;  // ours, for the same jobs
};

Accuracy ComputeAccuracy(const std::vector<const StartScore*>& scores);

// Size class of `gpus`: "0", "1", "2-3", "4-7", "8-15", …
std::string GpuSizeClass(int64_t gpus);

// One sentence on the accuracy, or that it is too early to tell.
std::string DescribeAccuracy(const Accuracy& accuracy);

}  // namespace gpuadvise
