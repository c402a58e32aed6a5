// What a request amounts to in Slurm's trackable resources (TRES), as limits and priorities count
// it: "cpu", "mem" (MiB), "node", "gres/gpu", "gres/gpu:TYPE". Pure.
#pragma once

#include "common/snapshot.h"

namespace gpuadvise {

/// TRES of `request` in `partition`: CPUs and nodes at their minimum, memory with its default.
TresCounts RequestTres(const JobRequest& request, const Partition& partition,
                       const SchedulerConfig& config);

/// TRES that a job holds on its nodes; none while it waits.
TresCounts HeldTres(const Job& job);

/// TRES that the nodes of `partition` have together; up or down.
TresCounts PartitionTres(const Snapshot& snapshot, const Partition& partition);

/// Name as used here for a TRES however it is written: "CPU" -> "cpu", "GRES/gpu" -> "gres/gpu".
std::string CanonicalTres(std::string_view name);

}  // namespace gpuadvise
