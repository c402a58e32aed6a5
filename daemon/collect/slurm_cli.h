// Slurm through its command line tools: scontrol, sshare, sacctmgr, in the one text dialect that
// all releases share. Needs no libslurm; costs one process for each table and poll.
#pragma once

#include <chrono>
#include <string>

#include "daemon/collect/source.h"

namespace gpuadvise {

struct SlurmCliOptions {
  std::string bin_dir;                                 // where the tools are; "": PATH
  std::chrono::milliseconds policy_interval{300'000};  // between polls of the slow-changing tables
  std::chrono::milliseconds deadline{20'000};          // for each tool
};

SourceResult MakeSlurmCliSource(const SlurmCliOptions& options);

}  // namespace gpuadvise
