// Sweeps on their way: counted from the queue and from accounting, with when the last run ends.
//
// A run is where the queue has it; what is not there is done if accounting says so of as many
// tasks, else failed if it says so of as many. So a run that failed and was retried counts once.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "common/api/sweep.h"
#include "common/slurm/snapshot.h"
#include "daemon/api/request_context.h"
#include "daemon/state/experiment_log.h"

namespace gpuadvise::daemon {

// Names a sweep: the job id of its first array, and its owner.
using SweepName = std::pair<int64_t, int64_t>;

// Those of `sweeps` that are known, the newest first. Blocks for the history; what it cannot tell
// counts as unknown.
std::vector<api::SweepProgress> ProgressOf(const std::vector<SweepName>& sweeps,
                                           const RequestContext& call);

// The sweep of a job or of the array that it is a task of; 0: none.
int64_t SweepOf(const Job& job, const ExperimentLog& log);

// The member `sweep` of a report that job `job_id` was submitted; {} without it. Errors: kBadInput;
// kNotFound for a sweep whose first array is not the caller's.
Result<SweepPart> SweepIn(const nlohmann::json& body, int64_t job_id, const RequestContext& call);

}  // namespace gpuadvise::daemon
