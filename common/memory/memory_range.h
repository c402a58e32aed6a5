// How far a peak may be from the counted one, and so how much of a GPU to leave free. Pure.
//
// The logarithm of measured over counted peaks is taken as normal. Its deviation depends on what is
// well known: docs/models.md has the rows that it was chosen from, and how many lie inside.
#pragma once

#include "common/spec/training_setup.h"

namespace gpuadvise {

// Standard deviation of the logarithm. `measured`: peaks of this user's runs correct the count.
double MemoryDeviation(const TrainingSetup& setup, bool measured);

// 10th and 90th percentile of a peak, in bytes.
struct MemoryRange {
  double low = 0;
  double high = 0;
};

// Around `bytes` counted. `highest`: HighestBytes, if lengths vary.
MemoryRange RangeOfPeak(double bytes, double highest, const TrainingSetup& setup, bool measured);

// Share of a GPU to leave free, so that a batch that fills the rest fits with a probability of 95 %
// and 5 % to spare.
double SafetyMargin(const TrainingSetup& setup, bool measured);

// Twice the margin, but at most half of the GPU.
double ConservativeMargin(double margin);

}  // namespace gpuadvise
