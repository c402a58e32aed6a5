// What `sdiag` prints of slurmctld's own work: cycles of both schedulers, their queues, RPCs.
//
// Pure functions, any thread. All releases print the same lines; one that is missing is absent.
#pragma once

#include <string_view>

#include "common/slurm/snapshot.h"

namespace gpuadvise::collect {

// Accepts any text. RPCs are counted by message type, which has each of them once.
SchedulerHealth ParseSdiag(std::string_view text);

}  // namespace gpuadvise::collect
