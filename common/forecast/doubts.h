// What the forecast of one start does not know, or knows only roughly, of the site's slurm.conf: a
// short sentence for each, where it can move this answer. Pure; safe from any thread.
// docs/slurm-conf.md has all keys.
#pragma once

#include <string>
#include <vector>

#include "common/scheduler/queue_model.h"
#include "common/scheduler/simulation.h"
#include "common/slurm/snapshot.h"

namespace gpuadvise {

// `job`: `request` in `queue`; `first`: where the first sample puts it, without nodes where that
// was not looked at.
std::vector<std::string> DoubtsOf(const QueueModel& queue, const JobRequest& request,
                                  const PendingJob& job, const SimulatedStart& first);

}  // namespace gpuadvise
