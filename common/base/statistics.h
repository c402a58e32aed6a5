// Quantiles of numbers, and the normal distribution. Pure.
//
// Distributions have their own quantiles (wait_distribution.h, job_duration_distribution.h,
// usage_history.h), which do not interpolate linearly.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <utility>
#include <vector>

namespace gpuadvise {

// The q-quantile, 0 <= q <= 1, linearly interpolated between `ascending` numbers. REQUIRES: not
// empty.
template <typename Number>
double InterpolatedQuantile(const std::vector<Number>& ascending, double q) {
  assert(!ascending.empty() && q >= 0 && q <= 1);
  const double place = q * static_cast<double>(ascending.size() - 1);
  const auto below = static_cast<size_t>(place);
  const size_t above = std::min(below + 1, ascending.size() - 1);
  const auto low = static_cast<double>(ascending[below]);
  return low + (static_cast<double>(ascending[above]) - low) * (place - static_cast<double>(below));
}

// The median of unsorted numbers; the upper one of an even count, so it is always one of them. 0 if
// empty.
double UpperMedian(std::vector<double> values);

// The least value with at least half of the weight at or below it; (value, weight) pairs in any
// order. 0 if empty.
double WeightedMedian(std::vector<std::pair<double, double>> values);

// The standard normal distribution and its inverse (0 < p < 1).
double NormalCdf(double z);
double NormalQuantile(double p);

}  // namespace gpuadvise
