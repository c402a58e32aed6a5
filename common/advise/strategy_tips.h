// The tips that matter most for a strategy (common/plan/tips.h has the rules). Pure.
#pragma once

#include <string>
#include <vector>

#include "common/advise/strategy.h"
#include "common/spec/train_spec.h"

namespace gpuadvise {

// The three that matter most for the first of `strategies`, each with its effect.
std::vector<std::string> TipsFor(const TrainSpec& spec, const std::vector<Strategy>& strategies);

}  // namespace gpuadvise
