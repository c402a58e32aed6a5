// Whether what a job's command names is there: its programs, scripts, settings, data, the container
// image, and the login to the Hugging Face Hub.
//
// What `setup:` or a container may bring at run time is a warning, never an error. Pure functions
// over facts.
#pragma once

#include <vector>

#include "client/preflight/check.h"
#include "client/preflight/job_facts.h"

namespace gpuadvise {

std::vector<Check> ProgramChecks(const JobPlan& plan, const JobFacts& facts);
std::vector<Check> FileChecks(const JobPlan& plan, const JobFacts& facts);
/// Nothing where the job uses no container.
std::vector<Check> ContainerChecks(const JobPlan& plan, const JobFacts& facts);
/// Nothing where the command names no model of the Hub and uploads nothing.
std::vector<Check> LoginChecks(const JobPlan& plan, const JobFacts& facts);

}  // namespace gpuadvise
