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

  // Edges of the bin at `i` of ended_, in seconds.
  double From(size_t i) const;
  double To(size_t i) const;

  // Share ended before the end of each bin from first_bin_ on, the last cut at last_; the rest ends
  // there. In single precision: one of these is kept for each job of a queue.
  std::vector<float> ended_;
  int first_bin_ = 0;
  double last_ = 0;
};

}  // namespace gpuadvise
