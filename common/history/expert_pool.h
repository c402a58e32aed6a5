// Combines several forecasts of one wait: a linear pool whose weights follow accuracy. Its loss
// stays close to or below that of the best expert. See expert_pool.cc. Causal; not thread-safe
// while it learns.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "common/history/wait_distribution.h"
#include "common/history/wait_forecast.h"

namespace gpuadvise {

using ExpertWeights = std::array<double, kExperts>;

// Wait at a grid point in seconds: equal steps of log(wait + 60 s) up to 60 days.
double GridSeconds(size_t point);

ExpertGrid EvaluateOnGrid(const std::array<WaitDistribution, kExperts>& experts);

class ExpertPool {
 public:
  ExpertPool();

  // Weights in `group`; 0 for experts that are not ready. REQUIRES: one is ready.
  ExpertWeights Weights(WaitGroup group, const std::array<bool, kExperts>& ready) const;

  // The wait was `seconds`. `weight`: 1 / jobs of its burst. `known_age_seconds`: age at which
  // StillWaits was called for the job, 0 if never.
  void Started(WaitGroup group, const ExpertGrid& experts, const std::array<bool, kExperts>& ready,
               double seconds, double weight, double known_age_seconds = 0);

  // The job still waits after `age_seconds`, which excludes shorter waits. At most once per job.
  void StillWaits(WaitGroup group, const ExpertGrid& experts,
                  const std::array<bool, kExperts>& ready, double age_seconds, double weight);

 private:
  // State of one context from which the weights follow (expert_pool.cc): the logarithm of weight
  // over rate, and V.
  struct Merits {
    ExpertWeights log_weight{};
    ExpertWeights spread{};
  };
  static double Rate(const Merits& merits, size_t expert);
  static double AwakeWeight(const Merits& merits, const std::array<bool, kExperts>& ready);
  static void Lift(Merits& merits, const std::array<bool, kExperts>& ready);
  ExpertWeights LogWeights(size_t context) const;
  void Learn(WaitGroup group, const ExpertGrid& experts, const std::array<bool, kExperts>& ready,
             size_t from, size_t to, double seconds, double weight);

  std::array<Merits, 3> contexts_;
};

}  // namespace gpuadvise
