// What Slurm and the daemon say about a job before it is submitted: whether the site takes it,
// whether the caller may run there, whether its time limit is long enough. Pure functions.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "client/job_runner.h"
#include "client/preflight/check.h"
#include "common/error.h"

namespace gpuadvise {

/// The site's own word on the job. Its start is shown beside the forecast of `strategy` as what it
/// is: `--test-only` looks at the limits of running jobs and at no waiting one. That it finds no
/// nodes is a warning, because it says so of busy ones too.
Check SiteCheck(const Result<SbatchVerdict>& verdict, const nlohmann::json& strategy, int64_t now);

/// The account, QOS and partition of `strategy`, which the daemon has judged; without one (an empty
/// object) the reasons of `answer` why nothing can run the job.
std::vector<Check> AccessChecks(const nlohmann::json& answer, const nlohmann::json& strategy);

/// Whether the run ends within its limit, or goes on from its checkpoints where it does not.
Check TimeLimitCheck(const nlohmann::json& spec, const nlohmann::json& strategy);

}  // namespace gpuadvise
