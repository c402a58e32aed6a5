#include "common/time/carry_over.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstdlib>
#include <iterator>

namespace gpuadvise {
namespace {

// Variances of a logarithm.
constexpr double kAnyTwoCards = 0.02;
constexpr double kOfAGeneration = 0.015;
constexpr double kOfComputeShare = 5;  // per (difference)²
constexpr double kOfAnotherLink = 0.03;
constexpr double kOfGpus = 0.0065;        // per ln(ratio)²
constexpr double kOfMicroBatch = 0.013;   // per ln(ratio)²
constexpr double kOfTheTraining = 0.3;    // vision and speech variances used with a shape
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

}  // namespace

double CarryOverVariance(const TimedPlace& from, const TimedPlace& to) {
  const double share = from.compute_share - to.compute_share;
  const bool linked = from.gpus > 1 || to.gpus > 1;
  return kAnyTwoCards + kOfAGeneration * GenerationsBetween(*from.gpu, *to.gpu) +
         kOfComputeShare * share * share +
         (linked && from.gpu->link != to.gpu->link ? kOfAnotherLink : 0) + ShapeVariance(from, to);
}

double SigmaOf(const CarriedOver& carried) { return std::sqrt(kOfTheTraining * carried.expected); }

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
  const auto factor = [&](size_t i) { return timings[i].log_factor; };
  for (size_t i = 0; i < counting.size(); ++i) {
    carried.log_factor += weights[i] * factor(counting[i]);
    carried.expected += weights[i] * variances[i];
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
  return carried;
}

}  // namespace gpuadvise
