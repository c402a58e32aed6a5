// `gpuadvise-outcome.json` in a training's output folder: written and read (common/outcome.h).
//
// The folder may be anybody's, and so may what lies in it: only a regular file of the caller's own
// is read, links are not followed, and nothing that is there makes a reader wait.
#pragma once

#include <sys/types.h>

#include <string>

#include "common/outcome.h"

namespace gpuadvise {

inline constexpr const char* kOutcomeFile = "gpuadvise-outcome.json";

/// Writes `folder`/gpuadvise-outcome.json, whole or not at all. One of another job that lies there
/// is kept as gpuadvise-outcome-JOBID.json. Errors: kUnavailable, naming the file and what is
/// wrong.
Result<void> WriteOutcome(const Outcome& outcome, const std::string& folder);

/// Writes `folder`/gpuadvise-outcome-UID-JOBID-XXXXXX.json for others to read: the site's folder
/// for what no socket takes. Errors: as above.
Result<void> LeaveOutcome(const Outcome& outcome, const std::string& folder);

/// The file at `path`, which must belong to `owner`. Errors: kNotFound where there is none,
/// kBadInput where it is no outcome, somebody else's, no regular file or too long; none of them
/// names the file.
Result<Outcome> ReadOutcomeFile(const std::string& path, uid_t owner);

/// What the file in `folder` says of the same job before Slurm put it back into the queue, which it
/// has done `restarts` times; empty where it says nothing, or of another run in the same job.
std::vector<Attempt> EarlierAttempts(const std::string& folder, int64_t job_id, int64_t restarts);

}  // namespace gpuadvise
