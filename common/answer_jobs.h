// What the answers about single jobs and about the queue share: one job as JSON, and what of it the
// caller may see.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "common/answers.h"
#include "common/cheaper_start.h"

namespace gpuadvise {

/// Whether `caller` may see whose job this is: not those of others where PrivateData has jobs, and
/// none for who asks anonymously.
bool MaySee(const Snapshot& snapshot, const Job& job, const Submitter& caller);

/// The job with its forecast. `start` null: none is known.
nlohmann::json JobJson(const Job& job, const StartSamples* start, const ClusterView& view,
                       const Submitter& caller);

/// p10, p50, p90 and mean of the wait, and the times they lead to.
void AddStart(const StartSamples& start, UnixSeconds now, nlohmann::json& into);

/// What would start it earlier, as JSON.
nlohmann::json CheaperOf(const JobRequest& request, const StartSamples& as_it_is,
                         const ClusterView& view, const AskStart& ask);

}  // namespace gpuadvise
