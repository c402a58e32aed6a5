// Slurm through its command line tools: scontrol, squeue, sshare, sacctmgr, in the one text dialect
// that all releases share. Needs no libslurm; costs one process for each table and poll, two for
// jobs, and one for each job that seems to have two records, up to a bound.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "daemon/collect/source.h"

namespace gpuadvise::collect {

struct SlurmCliOptions {
  std::string bin_dir;                                 // where the tools are; "": PATH
  std::chrono::milliseconds policy_interval{300'000};  // between polls of the slow-changing tables
  std::chrono::milliseconds deadline{20'000};          // for each tool
};

// What one of Slurm's tools printed, when it ended with status 0 within `deadline`. It stays in our
// process group and dies with the calling thread. `environment`: over ours, as of a Command.
//
// Errors: kUnavailable, naming the tool and why: it is not there, ended with another status (with
// the first line that it wrote to its standard error), took too long, or printed too much.
Result<std::string> AskSlurm(std::vector<std::string> words, std::chrono::milliseconds deadline,
                             std::vector<std::string> environment = {});

// What separates the fields that a tool prints: drawn at random, so that it is in no text that
// anybody wrote before.
std::string DrawMark();

SourceResult MakeSlurmCliSource(const SlurmCliOptions& options);

}  // namespace gpuadvise::collect
