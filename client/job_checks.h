// All checks of a job before it is submitted: this machine's, the daemon's and Slurm's.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "client/job_choice.h"
#include "client/preflight/check.h"
#include "client/preflight/job_facts.h"
#include "common/error.h"

namespace gpuadvise {

class JobRunner;

struct JobChecks {
  std::vector<Check> checks;
  std::vector<std::string> log_folders;  // to be made before the job is submitted
  std::string outcome_folder;            // where its outcome will lie; "" not known here
};

/// `runner` nullptr: Slurm is not asked.
JobChecks CheckJob(const nlohmann::json& spec, const Choice& choice, Site& site, JobRunner* runner,
                   int64_t now);

/// The same where no strategy is known: only what this machine shows.
JobChecks CheckFile(const nlohmann::json& spec, const SbatchOptions& fixed, Site& site);

/// Makes folders with those above them. Errors: the first that could not be made, and why.
Result<void> MakeFolders(const std::vector<std::string>& folders);

}  // namespace gpuadvise
