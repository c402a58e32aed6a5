#include "common/history/accuracy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/base/statistics.h"
#include "common/base/words.h"

namespace gpuadvise {
namespace {

double Share(int64_t part, int64_t all) {
  return all > 0 ? static_cast<double>(part) / static_cast<double>(all) : 0;
}

}  // namespace

Accuracy ComputeAccuracy(const std::vector<const StartScore*>& scores) {
  Accuracy accuracy;
  std::vector<double> errors;
  std::vector<double> covered;
  std::vector<double> slurm;
  std::vector<double> beside_slurm;
  int64_t within = 0;
  int64_t at_once = 0;
  int64_t by_p50 = 0;
  int64_t by_p90 = 0;
  for (const StartScore* score : scores) {
    const double error = std::abs(score->said.p50 - score->wait);
    errors.push_back(error);
    if (error <= 600) ++within;
    if (score->said.p90 > kPredictsWaitSeconds) {
      covered.push_back(error);
      if (score->wait <= score->said.p50) ++by_p50;
      if (score->wait <= score->said.p90) ++by_p90;
    } else if (score->wait <= kPredictsWaitSeconds) {
      ++at_once;
    }
    if (!score->slurm_error_seconds) continue;
    slurm.push_back(*score->slurm_error_seconds);
    beside_slurm.push_back(error);
  }
  accuracy.jobs = static_cast<int64_t>(errors.size());
  accuracy.covered_jobs = static_cast<int64_t>(covered.size());
  accuracy.at_once = Share(at_once, accuracy.jobs - accuracy.covered_jobs);
  accuracy.covered_median_abs_error_seconds = UpperMedian(std::move(covered));
  accuracy.within_600s = Share(within, accuracy.jobs);
  accuracy.coverage_p50 = Share(by_p50, accuracy.covered_jobs);
  accuracy.coverage_p90 = Share(by_p90, accuracy.covered_jobs);
  accuracy.slurm_jobs = static_cast<int64_t>(slurm.size());
  accuracy.median_abs_error_seconds = UpperMedian(std::move(errors));
  accuracy.slurm_median_abs_error_seconds = UpperMedian(std::move(slurm));
  accuracy.median_abs_error_seconds_beside_slurm = UpperMedian(std::move(beside_slurm));
  return accuracy;
}

std::string GpuSizeClass(int64_t gpus) {
  if (gpus <= 1) return fmt::format("{}", std::max<int64_t>(gpus, 0));
  int64_t low = 2;
  while (gpus >= 2 * low) low *= 2;
  return fmt::format("{}-{}", low, 2 * low - 1);
}

std::string DescribeAccuracy(const Accuracy& accuracy) {
  if (accuracy.jobs < kEnoughScores) {
    return fmt::format("accuracy not known yet ({} of {} jobs needed)", accuracy.jobs,
                       kEnoughScores);
  }
  std::string words;
  if (const int64_t others = accuracy.jobs - accuracy.covered_jobs; others > 0) {
    words = fmt::format("{:.0f} % of {} forecast to start at once did so within a minute",
                        100 * accuracy.at_once, Plural(others, "job"));
  }
  if (accuracy.covered_jobs < kEnoughScores) {
    return words + fmt::format("{}accuracy of waits not known yet ({} of {} jobs needed)",
                               words.empty() ? "" : "; ", accuracy.covered_jobs, kEnoughScores);
  }
  return words +
         fmt::format(
             "{}{:.0f} % of {} forecast to wait started by their p90, half within {} of their p50",
             words.empty() ? "" : "; ", 100 * accuracy.coverage_p90,
             Plural(accuracy.covered_jobs, "job"),
             DurationInWords(accuracy.covered_median_abs_error_seconds));
}

}  // namespace gpuadvise
