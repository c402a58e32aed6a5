// When would this job start? The one function that is the product:
//
//     StartOf(job request, caller, state as of t) -> samples of the start time
//
// Everything that says a start time (advise, when, gpus, and later why, scoring and the back-test)
// calls it and no other. The request is put into the queue at its own predicted priority, with its
// own limit, account and QOS; nothing assumes that it comes last.
//
// `QueueModel` is the state as of t, prepared once per snapshot and then shared by every question:
// immutable to its callers, safe to ask from several threads. Times are unix seconds.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/error.h"
#include "common/snapshot.h"

namespace gpuadvise {

/// Who would submit. The names are Slurm's; empty account or QOS: the caller's default.
struct Submitter {
  int64_t uid = -1;
  std::string user;
  std::string account;
  std::string qos;
};

/// Equally likely start times of one job, ascending, in seconds from the snapshot's `taken_at`.
struct StartSamples {
  std::vector<int64_t> wait_seconds;  // never empty
  int64_t priority = 0;               // the priority the job would have at submission
  int64_t jobs_before = 0;            // pending jobs planned before it
  std::string partition;              // the one it would start in first
  std::vector<std::string> nodes;     // where the first sample puts it (a forecast, not a promise)

  /// The q-quantile, 0 <= q <= 1, by linear interpolation between samples.
  double Quantile(double q) const;
  double Mean() const;
};

class QueueModel;

/// Prepares `snapshot` for questions. O(jobs × log jobs) once; the snapshot may be dropped after.
std::shared_ptr<const QueueModel> PrepareQueue(const Snapshot& snapshot);

/// Samples of the start of `request`, submitted by `submitter` at the snapshot's time.
///
/// Errors: kInfeasible with a sentence when no node set of the cluster could ever run it (too many
/// GPUs, over the partition's limit, account or QOS not allowed), kNotFound for an unknown
/// partition, reservation or node name, naming those that exist.
Result<StartSamples> StartOf(const QueueModel& queue, const JobRequest& request,
                             const Submitter& submitter);

}  // namespace gpuadvise
