// The folders that a job needs before it starts: where it runs, where it writes, where Slurm puts
// its log. Pure functions over facts.
#pragma once

#include <string>
#include <vector>

#include "client/preflight/check.h"
#include "client/preflight/job_facts.h"

namespace gpuadvise {

Check OutputFolderCheck(const JobPlan& plan, const JobFacts& facts);
/// One for each log whose folder matters; logs that go to a device have none.
std::vector<Check> LogFolderChecks(const JobFacts& facts);
/// Nothing where the training file names no workdir.
std::vector<Check> WorkdirChecks(const JobFacts& facts);

/// The log folders that do not exist yet and can be made: Slurm itself makes none.
std::vector<std::string> LogFoldersToMake(const JobFacts& facts);

}  // namespace gpuadvise
