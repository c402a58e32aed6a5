#include "common/time/carry_over.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <numeric>

#include "common/time/step_time_model.h"

namespace gpuadvise {
namespace {

// Variances of a logarithm.
constexpr double kAnyTwoCards = 0.02;
constexpr double kOfAGeneration = 0.015;
constexpr double kOfComputeShare = 5;  // per (difference)²
constexpr double kOfAnotherLink = 0.03;
constexpr double kOfGpus = 0.0065;       // per ln(ratio)²
constexpr double kOfMicroBatch = 0.013;  // per ln(ratio)²
constexpr double kOfTheTraining = 0.3;   // vision and speech variances used with a shape
constexpr double kOwnOfTheCard = 0.25;   // of a part's variance: does not carry over to another

// Of TimedPlace::parts.
constexpr size_t kGpu = 0;
constexpr size_t kHost = 1;
constexpr size_t kTransfers = 2;
constexpr size_t kOffload = 3;
constexpr int kUnrelatedGenerations = 3;  // another vendor, whose generations do not compare

double LogRatioSquared(int64_t a, int64_t b) {
  const double log = std::log(static_cast<double>(a) / static_cast<double>(b));
  return log * log;
}

// Pascal, Volta, Turing, Ampere, Ada, Hopper, Blackwell.
int GenerationOf(const GpuModel& gpu) {
  constexpr std::array<double, 6> kFrom = {7.0, 7.5, 8.0, 8.9, 9.0, 10.0};
  const auto after = std::upper_bound(kFrom.begin(), kFrom.end(), gpu.compute_capability);
  return static_cast<int>(after - kFrom.begin());
}

int GenerationsBetween(const GpuModel& a, const GpuModel& b) {
  if (a.architecture == b.architecture) return 0;
  if (a.compute_capability <= 0 || b.compute_capability <= 0) return kUnrelatedGenerations;
  return std::abs(GenerationOf(a) - GenerationOf(b));
}

// Variance on the same card.
double ShapeVariance(const TimedPlace& from, const TimedPlace& to) {
  return kOfGpus * LogRatioSquared(from.gpus, to.gpus) +
         kOfMicroBatch * LogRatioSquared(from.micro_batch, to.micro_batch);
}

// Distance of a timing on the card itself: 0 if identical.
double Distance(const TimedPlace& from, const TimedPlace& to) {
  return ShapeVariance(from, to) + kOfGpus * LogRatioSquared(from.accumulation, to.accumulation);
}

// Weights for the given variances; they sum to 1. Timings at zero distance share everything.
std::vector<double> WeightsOf(const std::vector<double>& variances) {
  constexpr double kNone = 1e-12;
  const bool exact =
      std::any_of(variances.begin(), variances.end(), [](double v) { return v < kNone; });
  std::vector<double> weights;
  double sum = 0;
  for (const double variance : variances) {
    weights.push_back(exact ? (variance < kNone ? 1 : 0) : 1 / (variance * variance));
    sum += weights.back();
  }
  for (double& weight : weights) weight /= sum;
  return weights;
}

using Factors = std::array<double, 4>;

// Seconds of a step over the computed ones, where those of each part are `factors` times theirs.
double FactorOfStep(const TimedPlace& place, const Factors& factors) {
  const auto part = [&](size_t i) { return place.parts[i].share * factors[i]; };
  const double alone = place.gpu_alone * factors[kGpu];
  return InParallel(part(kGpu) - alone, part(kHost)) + alone + part(kTransfers) + part(kOffload);
}

// Standard deviation of the step's logarithm that each part's deviation makes: the slower of GPU
// and host decides.
Factors DeviationsOf(const TimedPlace& place) {
  Factors shares;
  for (size_t i = 0; i < shares.size(); ++i) shares[i] = place.parts[i].share;
  shares[kGpu] -= place.gpu_alone;
  const double together = InParallel(shares[kGpu], shares[kHost]);
  for (const size_t i : {kGpu, kHost}) {
    if (together > 0) shares[i] *= std::pow(shares[i] / together, 3);
  }
  shares[kGpu] += place.gpu_alone;
  for (size_t i = 0; i < shares.size(); ++i) shares[i] *= place.parts[i].deviation;
  return shares;
}

// Sum of the products.
double Product(const Factors& a, const Factors& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

// The most likely factors of the parts, given that of the whole.
Factors FactorsGiven(const TimedPlace& place, double log_factor) {
  constexpr int kBisections = 64;
  constexpr double kSteepest = 300;  // logarithm of a part's factor
  Factors weights = DeviationsOf(place);
  for (size_t i = 0; i < weights.size(); ++i) weights[i] *= place.parts[i].deviation;
  const double most = *std::max_element(weights.begin(), weights.end());
  const auto at = [&](double strength) {
    Factors factors;
    for (size_t i = 0; i < factors.size(); ++i) factors[i] = std::exp(strength * weights[i]);
    return factors;
  };
  double low = -1e3 * kSteepest / most;
  double high = kSteepest / most;
  for (int i = 0; i < kBisections; ++i) {
    const double middle = (low + high) / 2;
    (FactorOfStep(place, at(middle)) < std::exp(log_factor) ? low : high) = middle;
  }
  Factors factors = at((low + high) / 2);
  // Exact also where no such factors are: a thirtieth of what is counted.
  const double rest = std::exp(log_factor) / FactorOfStep(place, factors);
  for (double& factor : factors) factor *= rest;
  return factors;
}

}  // namespace

double DeviationOf(const TimedPlace& place) {
  const Factors made = DeviationsOf(place);
  return std::sqrt(Product(made, made));
}

CarriedTiming CarryByParts(const Timing& timing, const TimedPlace& to) {
  const TimedPlace& from = timing.at;
  CarriedTiming carried{timing.log_factor, kOfTheTraining * ShapeVariance(from, to)};
  Factors there = DeviationsOf(from);
  const Factors here = DeviationsOf(to);
  const double variance = Product(there, there);
  if (variance <= 0 || Product(here, here) <= 0) return carried;
  Factors factors = FactorsGiven(from, timing.log_factor);
  const bool same_card = from.gpu == to.gpu;
  const auto has_nvlink = [](const GpuModel& gpu) { return gpu.link == GpuLink::kNvlink; };
  if (!same_card && !(has_nvlink(*from.gpu) && has_nvlink(*to.gpu))) {
    factors[kTransfers] = 1;
    there[kTransfers] = 0;
  }
  carried.log_factor = std::log(FactorOfStep(to, factors));
  const double shared = Product(here, there);
  const double used = shared / variance;  // of the deviation there
  const double known = same_card ? shared : (1 - kOwnOfTheCard) * shared;
  carried.variance += Product(here, here) - 2 * used * known + used * used * variance;
  return carried;
}

double CarryOverVariance(const TimedPlace& from, const TimedPlace& to) {
  const double share = from.compute_share - to.compute_share;
  const bool linked = from.gpus > 1 || to.gpus > 1;
  return kAnyTwoCards + kOfAGeneration * GenerationsBetween(*from.gpu, *to.gpu) +
         kOfComputeShare * share * share +
         (linked && from.gpu->link != to.gpu->link ? kOfAnotherLink : 0) + ShapeVariance(from, to);
}

CarriedOver CarryOver(const std::vector<Timing>& timings, const TimedPlace& to) {
  assert(!timings.empty());
  CarriedOver carried;
  carried.on_this_card = std::any_of(timings.begin(), timings.end(),
                                     [&](const Timing& t) { return t.at.gpu == to.gpu; });
  std::vector<size_t> counting;
  std::vector<double> variances;
  for (size_t i = 0; i < timings.size(); ++i) {
    const TimedPlace& at = timings[i].at;
    if (carried.on_this_card && at.gpu != to.gpu) continue;
    counting.push_back(i);
    variances.push_back(carried.on_this_card ? Distance(at, to) : CarryOverVariance(at, to));
  }
  const std::vector<double> weights = WeightsOf(variances);
  std::vector<CarriedTiming> each(timings.size());
  for (const size_t i : counting) each[i] = CarryByParts(timings[i], to);
  const auto factor = [&](size_t i) { return each[i].log_factor; };
  for (size_t i = 0; i < counting.size(); ++i) {
    carried.log_factor += weights[i] * factor(counting[i]);
    carried.expected += weights[i] * each[counting[i]].variance;
  }
  for (size_t i = 0; i < counting.size(); ++i) {
    carried.variance += weights[i] * std::pow(factor(counting[i]) - carried.log_factor, 2);
  }
  const auto heaviest = std::max_element(weights.begin(), weights.end());
  carried.nearest = counting[static_cast<size_t>(std::distance(weights.begin(), heaviest))];
  const auto [low, high] = std::minmax_element(
      counting.begin(), counting.end(), [&](size_t a, size_t b) { return factor(a) < factor(b); });
  carried.lowest = *low;
  carried.highest = *high;
  carried.apart = factor(*high) - factor(*low);
  return carried;
}

}  // namespace gpuadvise
