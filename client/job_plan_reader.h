// A training file and a strategy as the plan that a preflight looks at.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "client/preflight/job_plan.h"
#include "client/sbatch_options.h"

namespace gpuadvise {

/// `spec` is the training file's JSON, `strategy` one of the advice's, or an empty object where
/// there is none; `options` are those that sbatch is given. What cannot be read is left out: the
/// daemon judges the file.
JobPlan ReadJobPlan(const nlohmann::json& spec, const nlohmann::json& strategy,
                    const SbatchOptions& options);

}  // namespace gpuadvise
