// Carries timings of a training over to another place, by parts and weighted by similarity.
//
// Problem. Measured over computed seconds is a factor of the training (its data loader, its
// kernels), but also of the card: one that moves data better than it multiplies deviates in its own
// way, and so does a large micro-batch. A timing on an old card says little about a new one, and
// must not override what a similar card has shown.
// Idea. Each part of a step (GPU, host, transfers between GPUs, offloading) has a factor of its
// own. Those of a timing are the most likely ones that together give the measured seconds: the less
// certain a part's seconds are and the more of the step they take, the more of the deviation is
// theirs. What slowed the host there slows it here, however fast the GPU. Transfers say nothing of
// another kind of link, nor of another machine's PCIe.
// Several timings are weighted by likeness: the logarithms of two factors of one training differ
// with a variance that grows with the differences between the two places: GPU generation, compute
// share of a step, link (with several GPUs), number of GPUs, micro-batch. Each timing is weighted
// by the inverse square of that variance. If there are timings on the card itself, only they count,
// and the one with the same GPUs and batch is reproduced exactly; weights by distance keep the
// result continuous. Weights sum to one.
// Source. The variances of likeness come from the vision and speech trainings in
// lambdal/deeplearning-benchmark (eight models, 18 cards) relative to a plain transformer:
// leave-one-model-out fits. The share of a part's variance that is the card's own follows from what
// one training does on many cards: a deviation of .09 (BERT, 19 cards), .10 (ResNet-50, 18 cards),
// .2 (ResNets on TITAN cards) beside .21 to .3 between sources. docs/models.md validates both.
// Pure.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "common/gpu/gpu_catalogue.h"

namespace gpuadvise {

// A part of a step.
struct PartOfStep {
  double share = 0;      // its computed seconds over those of the whole step
  double deviation = 0;  // standard, of ln(measured / computed) of this part
};

// Where a training was timed, or should run.
struct TimedPlace {
  const GpuModel* gpu = nullptr;
  int64_t gpus = 1;  // in all
  int64_t micro_batch = 1;
  int64_t accumulation = 1;
  double compute_share = 0;  // computing over computing plus memory traffic, 0 to 1
  // GPU and host, which work in parallel, transfers between GPUs, offloading. 0 without a shape.
  std::array<PartOfStep, 4> parts;
  double gpu_alone = 0;  // of the GPU's share: beside it the host does not work
};

// Standard deviation of ln(measured / computed) without a timing.
double DeviationOf(const TimedPlace& place);

// Expected variance of the difference of ln(measured / computed) between two places.
double CarryOverVariance(const TimedPlace& from, const TimedPlace& to);

struct Timing {
  TimedPlace at;
  double log_factor = 0;  // ln(measured / computed)
};

// One timing, carried over to another place.
struct CarriedTiming {
  double log_factor = 0;  // ln(seconds / computed) there
  double variance = 0;    // of what will be measured there around it
};

CarriedTiming CarryByParts(const Timing& timing, const TimedPlace& to);

struct CarriedOver {
  double log_factor = 0;      // weighted mean
  double variance = 0;        // weighted, of the factors around the mean
  double expected = 0;        // weighted, of what is measured around each factor
  double apart = 0;           // difference of the largest and the smallest factor used
  bool on_this_card = false;  // only timings on this card were used
  size_t nearest = 0;         // index of the timing with the largest weight
  size_t lowest = 0;          // index of the smallest factor used
  size_t highest = 0;         // index of the largest factor used
};

// REQUIRES: timings is not empty.
CarriedOver CarryOver(const std::vector<Timing>& timings, const TimedPlace& to);

}  // namespace gpuadvise
