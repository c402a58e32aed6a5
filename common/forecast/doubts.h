// What the forecast of one start does not model, or models roughly, in the site's slurm.conf: one
// short sentence for each item that can affect this answer. Pure; safe from any thread.
// docs/slurm-conf.md lists all keys.
#pragma once

#include <string>
#include <vector>

#include "common/scheduler/queue_model.h"
#include "common/scheduler/simulation.h"
#include "common/slurm/snapshot.h"

namespace gpuadvise {

// `job`: `request` in `queue`. `first`: its start in the first sample, possibly without nodes.
std::vector<std::string> FindDoubts(const QueueModel& queue, const JobRequest& request,
                                    const PendingJob& job, const SimulatedStart& first);

}  // namespace gpuadvise
