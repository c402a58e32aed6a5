// What else would help this training: rules of the founding guides, at most three, each with its
// claimed effect and only where it applies to the strategy in the first place.
#pragma once

#include <string>
#include <vector>

#include "common/strategy.h"

namespace gpuadvise {

std::vector<std::string> TipsFor(const TrainSpec& spec, const std::vector<Strategy>& strategies);

}  // namespace gpuadvise
