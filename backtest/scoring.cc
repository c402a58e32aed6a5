// Scores.
//
// The main score is the CRPS, approximated by the mean pinball loss at seven quantiles (Gneiting
// and Raftery 2007): once of seconds, which the longest waits dominate, and once of
// log(wait + 60 s), where a factor counts the same at a minute and at a day. Jobs that still wait
// when the log ends do not count for losses, but count as a miss once their age exceeds their p90.
// Coverage covers forecasts whose p90 exceeds a minute: most jobs start at once, so coverage over
// all jobs would be uninformative.
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

PublishedForecast ReduceForecast(const WaitDistribution& forecast) {
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

Scores ComputeScores(const std::vector<const Scored*>& jobs, size_t predictor) {
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
  scores.median_abs_error_seconds = WeightedMedian(std::move(errors));
  scores.waited_abs_error_seconds = WeightedMedian(std::move(waited));
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

double Crps(const PublishedForecast& said, double wait, Loss loss) {
  return loss == Loss::kCrpsLog ? CrpsLog(said, wait) : CrpsSeconds(said, wait);
}

double TotalLoss(const std::vector<const Scored*>& jobs, size_t predictor, Loss loss) {
  if (loss == Loss::kMedianAbsError) {
    std::vector<std::pair<double, double>> errors;
    for (const Scored* job : jobs) {
      if (job->started) {
        errors.emplace_back(std::abs(P50(job->said[predictor]) - job->wait), job->weight);
      }
    }
    return WeightedMedian(std::move(errors));
  }
  double sum = 0;
  double weights = 0;
  for (const Scored* job : jobs) {
    if (!job->started) continue;
    const PublishedForecast& said = job->said[predictor];
    sum += job->weight * Crps(said, job->wait, loss);
    weights += job->weight;
  }
  return weights > 0 ? sum / weights : 0;
}

// One job's contribution to the losses of the product and of a baseline.
struct Pair {
  double weight = 0;
  double own = 0;
  double baseline = 0;
};

Pair LossPair(const Scored& job, size_t baseline, Loss loss) {
  const auto part = [&](size_t predictor) {
    const PublishedForecast& said = job.said[predictor];
    return loss == Loss::kMedianAbsError ? std::abs(P50(said) - job.wait)
                                         : job.weight * Crps(said, job.wait, loss);
  };
  return {job.weight, part(0), part(baseline)};
}

// Loss of the product divided by the baseline's; negative if the latter is 0.
double LossRatio(const std::vector<Pair>& jobs, Loss loss) {
  if (loss != Loss::kMedianAbsError) {
    double own = 0;
    double baseline = 0;
    for (const Pair& job : jobs) {
      own += job.own;
      baseline += job.baseline;
    }
    return baseline > 0 ? own / baseline : -1;
  }
  std::vector<std::pair<double, double>> own;
  std::vector<std::pair<double, double>> baseline;
  for (const Pair& job : jobs) {
    own.emplace_back(job.own, job.weight);
    baseline.emplace_back(job.baseline, job.weight);
  }
  const double median = WeightedMedian(std::move(baseline));
  return median > 0 ? WeightedMedian(std::move(own)) / median : -1;
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
      sums[k] += job->weight * Crps(job->said[k], job->wait, loss);
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
  std::vector<Losses> told{Losses{}};  // cumulative sums
  AgainstParts against;
  for (const Scored* job : jobs) {
    if (!job->started) continue;
    Losses sums = told.back();
    for (size_t k = 0; k < kPredictors; ++k) {
      sums[k] += job->weight * Crps(job->said[k], job->wait, loss);
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
    const double own = TotalLoss(jobs, k, loss);
    if (least >= 0 && own >= least) continue;
    least = own;
    best = k;
  }
  ratio.best_baseline = kPredictorNames[best];
  if (least <= 0) return ratio;
  ratio.ratio = TotalLoss(jobs, 0, loss) / least;
  // Each job's contribution to both losses is computed once, not for every resample.
  std::map<int64_t, std::vector<Pair>> weeks;
  for (const Scored* job : jobs) {
    if (job->started)
      weeks[job->week].push_back(LossPair(*job, best, loss));
    else
      weeks.try_emplace(job->week);
  }
  std::vector<const std::vector<Pair>*> blocks;
  for (const auto& [week, in] : weeks) blocks.push_back(&in);
  std::vector<double> drawn;
  for (int i = 0; i < kResamples; ++i) {
    std::vector<Pair> sample;
    for (size_t b = 0; b < blocks.size(); ++b) {
      const double u = DrawUniform(seed, static_cast<uint64_t>(i), b);
      const auto& block = *blocks[static_cast<size_t>(u * static_cast<double>(blocks.size()))];
      sample.insert(sample.end(), block.begin(), block.end());
    }
    const double resampled = LossRatio(sample, loss);
    if (resampled >= 0) drawn.push_back(resampled);
  }
  std::sort(drawn.begin(), drawn.end());
  if (drawn.empty()) return ratio;
  ratio.low = drawn[drawn.size() / 20];
  ratio.high = drawn[drawn.size() - 1 - drawn.size() / 20];
  return ratio;
}

}  // namespace gpuadvise::backtest
