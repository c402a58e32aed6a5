// May this caller run this job in this partition at all? Access lists, states and per-job limits of
// partition, QOS and association, in the order in which Slurm lets one override another: the
// partition's QOS, the job's QOS, the association, its parents, the partition. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.h"
#include "common/slurm/snapshot.h"
#include "common/slurm/submitter.h"

namespace gpuadvise {

// The partitions that an error may list: what Slurm shows to everybody. Callers without a name
// (uid < 0) are told none where PrivateData hides them.
std::vector<std::string> PartitionsToldTo(const Submitter& submitter, const Snapshot& snapshot);

// Whether there is a partition of that name for `submitter`: of those that are hidden, callers
// without a name do not learn.
bool KnowsPartition(const Submitter& submitter, const Snapshot& snapshot, std::string_view name);

// Whose limits apply to one job: each null when there is none or it is not enforced.
struct EffectiveLimits {
  const Association* association = nullptr;
  std::vector<const Association*> chain;  // association and parents; empty when not enforced
  const Qos* qos = nullptr;
  const Qos* partition_qos = nullptr;
  std::vector<const Limits*> by_precedence;  // of QOS and associations, the first that says so wins
};

EffectiveLimits EffectiveLimitsOf(const Snapshot& snapshot, const Partition& partition,
                                  const Submitter& submitter);

// Errors (kInfeasible): a sentence that names the list or limit and what would be allowed.
Result<void> CheckAccess(const Snapshot& snapshot, const Partition& partition,
                         const JobRequest& request, const Submitter& submitter,
                         const EffectiveLimits& authority);

}  // namespace gpuadvise
