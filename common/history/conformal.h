// On-line recalibration of quantiles. See conformal.cc. Causal; a value; not thread-safe while it
// learns.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "common/history/wait_distribution.h"

namespace gpuadvise {

class Conformal {
 public:
  // `groups`: kinds of forecasts with different errors; each has its own window.
  explicit Conformal(size_t groups);

  // Position of an outcome in its forecast: a share from 0 to 1, or above 1 by the logarithm of the
  // distance beyond it. A wait with a probability mass covers the interval from the share below it
  // to the share up to it.
  struct Place {
    double low = 0;
    double high = 0;
  };

  // Equally likely waits kept from a forecast until its outcome is known. Beyond the last lies what
  // the forecast all but excludes.
  static constexpr size_t kQuantiles = 128;
  static std::vector<float> QuantilesOf(const WaitDistribution& forecast,
                                        size_t count = kQuantiles);

  // `quantiles`: equally likely waits in seconds, ascending. REQUIRES: not empty.
  static Place PlaceOf(const std::vector<float>& quantiles, double seconds);

  // Forecasts with a p90 up to this mean "at once": they are neither learned from nor changed.
  static constexpr double kShownSeconds = 60;
  static bool PredictsImmediateStart(const std::vector<float>& quantiles);

  // The forecast with quantiles corrected by past outcomes.
  WaitDistribution Calibrate(size_t group, const WaitDistribution& forecast) const;

  // Blends this calibration of `group` with that of `other_group` in `other`, which counts as
  // `other_weight` places.
  WaitDistribution CalibrateBlended(size_t group, const Conformal& other, size_t other_group,
                                    double other_weight, const WaitDistribution& forecast) const;

  // The job's outcome was at `place`; `weight`: 1 / jobs of its burst.
  void Started(size_t group, int64_t job_id, Place place, double weight);

  // The job still waits; its place is at least `place`. May be repeated as that grows.
  void StillWaits(size_t group, int64_t job_id, double place, double weight);

 private:
  // Bins of places: equal up to 1, then equal in the logarithm.
  static constexpr size_t kShares = 100;
  static constexpr size_t kBeyond = 50;
  static constexpr size_t kBins = kShares + kBeyond;
  using Sums = std::array<double, kBins>;
  using Cumulative = std::array<double, kBins + 1>;

  struct Seen {
    Place place;
    double weight = 1;
    bool waits = false;
  };
  // The last places of one group, with sums by bin.
  struct Window {
    std::deque<Seen> seen;
    int64_t dropped = 0;
    std::unordered_map<int64_t, int64_t> waiting;  // job -> index of its place
    Sums started{};
    Sums still{};
  };

  static size_t BinOf(double place);
  static double BinStart(size_t bin);
  static double PriorUpTo(size_t bin);
  static Cumulative Shrunk(const Sums& started, const Sums& still, const Cumulative& prior,
                           double prior_weight);
  static void Count(Window& window, const Seen& seen, double sign);
  void Learn(size_t group, int64_t job_id, const Seen& seen);
  void Refit();
  double LevelFor(size_t group, double q) const;
  template <typename Level>
  static WaitDistribution AtLevels(const Level& level_for, const WaitDistribution& forecast);

  std::vector<Window> windows_;
  std::vector<Cumulative> shares_;  // by group: share of outcomes below each bin's start
};

}  // namespace gpuadvise
