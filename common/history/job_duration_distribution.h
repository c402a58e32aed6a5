// Run time of a job: a histogram over its logarithm, and the probability of ending at the time
// limit.
//
// Bins are an eighth of an octave wide (9 %), from one second to 194 days; within a bin the
// logarithm is uniform. All mass beyond the limit lies on the limit. A cheap value; safe from any
// thread. Times are seconds.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gpuadvise {

inline constexpr int kRunTimeBins = 192;
inline constexpr int kRunTimeBinsPerOctave = 8;

// Weights by bin, plus one for "until the limit". Sums to 1.
using RunTimeHistogram = std::array<float, kRunTimeBins + 1>;

// The bin of a run time, in [0, kRunTimeBins).
int RunTimeBin(double seconds);

// Lower edge of a bin in seconds; RunTimeBinStart(kRunTimeBins) is the last upper edge.
double RunTimeBinStart(int bin);

// Whether a job of this limit and run time was ended by the limit (or just before).
bool EndedByLimit(double seconds, int64_t limit_seconds);

class RunTimeDistribution {
 public:
  // Always exactly `seconds`.
  static RunTimeDistribution Exactly(double seconds);

  // From weights (any sum > 0) for a job with `limit_seconds` (0: none).
  RunTimeDistribution(const RunTimeHistogram& weights, int64_t limit_seconds);

  // Run time by which a share `u` of such jobs ends, 0 <= u <= 1.
  double Quantile(double u) const;

  // Share ended after `seconds`; 1 from the limit on.
  double Cdf(double seconds) const;

  double Mean() const;

 private:
  RunTimeDistribution() = default;

  std::vector<double> edges_;       // ascending, seconds
  std::vector<double> cumulative_;  // share ended at edges_[i]; the rest ends at last_
  double last_ = 0;
};

}  // namespace gpuadvise
