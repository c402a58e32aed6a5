// Reproducible random numbers for the simulated cluster.
//
// The standard fixes the output of mt19937_64 but not of its distributions, so the few that the
// workload needs are defined here: a seed gives the same world on every platform. Not thread-safe;
// copy it to branch a stream.
#pragma once

#include <cassert>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>
#include <vector>

namespace gpuadvise::collect {

class Rng {
 public:
  explicit Rng(uint64_t seed) : bits_(seed) {}

  // Uniform in [0, 1).
  double Unit() { return static_cast<double>(bits_() >> 11) * 0x1.0p-53; }
  double Between(double low, double high) { return low + (high - low) * Unit(); }
  bool Chance(double probability) { return Unit() < probability; }

  // Standard normal (Box and Muller).
  double Normal() {
    const double radius = std::sqrt(-2 * std::log(1 - Unit()));
    return radius * std::cos(2 * std::numbers::pi * Unit());
  }
  // Log-normal, the usual distribution of run times. `median` in any unit; `spread`: sigma.
  double LogNormal(double median, double spread) { return median * std::exp(spread * Normal()); }
  // Time to the next event of a Poisson process.
  double Exponential(double mean) { return -mean * std::log(1 - Unit()); }

  // An index drawn in proportion to its weight. REQUIRES: a positive sum.
  size_t Weighted(const std::vector<double>& weights) {
    double sum = 0;
    for (const double weight : weights) sum += weight;
    assert(sum > 0);
    double rest = Between(0, sum);
    for (size_t i = 0; i + 1 < weights.size(); ++i) {
      if (rest < weights[i]) return i;
      rest -= weights[i];
    }
    return weights.size() - 1;
  }
  template <typename T>
  const T& Pick(const std::vector<T>& values) {
    assert(!values.empty());
    return values[static_cast<size_t>(Unit() * static_cast<double>(values.size()))];
  }

 private:
  std::mt19937_64 bits_;
};

}  // namespace gpuadvise::collect
