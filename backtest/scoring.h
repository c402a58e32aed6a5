// How right were the forecasts? Scores of one predictor over many jobs, by the group that was known
// at submission. Waits in seconds; each job weighs 1 / jobs of its burst. See scoring.cc.
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

// Predictors in the order of the table: the product, the five baselines, simulation and forest.
inline constexpr size_t kPredictors = 8;
extern const std::array<const char*, kPredictors> kPredictorNames;
inline constexpr size_t kBaselinesFrom = 1;
inline constexpr size_t kBaselinesTo = 6;

inline constexpr size_t kP50 = 3;  // where the median stands among the scored quantiles

// What one predictor said, reduced to what is scored.
struct PublishedForecast {
  std::array<float, kScoredQuantiles.size()> quantiles{};
  float within_minute = 0;  // probability of a start within 60 s
};
PublishedForecast SaidBy(const WaitDistribution& forecast);

// Where a wait lies in its forecast: the probability of a shorter one, and of one at most as long.
struct Place {
  float below = 0;
  float upto = 0;
};
Place PlaceIn(const WaitDistribution& forecast, double wait);

// How much of a wait in this place counts as within the quantile `q`: all, nothing or, of a wait
// that was said with some probability, its part of that.
double WithinQuantile(const Place& place, double q);

// One scored submission.
struct Scored {
  int64_t job_id = 0;
  int64_t week = 0;
  WaitGroup group = WaitGroup::kFitsNow;
  double weight = 1;
  double wait = 0;  // or the age when the log ends
  bool started = true;
  std::optional<double> test_only_error;
  std::array<PublishedForecast, kPredictors> said;
  std::array<Place, kPredictors> places{};  // of `wait`; only where started
};

// Mean pinball loss over kScoredQuantiles, of the waits or of log(wait + 60 s).
double CrpsSeconds(const PublishedForecast& said, double wait);
double CrpsLog(const PublishedForecast& said, double wait);

struct Scores {
  double crps_seconds = 0;
  double crps_log = 0;
  double median_abs_error_seconds = 0;
  double waited_abs_error_seconds = 0;  // median, of those that waited more than ten minutes
  double within_60s = 0;
  double within_600s = 0;
  double within_3600s = 0;
  double brier_60s = 0;
  double coverage_p50 = 0;  // among those whose forecast p90 is more than a minute
  double coverage_p90 = 0;
  double place_p10 = 0;  // among the same: share of outcomes within the lowest tenth, half and nine
  double place_p50 = 0;  // tenths of their forecasts (WithinQuantile); what is calibrated has .1,
  double place_p90 = 0;  // .5 and .9, also where many forecasts say "perhaps at once"
  int64_t jobs = 0;
  int64_t covered_jobs = 0;  // behind the coverages
};

// REQUIRES: predictor < kPredictors. All zero without jobs.
Scores ScoresOf(const std::vector<const Scored*>& jobs, size_t predictor);

enum class ScoreGroup { kAll, kFitsNow, kFreeButQueued, kNotFree, kDoesNotFitNow };
inline constexpr size_t kScoreGroups = 5;
extern const std::array<const char*, kScoreGroups> kScoreGroupNames;
std::vector<const Scored*> InGroup(const std::vector<Scored>& jobs, ScoreGroup group);

// Loss of the product over the loss of the best single baseline, with a 90 % interval of a
// bootstrap over weeks.
struct Ratio {
  std::string best_baseline;
  double ratio = 0;
  double low = 0;
  double high = 0;
};
enum class Loss { kCrpsSeconds, kCrpsLog, kMedianAbsError };
Ratio RatioToBest(const std::vector<const Scored*>& jobs, Loss loss, uint64_t seed);

// From this job on the product is to be as good as any baseline.
inline constexpr size_t kLearnedAfter = 200;

// The worst that the product's loss so far ever was over that of the baseline that was best so
// far, in the order of submission from the kLearnedAfter-th job on; 0 with fewer jobs.
// REQUIRES: loss is a CRPS.
double WorstSoFar(const std::vector<const Scored*>& jobs, Loss loss);

// The product against the best of its parts (baselines, simulation, forest) in hindsight: of all
// jobs that started, and the worst of any kSpan that follow each other; 0 with fewer, or without
// losses. REQUIRES: loss is a CRPS.
inline constexpr size_t kSpan = 500;
struct AgainstParts {
  std::string best_part;
  double ratio = 0;
  double worst_span = 0;
};
AgainstParts ToBestPart(const std::vector<const Scored*>& jobs, Loss loss);

}  // namespace gpuadvise::backtest
