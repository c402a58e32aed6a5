// Whether a caller may run a job in a partition: access lists, states and per-job limits of
// partition, QOS and association, in Slurm's order of precedence: partition QOS, job QOS,
// association, its parents, partition. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.h"
#include "common/slurm/snapshot.h"
#include "common/slurm/submitter.h"

namespace gpuadvise {

// Partitions that an error may list: those that Slurm shows to everyone. Empty for callers without
// a name (uid < 0) if PrivateData hides them.
std::vector<std::string> VisiblePartitions(const Submitter& submitter, const Snapshot& snapshot);

// Whether a partition of that name exists for `submitter`. Hides private ones from callers without
// a name.
bool CanSeePartition(const Submitter& submitter, const Snapshot& snapshot, std::string_view name);

// Limits that apply to one job; null if absent or not enforced.
struct EffectiveLimits {
  const Association* association = nullptr;
  std::vector<const Association*> chain;  // association and parents; empty if not enforced
  const Qos* qos = nullptr;
  const Qos* partition_qos = nullptr;
  std::vector<const Limits*> by_precedence;  // QOS and associations; the first limit wins
};

EffectiveLimits FindEffectiveLimits(const Snapshot& snapshot, const Partition& partition,
                                    const Submitter& submitter);

// Errors (kInfeasible): one sentence with the list or limit, and what is allowed.
Result<void> CheckAccess(const Snapshot& snapshot, const Partition& partition,
                         const JobRequest& request, const Submitter& submitter,
                         const EffectiveLimits& authority);

}  // namespace gpuadvise
