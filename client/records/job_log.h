// Where a job's output is: its StdOut, by `scontrol show job`, or by accounting once it has left.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "client/records/slurm_query.h"
#include "common/base/error.h"

namespace gpuadvise::client {

// What stands in the replacement symbols of a file name.
struct LogNames {
  int64_t job_id = 0;
  int64_t array_job_id = 0;  // 0: no array
  int64_t array_task_id = -1;
  std::string name;
  std::string user;
  std::string node;  // the first one, short; "" before the job has started
};

// `pattern` with sbatch's replacement symbols filled in ("filename pattern" of sbatch(1)): %A %a %j
// %J %N %n %s %t %u %x %%, numbers filled up with zeros to a width such as %4j. A backslash keeps
// the symbols as they are. Others stay.
std::string ExpandedLogPath(std::string_view pattern, const LogNames& names);

struct JobLog {
  std::string path;
  std::string state;  // Slurm's, such as RUNNING
  bool ended = false;
};

// Errors: kBadInput where Slurm knows no such job or shows no output file for it; SlurmQuery's.
Result<JobLog> FindJobLog(const std::string& job_id, SlurmQuery& slurm);

}  // namespace gpuadvise::client
