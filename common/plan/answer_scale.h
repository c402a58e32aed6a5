// The answer of `gpuadvise scale`: GPU counts and kinds, with hours, cost and reasons (documented
// in docs/models.md). Pure.
#pragma once

#include <vector>

#include "common/api/plan.h"
#include "common/plan/scale.h"

namespace gpuadvise {

// The kind of GPU shown in detail: the first that can run it, if the user listed kinds in order, or
// the best by the objective.
enum class DetailedGpu { kFirst, kBest };

// One curve per entry of `gpus`. The top-level members repeat the detailed one, with `gpu_why` if
// it is the best of several. Errors: kBadInput with a pointer from "/spec".
Result<api::Scale> AnswerScale(const ScaleQuestion& question, const std::vector<ScaledGpu>& gpus,
                               DetailedGpu told);

}  // namespace gpuadvise
