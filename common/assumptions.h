// What is taken for granted of a training where its file leaves something open, in sentences. Pure.
#pragma once

#include <string>
#include <vector>

#include "common/train_spec.h"

namespace gpuadvise {

/// Of a stage whose memory or run time is counted from its model's shape.
std::vector<std::string> AssumptionsOf(const Stage& stage);

}  // namespace gpuadvise
