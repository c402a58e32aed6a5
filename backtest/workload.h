// A generated day of submissions, run through the scheduler simulation with known run times.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "backtest/job_log.h"
#include "common/slurm/snapshot.h"

namespace gpuadvise::backtest {

// First partition with a node that has `gpus` GPUs of type `gpu`; "": none.
std::string PartitionWith(const Snapshot& cluster, const std::string& gpu, int64_t gpus);

// Reads a day of submissions, as the lab's workload generators write it: columns t_s, user, gres
// (`type:count`), nodes, limit_min, runtime_s, and perhaps training, which becomes the job's name.
// Jobs start when they are submitted. Errors: as ParseCsvLog; kBadInput if `cluster` has none of
// the GPUs.
Result<JobLog> ReadWorkload(std::string_view text, const std::string& file,
                            const Snapshot& cluster);

// Simulates `log` with these run times, by job id, and overwrites its starts, ends and nodes.
// REQUIRES: sorted by eligible time (FinishLog).
void SimulateLog(JobLog& log, const Snapshot& cluster,
                 const std::unordered_map<int64_t, double>& run_seconds);

// ReadWorkload, and its day simulated. Errors: as there.
Result<JobLog> SimulateWorkload(std::string_view text, const std::string& file,
                                const Snapshot& cluster);

}  // namespace gpuadvise::backtest
