// Tips for `gpuadvise fit`, with its results for one GPU as context. Pure.
#pragma once

#include <vector>

#include "common/plan/fit.h"
#include "common/plan/tips.h"

namespace gpuadvise {

// For the first GPU of `question`. REQUIRES: fit.rows is not empty.
std::vector<Tip> FitTips(const FitQuestion& question, const StageFit& fit);

}  // namespace gpuadvise
