// Finds a job's output file: StdOut from `scontrol show job`, later from accounting.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "client/records/slurm_query.h"
#include "common/base/error.h"

namespace gpuadvise::client {

// Values for the replacement symbols in a file name.
struct LogNames {
  int64_t job_id = 0;
  int64_t array_job_id = 0;  // 0: not an array
  int64_t array_task_id = -1;
  std::string name;
  std::string user;
  std::string node;  // short name of the first node; "": not started
};

// `pattern` with sbatch's replacement symbols filled in ("filename pattern" in sbatch(1)): %A %a %j
// %J %N %n %s %t %u %x %%, numbers zero-padded to a width as in %4j. With a backslash, and for
// other symbols, nothing is replaced.
std::string ExpandedLogPath(std::string_view pattern, const LogNames& names);

struct JobLog {
  std::string path;
  std::string state;  // Slurm's, such as RUNNING
  bool ended = false;
};

// Errors: kBadInput for an unknown job or one without an output file; those of SlurmQuery.
Result<JobLog> FindJobLog(const std::string& job_id, SlurmQuery& slurm);

}  // namespace gpuadvise::client
