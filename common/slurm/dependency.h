// sbatch's --dependency of a job that is not submitted yet. Syntax:
// https://slurm.schedmd.com/sbatch.html#OPT_dependency
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.h"
#include "common/slurm/snapshot.h"
#include "common/slurm/submitter.h"

namespace gpuadvise {

struct Dependencies {
  std::vector<int64_t> after;       // ids of queued or running jobs that must end first
  std::vector<std::string> doubts;  // what the dependency means beyond that, in sentences
};

// Reads "afterok:12:13,afterany:65_4" or "singleton" of a job of `submitter` with this `name`. The
// id of an array stands for all its tasks. Jobs that neither wait nor run count as ended, which is
// said. Errors: kBadInput with the part that is no dependency.
Result<Dependencies> ReadDependencies(std::string_view text, const Submitter& submitter,
                                      std::string_view name, const Snapshot& snapshot);

}  // namespace gpuadvise
