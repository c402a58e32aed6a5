// Everything about a job that can be looked at on this machine before it is submitted.
#pragma once

#include <vector>

#include "client/preflight/check.h"
#include "client/preflight/job_facts.h"

namespace gpuadvise {

/// In the order in which the job would need them. Pure.
std::vector<Check> PreflightChecks(const JobPlan& plan, const JobFacts& facts);

}  // namespace gpuadvise
