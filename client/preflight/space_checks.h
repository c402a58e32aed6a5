// Whether the checkpoints of a run fit on disk and into the caller's quota, and how many to keep or
// how seldom to save so that they do.
//
// A trainer writes the next checkpoint before it removes the oldest, so `keep` of them need room
// for one more. Sizes that were estimated give warnings, never errors. Pure functions over facts.
#pragma once

#include <vector>

#include "client/preflight/check.h"
#include "client/preflight/job_facts.h"

namespace gpuadvise {

/// "space": one line where the output folder's file system is known, else none.
std::vector<Check> SpaceChecks(const JobFacts& facts);

/// "quota": one line where there is a `quota` program, else none.
std::vector<Check> QuotaChecks(const JobFacts& facts);

/// A multiple of a power of ten, at least `steps`, with at most two digits before its zeros: what a
/// person would write for an interval.
int64_t RoundInterval(int64_t steps);

}  // namespace gpuadvise
