// How timings of a training elsewhere say how fast it is here: each by its likeness.
//
// Problem. Measured over counted seconds is a factor that belongs to the training (its loader, its
// kernels), but not only: a card that moves numbers better than it multiplies departs from the
// count in its own way, and so does a large micro-batch. The timing of an old card then says little
// of a new one, and must not pull it away from what a card of the same kind has shown.
// Idea. The logarithms of two factors of one training differ with a variance that grows with what
// is different between the two places: generations of cards, the share of a step that is
// computing, the link (several GPUs), the number of GPUs, the micro-batch. Each timing counts by
// the inverse square of that variance, so that the like one decides and the others are heard where
// nothing is like. A timing on the card itself is what that card shows: then others are not heard
// at all, and of several on the card the one with the same GPUs and batch is given back exactly;
// in between, weights by distance make the carry-over continuous.
// Weights add up to one: timings that agree are carried over as they are.
// Source. The variances are those of lambdal/deeplearning-benchmark's vision and speech trainings
// (eight models, 18 cards) against a plain transformer: fits that each left one model out, between
// what rows in half precision give and what all rows give. docs/models.md says what that is worth
// on models and sources that had no part in it. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "common/gpu/gpu_catalogue.h"

namespace gpuadvise {

// Where a training was timed, or is asked about.
struct TimedPlace {
  const GpuModel* gpu = nullptr;
  int64_t gpus = 1;  // in all
  int64_t micro_batch = 1;
  int64_t accumulation = 1;
  double compute_share = 0;  // of a step's computing and memory traffic, as counted; 0 to 1
};

// Expected variance of the difference of ln(measured / counted) between two cards.
double CarryOverVariance(const TimedPlace& from, const TimedPlace& to);

struct Timing {
  TimedPlace at;
  double log_factor = 0;  // ln(measured / counted)
};

struct CarriedOver {
  double log_factor = 0;      // weighted mean
  double variance = 0;        // of the factors around it, weighted
  double expected = 0;        // that was to be expected from how unlike the places are, weighted
  bool on_this_card = false;  // then only timings on it have counted
  size_t nearest = 0;         // of the timings: the one that counts most
  size_t lowest = 0;          // of those that have counted: the smallest factor, and
  size_t highest = 0;         // the largest
};

// Sigma of the logarithm of the run time that timings elsewhere leave, where places are as unlike
// as `carried.expected`: what bench/accuracy finds on sources that had no part in the constants.
double SigmaOf(const CarriedOver& carried);

// REQUIRES: timings is not empty.
CarriedOver CarryOver(const std::vector<Timing>& timings, const TimedPlace& to);

}  // namespace gpuadvise
