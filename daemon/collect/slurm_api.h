// Slurm through libslurm: RPCs that cost slurmctld nothing for tables that did not change.
//
// libslurm may end the whole process (fatal()), and a host may lose it: it is in a program of its
// own, gpuadvise-collect-api. In gpuadvise-collect, MakeSlurmApiSource goes over to that program.
#pragma once

#include <chrono>
#include <string>

#include "daemon/collect/source.h"

namespace gpuadvise::collect {

struct SlurmApiOptions {
  std::chrono::milliseconds policy_interval{300'000};  // between polls of the slow-changing tables
  std::string bin_dir;  // where scontrol is, which tells this host's release; "": in PATH
};

// Errors: kUnavailable without a slurm.conf that can be read; in gpuadvise-collect also where
// gpuadvise-collect-api is missing or does not load. There it returns only with an error.
SourceResult MakeSlurmApiSource(const SlurmApiOptions& options);

}  // namespace gpuadvise::collect
