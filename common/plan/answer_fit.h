// The answer of `gpuadvise fit`; docs/models.md documents it. Pure.
#pragma once

#include "common/api/plan.h"
#include "common/plan/fit.h"

namespace gpuadvise {

// Errors: as FitStages.
Result<api::Fit> AnswerFit(const FitQuestion& question);

}  // namespace gpuadvise
