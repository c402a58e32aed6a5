// Calibration.
//
// Problem. A pool of experts is calibrated on average at best. Its p90 covers too little where the
// site does something new, its median is too early when all jobs run longer than before, and a
// linear pool of calibrated experts is too wide (Gneiting and Ranjan 2013).
//
// Idea. Where did recent outcomes lie in their own forecasts? If a tenth lay beyond the
// .97-quantile, that quantile is the true p90. The distribution of recent places (probability
// integral transforms; Rosenblatt 1952) gives the level to read instead of q, as in conformal
// prediction (Vovk et al. 2005) with a window. Places beyond the whole forecast continue as 1 + log
// of the distance, so that the window can also say "longer than any sample". A wait with a
// probability mass is spread over its share.
//
// A job past its p90 that still waits counts at once, with its current age as a lower bound: short
// waits report first, so waiting for starts would make a growing queue look well covered. This is a
// censored place; the distribution is estimated from hazards (Kaplan-Meier).
//
// A few places are no distribution. Each estimate is shrunk to a prior by the beta-Stacy process
// (Walker and Muliere 1997: prior mass is added to the events and to the risk set of each bin): the
// group's to that of all groups, and that to "as forecast, but one in twenty beyond it".
//
// Cost. A few µs per outcome; a calibration about 10 µs.
#include "common/history/conformal.h"

#include <algorithm>
#include <cmath>

namespace gpuadvise {
namespace {

constexpr double kStretchOffset = 60;
// Chosen like the pool's constants; halving or doubling changes a loss by 1 to 2 %.
constexpr size_t kWindow = 600;            // places per group
constexpr double kPriorWeight = 15;        // in places
constexpr double kGroupPriorWeight = 100;  // weight of all groups in each group
constexpr double kBeyondAll = 0.05;        // of the prior; falls by e per e-fold of the wait
constexpr double kBinOfLogarithm = 0.1;
constexpr double kMostStretch = 2.5;  // at most e^2.5 times the longest sample
constexpr int kLevels = 200;
constexpr double kLeastAtRisk = 1e-9;

}  // namespace

Conformal::Conformal(size_t groups) : windows_(groups), shares_(groups) { Refit(); }

std::vector<float> Conformal::QuantilesOf(const WaitDistribution& forecast, size_t count) {
  std::vector<float> quantiles;
  quantiles.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    const double q = (static_cast<double>(i) + 0.5) / static_cast<double>(count);
    quantiles.push_back(static_cast<float>(forecast.Quantile(q)));
  }
  return quantiles;
}

Conformal::Place Conformal::PlaceOf(const std::vector<float>& quantiles, double seconds) {
  const auto count = static_cast<double>(quantiles.size());
  const auto wait = static_cast<float>(seconds);
  const auto longest = static_cast<double>(quantiles.back());
  if (wait > quantiles.back()) {
    const double beyond = 1 + std::log((seconds + kStretchOffset) / (longest + kStretchOffset));
    return {beyond, beyond};
  }
  const auto low = std::lower_bound(quantiles.begin(), quantiles.end(), wait);
  const auto high = std::upper_bound(low, quantiles.end(), wait);
  const auto below = static_cast<double>(low - quantiles.begin());
  if (low != high || low == quantiles.begin()) {
    return {below / count, static_cast<double>(high - quantiles.begin()) / count};
  }
  // Interpolates logarithmically.
  const double before = std::log(static_cast<double>(*(low - 1)) + kStretchOffset);
  const double after = std::log(static_cast<double>(*low) + kStretchOffset);
  const double part = (std::log(seconds + kStretchOffset) - before) / (after - before);
  const double between = std::clamp((below - 0.5 + part) / count, 0.0, 1.0);
  return {between, between};
}

bool Conformal::PredictsImmediateStart(const std::vector<float>& quantiles) {
  const auto p90 = static_cast<size_t>(0.9 * static_cast<double>(quantiles.size()));
  return static_cast<double>(quantiles[p90]) <= kShownSeconds;
}

size_t Conformal::BinOf(double place) {
  if (place < 1) return std::min(static_cast<size_t>(std::max(place, 0.0) * kShares), kShares - 1);
  return std::min(kShares + static_cast<size_t>((place - 1) / kBinOfLogarithm), kBins - 1);
}

double Conformal::BinStart(size_t bin) {
  if (bin <= kShares) return static_cast<double>(bin) / kShares;
  return 1 + kBinOfLogarithm * static_cast<double>(bin - kShares);
}

double Conformal::PriorUpTo(size_t bin) {
  if (bin <= kShares) return (1 - kBeyondAll) * BinStart(bin);
  return 1 - kBeyondAll * std::exp(1 - BinStart(bin));
}

void Conformal::Count(Window& window, const Seen& seen, double sign) {
  const double weight = sign * seen.weight;
  const auto [low, high] = seen.place;
  if (seen.waits) {
    window.still[BinOf(low)] += weight;
  } else if (high - low < 1.0 / kShares) {
    window.started[BinOf((low + high) / 2)] += weight;
  } else {
    for (size_t bin = BinOf(low); bin < kShares && BinStart(bin) < high; ++bin) {
      const double part = std::min(high, BinStart(bin + 1)) - std::max(low, BinStart(bin));
      window.started[bin] += weight * std::max(part, 0.0) / (high - low);
    }
  }
}

// Cumulative shares by bin, with `prior_weight` places distributed as `prior`.
Conformal::Cumulative Conformal::Shrunk(const Sums& started, const Sums& still,
                                        const Cumulative& prior, double prior_weight) {
  double at_risk = 0;
  for (size_t bin = 0; bin < kBins; ++bin) at_risk += started[bin] + still[bin];
  Cumulative shares{};
  double left = 1;
  for (size_t bin = 0; bin < kBins; ++bin) {
    const double events = started[bin] + prior_weight * (prior[bin + 1] - prior[bin]);
    // Places censored within a bin are at risk for half of it.
    const double risk = at_risk - still[bin] / 2 + prior_weight * (1 - prior[bin]);
    left *= risk > kLeastAtRisk ? 1 - std::clamp(events / risk, 0.0, 1.0) : 1;
    at_risk = std::max(at_risk - started[bin] - still[bin], 0.0);
    shares[bin + 1] = 1 - left;
  }
  return shares;
}

void Conformal::Refit() {
  Cumulative prior{};
  for (size_t bin = 0; bin <= kBins; ++bin) prior[bin] = PriorUpTo(bin);
  Sums started{};
  Sums still{};
  for (const Window& window : windows_) {
    for (size_t bin = 0; bin < kBins; ++bin) {
      started[bin] += window.started[bin];
      still[bin] += window.still[bin];
    }
  }
  const Cumulative all = Shrunk(started, still, prior, kPriorWeight);
  for (size_t group = 0; group < windows_.size(); ++group) {
    shares_[group] = Shrunk(windows_[group].started, windows_[group].still, all, kGroupPriorWeight);
  }
}

void Conformal::Learn(size_t group, int64_t job_id, const Seen& seen) {
  Window& window = windows_[group];
  const auto known = window.waiting.find(job_id);
  if (known != window.waiting.end() && known->second >= window.dropped) {
    Seen& before = window.seen[static_cast<size_t>(known->second - window.dropped)];
    Count(window, before, -1);
    before = seen;
  } else {
    window.seen.push_back(seen);
    if (seen.waits) {
      window.waiting[job_id] = window.dropped + static_cast<int64_t>(window.seen.size()) - 1;
    }
  }
  Count(window, seen, 1);
  if (!seen.waits) window.waiting.erase(job_id);
  if (window.seen.size() > kWindow) {
    Count(window, window.seen.front(), -1);
    window.seen.pop_front();
    ++window.dropped;
  }
  Refit();
}

void Conformal::Started(size_t group, int64_t job_id, Place place, double weight) {
  Learn(group, job_id, {place, weight, false});
}

void Conformal::StillWaits(size_t group, int64_t job_id, double place, double weight) {
  Learn(group, job_id, {{place, place}, weight, true});
}

// The place below which a share `q` of outcomes lies.
double Conformal::LevelFor(size_t group, double q) const {
  const Cumulative& shares = shares_[group];
  const auto above = std::lower_bound(shares.begin() + 1, shares.end(), q);
  if (above == shares.end()) return BinStart(kBins);
  const auto bin = static_cast<size_t>(above - shares.begin()) - 1;
  const double width = shares[bin + 1] - shares[bin];
  const double part = width > 0 ? (q - shares[bin]) / width : 1;
  return BinStart(bin) + part * (BinStart(bin + 1) - BinStart(bin));
}

// `level_for(q)`: level of the forecast to read instead of q.
template <typename Level>
WaitDistribution Conformal::AtLevels(const Level& level_for, const WaitDistribution& forecast) {
  if (forecast.Quantile(0.9) <= kShownSeconds) return forecast;
  const std::vector<WeightedWait>& said = forecast.points();
  const double longest = forecast.Quantile(1 - 0.5 / kQuantiles);
  std::vector<WeightedWait> points;
  points.reserve(kLevels);
  size_t next = 0;
  double below = said.front().weight;
  for (int i = 0; i < kLevels; ++i) {
    const double level = level_for((i + 0.5) / kLevels);
    while (below < level - kLeastAtRisk && next + 1 < said.size()) below += said[++next].weight;
    const double beyond = std::clamp(level - 1, 0.0, kMostStretch);
    points.push_back({beyond > 0 ? (longest + kStretchOffset) * std::exp(beyond) - kStretchOffset
                                 : std::min(said[next].seconds, longest),
                      1});
  }
  return WaitDistribution::OfWeighted(std::move(points));
}

WaitDistribution Conformal::Calibrate(size_t group, const WaitDistribution& forecast) const {
  return AtLevels([&](double q) { return LevelFor(group, q); }, forecast);
}

WaitDistribution Conformal::CalibrateBlended(size_t group, const Conformal& other,
                                             size_t other_group, double other_weight,
                                             const WaitDistribution& forecast) const {
  double own_weight = 0;
  for (size_t bin = 0; bin < kBins; ++bin) {
    own_weight += windows_[group].started[bin] + windows_[group].still[bin];
  }
  const double share = own_weight / (own_weight + other_weight);
  const auto level_for = [&](double q) {
    return share * LevelFor(group, q) + (1 - share) * other.LevelFor(other_group, q);
  };
  return AtLevels(level_for, forecast);
}

}  // namespace gpuadvise
