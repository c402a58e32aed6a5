// The priority Slurm would give a job, predicted before it is submitted.
//
// priority/basic counts down from a large number, so a new job comes after all that wait.
// priority/multifactor is the weighted sum of Slurm's documented factors (age, association, fair
// share, job size, partition, QOS, TRES, minus nice), each 0..1, from the snapshot's policy tables.
// Source of the formula: https://slurm.schedmd.com/priority_multifactor.html
#pragma once

#include "common/snapshot.h"
#include "common/start_of.h"

namespace gpuadvise {

/// The weighted factors as `sprio -l` shows them (already multiplied by their weights).
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

/// The factors of `request` in `partition` at the moment of its submission (age 0).
/// Unknown account, user or QOS count as Slurm counts them: a factor of zero.
PriorityFactors PredictPriority(const Snapshot& snapshot, const JobRequest& request,
                                const Partition& partition, const Submitter& submitter);

}  // namespace gpuadvise
