// Scores.
//
// The headline is the CRPS, approximated by the mean pinball loss at seven quantiles (Gneiting and
// Raftery 2007), once of seconds, which the longest waits rule, and once of log(wait + 60 s), where
// a factor counts the same at a minute and at a day. Jobs that still wait when the log ends say
// nothing about losses, but one whose age has passed its p90 is a miss. Coverage is taken among
// forecasts whose p90 is more than a minute: where most jobs start at once, coverage over all says
// nothing.
#include "backtest/scoring.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "common/base/job_random.h"
#include "common/base/statistics.h"

namespace gpuadvise::backtest {
namespace {

constexpr double kOffset = 60;
constexpr double kShownWait = 60;
constexpr double kLongWait = 600;
constexpr size_t kP90 = 5;
constexpr int kResamples = 400;

double Pinball(double q, double said, double came) {
  return came >= said ? q * (came - said) : (1 - q) * (said - came);
}

double P50(const PublishedForecast& said) { return static_cast<double>(said.quantiles[kP50]); }
double P90(const PublishedForecast& said) { return static_cast<double>(said.quantiles[kP90]); }

}  // namespace

const std::array<const char*, kPredictors> kPredictorNames = {
    "product",     "zero",          "partition_median", "like_states",
    "plan_limits", "plan_last_two", "simulation",       "forest"};
const std::array<const char*, kScoreGroups> kScoreGroupNames = {
    "all", "fits_now", "free_but_queued", "not_free", "does_not_fit_now"};

PublishedForecast SaidBy(const WaitDistribution& forecast) {
  PublishedForecast said;
  for (size_t i = 0; i < kScoredQuantiles.size(); ++i) {
    said.quantiles[i] = static_cast<float>(forecast.Quantile(kScoredQuantiles[i]));
  }
  said.within_minute = static_cast<float>(forecast.Cdf(60));
  return said;
}

Place PlaceIn(const WaitDistribution& forecast, double wait) {
  double below = 0;
  double upto = 0;
  for (const WeightedWait& point : forecast.points()) {
    if (point.seconds < wait) below += point.weight;
    if (point.seconds <= wait) upto += point.weight;
  }
  return {static_cast<float>(below), static_cast<float>(upto)};
}

double WithinQuantile(const Place& place, double q) {
  const auto below = static_cast<double>(place.below);
  const auto upto = static_cast<double>(place.upto);
  if (upto - below < 1e-6) return upto <= q ? 1 : 0;
  return std::clamp((q - below) / (upto - below), 0.0, 1.0);
}

double CrpsSeconds(const PublishedForecast& said, double wait) {
  double sum = 0;
  for (size_t i = 0; i < kScoredQuantiles.size(); ++i) {
    sum += Pinball(kScoredQuantiles[i], static_cast<double>(said.quantiles[i]), wait);
  }
  return sum / static_cast<double>(kScoredQuantiles.size());
}

double CrpsLog(const PublishedForecast& said, double wait) {
  double sum = 0;
  for (size_t i = 0; i < kScoredQuantiles.size(); ++i) {
    sum += Pinball(kScoredQuantiles[i], std::log(static_cast<double>(said.quantiles[i]) + kOffset),
                   std::log(wait + kOffset));
  }
  return sum / static_cast<double>(kScoredQuantiles.size());
}

Scores ScoresOf(const std::vector<const Scored*>& jobs, size_t predictor) {
  Scores scores;
  double started = 0;
  double covered = 0;
  std::vector<std::pair<double, double>> errors;
  std::vector<std::pair<double, double>> waited;
  for (const Scored* job : jobs) {
    const PublishedForecast& said = job->said[predictor];
    const double w = job->weight;
    const bool past_p90 = job->wait > P90(said);
    if (P90(said) > kShownWait && (job->started || past_p90)) {
      covered += w;
      ++scores.covered_jobs;
      if (!past_p90) scores.coverage_p90 += w;
      if (job->started && job->wait <= P50(said)) scores.coverage_p50 += w;
      if (job->started) {
        const Place& place = job->places[predictor];
        scores.place_p10 += w * WithinQuantile(place, 0.1);
        scores.place_p50 += w * WithinQuantile(place, 0.5);
        scores.place_p90 += w * WithinQuantile(place, 0.9);
      }
    }
    if (!job->started) continue;
    started += w;
    ++scores.jobs;
    const double error = std::abs(P50(said) - job->wait);
    errors.emplace_back(error, w);
    if (job->wait > kLongWait) waited.emplace_back(error, w);
    scores.crps_seconds += w * CrpsSeconds(said, job->wait);
    scores.crps_log += w * CrpsLog(said, job->wait);
    if (error <= 60) scores.within_60s += w;
    if (error <= 600) scores.within_600s += w;
    if (error <= 3600) scores.within_3600s += w;
    const double came = job->wait <= 60 ? 1 : 0;
    const double missed = static_cast<double>(said.within_minute) - came;
    scores.brier_60s += w * missed * missed;
  }
  for (double* sum : {&scores.crps_seconds, &scores.crps_log, &scores.within_60s,
                      &scores.within_600s, &scores.within_3600s, &scores.brier_60s}) {
    if (started > 0) *sum /= started;
  }
  for (double* sum : {&scores.coverage_p50, &scores.coverage_p90, &scores.place_p10,
                      &scores.place_p50, &scores.place_p90}) {
    if (covered > 0) *sum /= covered;
  }
  scores.median_abs_error_seconds = WeightedMedianOf(std::move(errors));
  scores.waited_abs_error_seconds = WeightedMedianOf(std::move(waited));
  return scores;
}

std::vector<const Scored*> InGroup(const std::vector<Scored>& jobs, ScoreGroup group) {
  std::vector<const Scored*> in;
  for (const Scored& job : jobs) {
    const bool fits = job.group == WaitGroup::kFitsNow;
    const bool free = job.group == WaitGroup::kFreeButQueued;
    const bool belongs = group == ScoreGroup::kAll || (group == ScoreGroup::kFitsNow && fits) ||
                         (group == ScoreGroup::kFreeButQueued && free) ||
                         (group == ScoreGroup::kNotFree && !fits && !free) ||
                         (group == ScoreGroup::kDoesNotFitNow && !fits);
    if (belongs) in.push_back(&job);
  }
  return in;
}

namespace {

double CrpsOf(const PublishedForecast& said, double wait, Loss loss) {
  return loss == Loss::kCrpsLog ? CrpsLog(said, wait) : CrpsSeconds(said, wait);
}

double LossOf(const std::vector<const Scored*>& jobs, size_t predictor, Loss loss) {
  if (loss == Loss::kMedianAbsError) {
    std::vector<std::pair<double, double>> errors;
    for (const Scored* job : jobs) {
      if (job->started) {
        errors.emplace_back(std::abs(P50(job->said[predictor]) - job->wait), job->weight);
      }
    }
    return WeightedMedianOf(std::move(errors));
  }
  double sum = 0;
  double weights = 0;
  for (const Scored* job : jobs) {
    if (!job->started) continue;
    const PublishedForecast& said = job->said[predictor];
    sum += job->weight * CrpsOf(said, job->wait, loss);
    weights += job->weight;
  }
  return weights > 0 ? sum / weights : 0;
}

}  // namespace

double WorstSoFar(const std::vector<const Scored*>& jobs, Loss loss) {
  assert(loss != Loss::kMedianAbsError);
  std::array<double, kBaselinesTo> sums{};
  size_t seen = 0;
  double worst = 0;
  for (const Scored* job : jobs) {
    if (!job->started) continue;
    for (size_t k = 0; k < kBaselinesTo; ++k) {
      sums[k] += job->weight * CrpsOf(job->said[k], job->wait, loss);
    }
    const double best = *std::min_element(sums.begin() + kBaselinesFrom, sums.end());
    if (++seen >= kLearnedAfter && best > 0) worst = std::max(worst, sums[0] / best);
  }
  return worst;
}

AgainstParts ToBestPart(const std::vector<const Scored*>& jobs, Loss loss) {
  assert(loss != Loss::kMedianAbsError);
  using Losses = std::array<double, kPredictors>;
  const auto over_best = [](const Losses& sums) {
    const double best = *std::min_element(sums.begin() + 1, sums.end());
    return best > 0 ? sums[0] / best : 0;
  };
  std::vector<Losses> told{Losses{}};  // sums so far
  AgainstParts against;
  for (const Scored* job : jobs) {
    if (!job->started) continue;
    Losses sums = told.back();
    for (size_t k = 0; k < kPredictors; ++k) {
      sums[k] += job->weight * CrpsOf(job->said[k], job->wait, loss);
    }
    told.push_back(sums);
    if (told.size() <= kSpan) continue;
    const Losses& before = told[told.size() - 1 - kSpan];
    for (size_t k = 0; k < kPredictors; ++k) sums[k] -= before[k];
    against.worst_span = std::max(against.worst_span, over_best(sums));
  }
  const Losses& all = told.back();
  against.ratio = over_best(all);
  const auto best = std::min_element(all.begin() + 1, all.end()) - all.begin();
  against.best_part = kPredictorNames[static_cast<size_t>(best)];
  return against;
}

Ratio RatioToBest(const std::vector<const Scored*>& jobs, Loss loss, uint64_t seed) {
  Ratio ratio;
  size_t best = kBaselinesFrom;
  double least = -1;
  for (size_t k = kBaselinesFrom; k < kBaselinesTo; ++k) {
    const double own = LossOf(jobs, k, loss);
    if (least >= 0 && own >= least) continue;
    least = own;
    best = k;
  }
  ratio.best_baseline = kPredictorNames[best];
  if (least <= 0) return ratio;
  ratio.ratio = LossOf(jobs, 0, loss) / least;
  std::map<int64_t, std::vector<const Scored*>> weeks;
  for (const Scored* job : jobs) weeks[job->week].push_back(job);
  std::vector<const std::vector<const Scored*>*> blocks;
  for (const auto& [week, in] : weeks) blocks.push_back(&in);
  std::vector<double> drawn;
  for (int i = 0; i < kResamples; ++i) {
    std::vector<const Scored*> sample;
    for (size_t b = 0; b < blocks.size(); ++b) {
      const double u = UniformOf(seed, static_cast<uint64_t>(i), b);
      const auto& block = *blocks[static_cast<size_t>(u * static_cast<double>(blocks.size()))];
      sample.insert(sample.end(), block.begin(), block.end());
    }
    const double baseline = LossOf(sample, best, loss);
    if (baseline > 0) drawn.push_back(LossOf(sample, 0, loss) / baseline);
  }
  std::sort(drawn.begin(), drawn.end());
  if (drawn.empty()) return ratio;
  ratio.low = drawn[drawn.size() / 20];
  ratio.high = drawn[drawn.size() - 1 - drawn.size() / 20];
  return ratio;
}

}  // namespace gpuadvise::backtest
