// A generated day of submissions, run through the scheduler simulation with known run times.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "backtest/job_log.h"
#include "common/slurm/snapshot.h"

namespace gpuadvise::backtest {

// First partition with a node that has `gpus` GPUs of type `gpu`; "": none.
std::string PartitionWith(const Snapshot& cluster, const std::string& gpu, int64_t gpus);

// Simulates a day of submissions on `cluster` and returns its log. `text` is written by the lab's
// workload generators: columns t_s, user, gres (`type:count`), nodes, limit_min, runtime_s.
// Errors: as ParseCsvLog; kBadInput if `cluster` has none of the GPUs.
Result<JobLog> SimulateWorkload(std::string_view text, const std::string& file,
                                const Snapshot& cluster);

}  // namespace gpuadvise::backtest
