// Jobs that users submit to the simulated cluster: small files in a folder.
//
// `ID.job` holds one job (JSON) and is written once; `ID.end` starts with the unix time of its end.
// The submitter writes both and runs the job; the collector only reads and runs nothing. Ignores
// files that another user owns or that hold no valid job. Blocking.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "daemon/collect/sim_workload.h"

namespace gpuadvise::collect {

class SimJobFolder {
 public:
  explicit SimJobFolder(std::string path) : path_(std::move(path)) {}

  struct End {
    int64_t job_id = 0;
    UnixSeconds at = 0;
  };
  struct News {
    std::vector<SimJob> submitted;  // by job id
    std::vector<End> ended;         // by job id
  };

  // Jobs and ends since the last call; all of them at the first.
  News Look();

 private:
  std::string path_;
  std::set<std::string> read_;  // names of files
};

// Reads a job: {"id": 100001, "name": "toy", "user": "ann", "uid": 1000, "submit": 1795353695,
// "partition": "gpu_shared", "gpu_type": "gpul40s", "gpus": 2, "nodes": 1, "cpus": 4,
// "memory_mib": 8000, "limit_seconds": 600}; GPUs, CPUs and memory are per node. It runs to its
// limit unless ended before. nullopt: not a valid job.
std::optional<SimJob> SimJobFrom(const std::string& text);

}  // namespace gpuadvise::collect
