// Groups within a queue: bursts (jobs submitted together) and components (node groups that the same
// jobs could use). Pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "common/scheduler/node_groups.h"
#include "common/scheduler/queue_jobs.h"
#include "common/slurm/snapshot.h"

namespace gpuadvise {

// Numbers the bursts (kBurstSeconds, MakeBurstKey); a job without fellows keeps -1.
void FindBursts(const Snapshot& snapshot, std::vector<RunningJob>& running,
                std::vector<PendingJob>& pending);

// Component number by group. Groups that the same job of `pending` could use share a component.
std::vector<int32_t> ComponentsOf(const NodeGroups& groups, const std::vector<PendingJob>& pending);

}  // namespace gpuadvise
