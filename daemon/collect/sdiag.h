// slurmctld's own work, as `sdiag` prints it and slurmrestd tells it: cycles of both schedulers,
// their queues, RPCs.
//
// Pure functions, any thread. All releases have the same figures; one that is missing is absent.
#pragma once

#include <string_view>

#include "common/slurm/snapshot.h"
#include "daemon/collect/rest_json.h"

namespace gpuadvise::collect {

// Accepts any text. RPCs are counted by message type, which has each of them once.
SchedulerHealth ParseSdiag(std::string_view text);

// The answer to /slurm/vX/diag.
SchedulerHealth RestHealth(const RestJson& answer);

}  // namespace gpuadvise::collect
