// Reports `gpuadvise-outcome.json` files to the daemon (POST /v1/outcomes), for runs on compute
// nodes that could not reach its socket.
//
// Only regular, small files of the caller are read (client/run/outcome_file.h). The daemon decides
// whether the job is the caller's.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "client/api/daemon_client.h"
#include "common/api/experiment.h"
#include "common/base/error.h"

namespace gpuadvise::client {

// One file: the job that it belongs to, or why it was not taken.
struct ImportedFile {
  std::string path;
  std::string job_id;    // "" when it was not taken
  std::string sentence;  // "" when it was taken
};

// The files at `paths`: a file itself; for a folder the outcomes in it and in the folders directly
// below.
std::vector<std::string> OutcomeFilesAt(const std::vector<std::string>& paths);

// Where to look for outcomes of the newest 50 jobs that have begun and have no final one: in their
// output folders, gpuadvise-outcome.json or, if a later job has used the folder since,
// gpuadvise-outcome-JOBID.json. Each path once. `jobs`: of ReadExperiments.
std::vector<std::string> OwnOutcomeFiles(const std::vector<api::Experiment>& jobs);

// Reports each file. `owner` is the caller's uid. Errors: kUnavailable when the daemon does not
// answer; other failures are in the file's entry.
Result<std::vector<ImportedFile>> ImportOutcomes(const std::vector<std::string>& files, uid_t owner,
                                                 Api& api);

// Reports the outcomes of OwnOutcomeFiles(jobs) that belong to one of these jobs. Files that cannot
// be read or are refused are skipped; `--import` says why. Returns how many were taken.
size_t ImportOwnOutcomes(const std::vector<api::Experiment>& jobs, uid_t owner, Api& api);

}  // namespace gpuadvise::client
