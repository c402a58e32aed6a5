// Predicts the priority that Slurm would give a new job.
//
// priority/basic counts down from a large number, so a new job comes last. priority/multifactor is
// the weighted sum of Slurm's documented factors (age, association, fair share, job size,
// partition, QOS, TRES, minus nice), each 0..1, from the snapshot's policy tables. Formula:
// https://slurm.schedmd.com/priority_multifactor.html
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "common/slurm/snapshot.h"
#include "common/slurm/submitter.h"

namespace gpuadvise {

// Weighted factors as shown by `sprio -l` (multiplied by their weights).
struct PriorityFactors {
  double age = 0;
  double association = 0;
  double fair_share = 0;
  double job_size = 0;
  double partition = 0;
  double qos = 0;
  double tres = 0;
  int64_t nice = 0;
  int64_t total = 0;
};

// Factors of `request` in `partition` at submission (age 0). An unknown account, user or QOS counts
// as zero, as in Slurm.
PriorityFactors PredictPriority(const Snapshot& snapshot, const JobRequest& request,
                                const Partition& partition, const Submitter& submitter);

// The fair-share factor (0 to 1) of a user's association, as exactly as what Slurm reports of it
// allows. `users`: user associations on the cluster.
double FairShareOf(const Association& user, const SchedulerConfig& config, int64_t users);

// Normalisation of the multifactor priority: parts that depend only on the cluster. Computed once
// per snapshot, so that each priority is cheap. Immutable; safe from any thread.
struct PriorityScale {
  int64_t nodes = 0;
  int64_t cpus = 0;
  int64_t most_qos = 0;          // highest priority of any QOS
  int64_t most_association = 0;  // … of any association
  int64_t most_partition = 1;    // highest job factor of any partition
  int64_t user_associations = 0;
  int64_t lowest_basic = 0;                          // lowest priority in the queue, 0 if empty
  std::map<std::string, TresCounts> partition_tres;  // only if TRES have weights
};

PriorityScale MakePriorityScale(const Snapshot& snapshot);

// With a precomputed scale of `snapshot`; reads only the policy tables.
PriorityFactors PredictPriority(const Snapshot& snapshot, const PriorityScale& scale,
                                const JobRequest& request, const Partition& partition,
                                const Submitter& submitter);

}  // namespace gpuadvise
