// The parts of a multifactor priority that depend on the cluster and not on the job: by what each
// factor is normalised. Worked out once per snapshot, so that asking for many priorities is cheap.
// Immutable; safe from any thread.
#pragma once

#include <map>
#include <string>

#include "common/priority.h"
#include "common/snapshot.h"

namespace gpuadvise {

struct PriorityScale {
  int64_t nodes = 0;
  int64_t cpus = 0;
  int64_t most_qos = 0;          // highest priority of any QOS
  int64_t most_association = 0;  // … of any association
  int64_t most_partition = 1;    // highest job factor of any partition
  int64_t user_associations = 0;
  int64_t lowest_basic = 0;  // the lowest priority in the queue, 0 when it is empty
  std::map<std::string, TresCounts> partition_tres;  // only where TRES have weights
};

PriorityScale ScaleOf(const Snapshot& snapshot);

/// As PredictPriority of common/priority.h; only the policy tables of `snapshot` are read.
PriorityFactors PredictPriority(const Snapshot& snapshot, const PriorityScale& scale,
                                const JobRequest& request, const Partition& partition,
                                const Submitter& submitter);

}  // namespace gpuadvise
