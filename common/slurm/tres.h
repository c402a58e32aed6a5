// A request in Slurm's trackable resources (TRES), as limits and priorities count them: "cpu",
// "mem" (MiB), "node", "gres/gpu", "gres/gpu:TYPE"; and a partition's charge (TRESBillingWeights).
// Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/slurm/snapshot.h"

namespace gpuadvise {

// TRES of `request` in `partition`: minimum CPUs and nodes, memory with its default.
TresCounts RequestTres(const JobRequest& request, const Partition& partition,
                       const SchedulerConfig& config);

// TRES held by a job; empty while it waits.
TresCounts HeldTres(const Job& job);

// Total TRES of the nodes of `partition`, up or down.
TresCounts PartitionTres(const Snapshot& snapshot, const Partition& partition);

// Canonical TRES name: "CPU" -> "cpu", "GRES/gpu" -> "gres/gpu".
std::string CanonicalTres(std::string_view name);

// Billing TRES of a job that holds `tres`, by weights as printed by Slurm
// ("CPU=1.0,Mem=0.25G,GRES/gpu:a100=4"): the sum, or with `largest` (PriorityFlags=MAX_TRES) the
// maximum. A suffix is the unit of memory (default MiB), as in slurm.conf(5). nullopt without
// weights or if one is invalid.
std::optional<double> ComputeBilling(const std::string& weights, const TresCounts& tres,
                                     bool largest);

// The usage that a job which holds `tres` adds a second, as fair share counts it: its billing TRES,
// which without weights are its CPUs, times the UsageFactor of its QOS (null: 1).
double UsagePerSecond(const TresCounts& tres, const Partition& partition, const Qos* qos,
                      const SchedulerConfig& config);

}  // namespace gpuadvise
