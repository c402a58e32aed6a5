// Makes quantiles mean what they say: on-line recalibration. See conformal.cc.
// Causal; a value; not thread-safe while it learns.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "common/history/wait_distribution.h"
#include "common/history/wait_forecast.h"

namespace gpuadvise {

class Conformal {
 public:
  Conformal();

  // Where an outcome lies in its forecast: a share of it, 0 … 1, or more than 1 beyond all of it,
  // by the logarithm of how far. A wait that was said with some probability has a place from the
  // share below it to the share up to it.
  struct Place {
    double low = 0;
    double high = 0;
  };

  // `quantiles`: equally likely waits in seconds, ascending. REQUIRES: not empty.
  static Place PlaceOf(const std::vector<float>& quantiles, double seconds);

  // Forecasts whose p90 is not longer say "at once": nothing is learned from them, and they stay.
  static constexpr double kShownSeconds = 60;
  static bool SaysAtOnce(const std::vector<float>& quantiles);

  // The forecast with its quantiles where outcomes like it have been.
  WaitDistribution Calibrate(WaitGroup group, const WaitDistribution& forecast) const;

  // The forecast of this job turned out at `place`; `weight`: 1 / jobs of its burst.
  void Started(WaitGroup group, int64_t job_id, Place place, double weight);

  // The job still waits, and its place is `place` or more. May be told again as that grows.
  void StillWaits(WaitGroup group, int64_t job_id, double place, double weight);

 private:
  // Bins of places: equal ones up to 1, then equal ones of the logarithm.
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
  // The last places of one group, and their sums by bin.
  struct Window {
    std::deque<Seen> seen;
    int64_t dropped = 0;
    std::unordered_map<int64_t, int64_t> waiting;  // job -> number of its place
    Sums started{};
    Sums still{};
  };

  static size_t BinOf(double place);
  static double BinStart(size_t bin);
  static double PriorUpTo(size_t bin);
  static Cumulative Shrunk(const Sums& started, const Sums& still, const Cumulative& prior,
                           double prior_weight);
  static void Count(Window& window, const Seen& seen, double sign);
  void Learn(WaitGroup group, int64_t job_id, const Seen& seen);
  void Refit();
  double LevelFor(size_t group, double q) const;

  std::array<Window, 3> windows_;
  std::array<Cumulative, 3> shares_;  // of outcomes below each bin's start, by group
};

}  // namespace gpuadvise
