// What belongs together in a queue: jobs that were submitted together, nodes that the same jobs
// could use, requests that the same nodes could serve. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/node_groups.h"
#include "common/queue_model.h"
#include "common/snapshot.h"

namespace gpuadvise {

/// Jobs of one user and shape submitted within so many seconds of each other are one burst.
inline constexpr int64_t kBurstSeconds = 600;

/// Everything of a request that decides which nodes can serve and how much of each: jobs with equal
/// keys have equal shapes but for their times.
std::string ShapeKeyOf(const JobRequest& request, size_t partition);

/// Jobs of one key may be of one burst.
std::string BurstKeyOf(const Job& job);

/// Numbers for those that were submitted together: tasks of an array, and jobs of one user and
/// shape whose submissions follow each other closely.
void FindBursts(const Snapshot& snapshot, std::vector<RunningJob>& running,
                std::vector<PendingJob>& pending);

/// By group: the number of its component. Groups that a job of `pending` could use are of one.
std::vector<int32_t> ComponentsOf(const NodeGroups& groups, const std::vector<PendingJob>& pending);

}  // namespace gpuadvise
