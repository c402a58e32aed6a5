// Carries timings of a training over to another place, weighted by similarity.
//
// Problem. Measured over computed seconds is a factor of the training (its data loader, its
// kernels), but also of the card: one that moves data better than it multiplies deviates in its own
// way, and so does a large micro-batch. A timing on an old card says little about a new one, and
// must not override what a similar card has shown.
// Idea. The logarithms of two factors of one training differ with a variance that grows with the
// differences between the two places: GPU generation, compute share of a step, link (with several
// GPUs), number of GPUs, micro-batch. Each timing is weighted by the inverse square of that
// variance, so that similar ones dominate and others count only when nothing is similar. If there
// are timings on the card itself, only they count, and the one with the same GPUs and batch is
// reproduced exactly; weights by distance keep the result continuous. Weights sum to one: timings
// that agree are carried over unchanged.
// Source. The variances come from the vision and speech trainings in lambdal/deeplearning-benchmark
// (eight models, 18 cards) relative to a plain transformer: leave-one-model-out fits, between the
// results of half-precision rows and of all rows. docs/models.md validates them on other models and
// sources. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "common/gpu/gpu_catalogue.h"

namespace gpuadvise {

// Where a training was timed, or should run.
struct TimedPlace {
  const GpuModel* gpu = nullptr;
  int64_t gpus = 1;  // in all
  int64_t micro_batch = 1;
  int64_t accumulation = 1;
  double compute_share = 0;  // computing over computing plus memory traffic, 0 to 1
};

// Expected variance of the difference of ln(measured / computed) between two places.
double CarryOverVariance(const TimedPlace& from, const TimedPlace& to);

struct Timing {
  TimedPlace at;
  double log_factor = 0;  // ln(measured / computed)
};

struct CarriedOver {
  double log_factor = 0;      // weighted mean
  double variance = 0;        // weighted, of the factors around the mean
  double expected = 0;        // weighted, expected from the differences between places
  bool on_this_card = false;  // only timings on this card were used
  size_t nearest = 0;         // index of the timing with the largest weight
  size_t lowest = 0;          // index of the smallest factor used
  size_t highest = 0;         // index of the largest factor used
};

// Sigma of the logarithm of the run time after carry-over between places that differ by
// `carried.expected`, as bench/accuracy finds on sources not used for the constants.
double SigmaOf(const CarriedOver& carried);

// REQUIRES: timings is not empty.
CarriedOver CarryOver(const std::vector<Timing>& timings, const TimedPlace& to);

}  // namespace gpuadvise
