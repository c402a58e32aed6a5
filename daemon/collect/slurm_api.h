// Slurm through libslurm: RPCs that are almost free for slurmctld if a table has not changed.
//
// libslurm may end the whole process (fatal()), and an upgrade may remove it, so it is in its own
// program, gpuadvise-collect-api. In gpuadvise-collect, MakeSlurmApiSource executes that program.
#pragma once

#include <chrono>
#include <string>

#include "daemon/collect/source.h"

namespace gpuadvise::collect {

struct SlurmApiOptions {
  std::chrono::milliseconds policy_interval{300'000};  // between polls of the slow-changing tables
  std::string bin_dir;  // of scontrol, which reports this host's release; "": PATH
};

// Errors: kUnavailable without a readable slurm.conf; in gpuadvise-collect also if
// gpuadvise-collect-api is missing or does not load. There it returns only on error.
SourceResult MakeSlurmApiSource(const SlurmApiOptions& options);

}  // namespace gpuadvise::collect
