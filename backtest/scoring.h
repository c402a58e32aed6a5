// Forecast accuracy: scores of one predictor over many jobs, by the group known at submission.
// Waits in seconds; each job weighs 1 / jobs of its burst. See scoring.cc.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/history/wait_distribution.h"
#include "common/history/wait_forecast.h"

namespace gpuadvise::backtest {

inline constexpr std::array<double, 7> kScoredQuantiles = {0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95};

// Predictors in table order: the product, five baselines, simulation, forest.
inline constexpr size_t kPredictors = 8;
extern const std::array<const char*, kPredictors> kPredictorNames;
inline constexpr size_t kBaselinesFrom = 1;
inline constexpr size_t kBaselinesTo = 6;

inline constexpr size_t kP50 = 3;  // index of the median in kScoredQuantiles

// One predictor's forecast, reduced to the scored figures.
struct PublishedForecast {
  std::array<float, kScoredQuantiles.size()> quantiles{};
  float within_minute = 0;  // probability of a start within 60 s
};
PublishedForecast ReduceForecast(const WaitDistribution& forecast);

// Place of a wait in its forecast: P(shorter) and P(at most as long), 0 … 1.
struct Place {
  float below = 0;
  float upto = 0;
};
Place PlaceIn(const WaitDistribution& forecast, double wait);

// Share of a wait in this place that counts as within quantile `q`: 0, 1 or, if the forecast gave
// that exact wait a positive probability, the part of it below `q`.
double WithinQuantile(const Place& place, double q);

// One scored submission.
struct Scored {
  int64_t job_id = 0;
  int64_t week = 0;
  WaitGroup group = WaitGroup::kFitsNow;
  double weight = 1;
  double wait = 0;  // or, if not started, the age when the log ends
  bool started = true;
  std::optional<double> test_only_error;
  std::array<PublishedForecast, kPredictors> said;
  std::array<Place, kPredictors> places{};  // of `wait`; only if started
};

// Mean pinball loss over kScoredQuantiles: of the wait, or of log(wait + 60 s).
double CrpsSeconds(const PublishedForecast& said, double wait);
double CrpsLog(const PublishedForecast& said, double wait);

struct Scores {
  double crps_seconds = 0;
  double crps_log = 0;
  double median_abs_error_seconds = 0;
  double waited_abs_error_seconds = 0;  // median, for waits over ten minutes
  double within_60s = 0;
  double within_600s = 0;
  double within_3600s = 0;
  double brier_60s = 0;
  double coverage_p50 = 0;  // of forecasts whose p90 exceeds a minute
  double coverage_p90 = 0;
  double place_p10 = 0;  // of the same forecasts: share of outcomes within their 10 %,
  double place_p50 = 0;  // 50 % and 90 % quantiles (WithinQuantile); 0.1, 0.5 and 0.9 if
  double place_p90 = 0;  // calibrated, even with many possible immediate starts
  int64_t jobs = 0;
  int64_t covered_jobs = 0;  // jobs behind the coverages
};

// REQUIRES: predictor < kPredictors. All zero without jobs.
Scores ComputeScores(const std::vector<const Scored*>& jobs, size_t predictor);

enum class ScoreGroup { kAll, kFitsNow, kFreeButQueued, kNotFree, kDoesNotFitNow };
inline constexpr size_t kScoreGroups = 5;
extern const std::array<const char*, kScoreGroups> kScoreGroupNames;
std::vector<const Scored*> InGroup(const std::vector<Scored>& jobs, ScoreGroup group);

// Loss of the product divided by that of the best single baseline, with a 90 % interval from a
// bootstrap over weeks.
struct Ratio {
  std::string best_baseline;
  double ratio = 0;
  double low = 0;
  double high = 0;
};
enum class Loss { kCrpsSeconds, kCrpsLog, kMedianAbsError };
Ratio RatioToBest(const std::vector<const Scored*>& jobs, Loss loss, uint64_t seed);

// Jobs after which the product should match every baseline.
inline constexpr size_t kLearnedAfter = 200;

// Maximum, over the jobs in submission order from the kLearnedAfter-th on, of the product's
// cumulative loss divided by that of the baseline best so far. 0 with fewer jobs.
// REQUIRES: loss is a CRPS.
double WorstSoFar(const std::vector<const Scored*>& jobs, Loss loss);

// Loss of the product divided by that of its best part (baselines, simulation, forest) in
// hindsight, over started jobs: of all, and the maximum over kSpan consecutive ones (0 with fewer,
// or without losses). REQUIRES: loss is a CRPS.
inline constexpr size_t kSpan = 500;
struct AgainstParts {
  std::string best_part;
  double ratio = 0;
  double worst_span = 0;
};
AgainstParts ToBestPart(const std::vector<const Scored*>& jobs, Loss loss);

}  // namespace gpuadvise::backtest
