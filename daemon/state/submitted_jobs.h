// Jobs that users report as just submitted, held against what a snapshot shows. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "common/base/error.h"
#include "common/slurm/snapshot.h"

namespace gpuadvise::daemon {

// Who owns the ids under which `snapshot` shows jobs: each job's own and that of its array or het
// job.
using Owners = std::unordered_map<int64_t, int64_t>;
Owners OwnersOf(const Snapshot& snapshot);

// When the user submitted the job, array or het job of this id; nullopt: `snapshot` does not show
// it, but Slurm may have given the id by `now`, by the snapshot's clock. Slurm counts ids up, wraps
// around, and gives the tasks of arrays further ones as they start. Errors: kNotFound for a job of
// somebody else's, and for an id that Slurm is nowhere near.
Result<std::optional<UnixSeconds>> SubmissionOf(int64_t id, int64_t uid, const Snapshot& snapshot,
                                                UnixSeconds now);

}  // namespace gpuadvise::daemon
