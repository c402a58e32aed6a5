// The keys below `training`: the part of the table of keys (train_keys.h) that says how a model is
// trained.
#pragma once

#include <vector>

#include "common/training/train_key.h"

namespace gpuadvise {

// Beyond these a number is a slip; they keep every product of batch numbers inside 64 bits.
inline constexpr double kMostWork = 1e12;
inline constexpr double kMostSamples = 1e6;
inline constexpr double kMostTokens = 1e8;

// In the order of the page.
std::vector<TrainKey> TrainingKeys();

}  // namespace gpuadvise
