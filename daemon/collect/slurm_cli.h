// Slurm through its command-line tools scontrol, squeue, sshare, sacctmgr and sdiag, whose text
// format all releases share. Needs no libslurm. Each poll costs one process per table, two for
// jobs, and one for each job that seems to have two records, up to a bound.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "daemon/collect/source.h"

namespace gpuadvise::collect {

struct SlurmCliOptions {
  std::string bin_dir;                                 // of the tools; "": PATH
  std::chrono::milliseconds policy_interval{300'000};  // between polls of the slow-changing tables
  std::chrono::milliseconds deadline{20'000};          // for each tool
};

// Output of one of Slurm's tools if it ended with status 0 within `deadline`. The tool stays in our
// process group and dies with the calling thread. `environment`: added to ours, as in Command.
//
// Errors: kUnavailable, naming the tool and the reason: missing, another exit status (with the
// first line of its stderr), too slow, or too much output.
Result<std::string> AskSlurm(std::vector<std::string> words, std::chrono::milliseconds deadline,
                             std::vector<std::string> environment = {});

// A separator for fields in a tool's output: random, so that no user's text contains it.
std::string DrawMark();

SourceResult MakeSlurmCliSource(const SlurmCliOptions& options);

}  // namespace gpuadvise::collect
