// Distribution of a job's wait: weighted points in seconds.
//
// The common type of all forecasts: simulation samples, empirical quantiles, forest leaves, point
// forecasts, and pools of them. An immutable value; safe from any thread. Waits are seconds, >= 0,
// finite.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gpuadvise {

struct WeightedWait {
  double seconds = 0;
  double weight = 1;
  friend bool operator==(const WeightedWait&, const WeightedWait&) = default;
};

class WaitDistribution {
 public:
  // No wait, with certainty.
  WaitDistribution() : points_{{0, 1}} {}

  static WaitDistribution At(double seconds);

  // Equally likely samples. REQUIRES: not empty.
  static WaitDistribution OfSamples(const std::vector<double>& seconds);

  // Points in any order; drops zero weights and normalises the rest. REQUIRES: sum of weights > 0.
  static WaitDistribution OfWeighted(std::vector<WeightedWait> points);

  // Linear pool: `parts[i]` with probability weights[i] / sum. REQUIRES: equal sizes, sum > 0.
  static WaitDistribution Mix(const std::vector<const WaitDistribution*>& parts,
                              const std::vector<double>& weights);

  // The smallest point with a cumulative share of at least `q`, 0 <= q <= 1.
  double Quantile(double q) const;

  // Probability of a wait <= `seconds`.
  double Cdf(double seconds) const;

  double Mean() const;

  // Ascending, distinct, weights sum to 1.
  const std::vector<WeightedWait>& points() const { return points_; }

  friend bool operator==(const WaitDistribution&, const WaitDistribution&) = default;

 private:
  std::vector<WeightedWait> points_;
};

// Equally likely waits, ascending, in whole seconds, for adding to run times.
inline constexpr int kLikelyWaits = 64;
std::vector<int64_t> LikelyWaits(const WaitDistribution& wait);

}  // namespace gpuadvise
