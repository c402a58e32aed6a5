// Several forecasts of the same wait as one: a linear pool whose weights follow their merit and
// whose loss stays at or below that of the best of them, but for what learning costs. See
// expert_pool.cc. Causal; not thread-safe while it learns.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "common/history/wait_distribution.h"
#include "common/history/wait_forecast.h"

namespace gpuadvise {

using ExpertWeights = std::array<double, kExperts>;

// Wait of a grid point, seconds: equal steps of log(wait + 60 s) up to 60 days.
double GridSeconds(size_t point);

ExpertGrid GridOf(const std::array<WaitDistribution, kExperts>& experts);

class ExpertPool {
 public:
  // Weights in `group`; an expert that is not ready gets none. REQUIRES: one is ready.
  ExpertWeights Weights(WaitGroup group, const std::array<bool, kExperts>& ready) const;

  // The wait turned out to be `seconds`. `weight`: 1 / jobs of its burst. `known_age_seconds`: the
  // age at which StillWaits was told of the same job, 0 if it was not.
  void Started(WaitGroup group, const ExpertGrid& experts, const std::array<bool, kExperts>& ready,
               double seconds, double weight, double known_age_seconds = 0);

  // The job still waits after `age_seconds`: what the experts said about shorter waits was wrong.
  // At most once for a job.
  void StillWaits(WaitGroup group, const ExpertGrid& experts,
                  const std::array<bool, kExperts>& ready, double age_seconds, double weight);

 private:
  // Of one context, what the weights follow from (expert_pool.cc): the sums R and V.
  struct Merits {
    ExpertWeights merit{};
    ExpertWeights spread{};
  };
  static double Rate(const Merits& merits, size_t expert);
  ExpertWeights LogWeights(size_t context) const;
  void Learn(WaitGroup group, const ExpertGrid& experts, const std::array<bool, kExperts>& ready,
             size_t from, size_t to, double seconds, double weight);

  std::array<Merits, 3> contexts_;
};

}  // namespace gpuadvise
