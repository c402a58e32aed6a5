// A training that takes longer than its partition lets a job run: a chain of the same job, which
// goes back into the queue shortly before its time limit and goes on from its checkpoint.
//
// Each link loses the minutes before the limit in which it saves and ends, and each but the first a
// start-up and the steps since its last checkpoint. Slurm puts a requeued job back with its own
// priority and wait, so each link waits again. Pure. Times are seconds.
#pragma once

#include <cstdint>

namespace gpuadvise {

inline constexpr int64_t kSaveSeconds = 300;  // sbatch --signal=B:USR1@300

struct ResumeChain {
  int64_t links = 1;
  double lost_seconds = 0;  // of run time, beyond what one long job would take
};

/// For a run of `run_seconds` under a limit of `limit_seconds`; `start_seconds` of it come before
/// the first step, `redo_seconds` are lost between checkpoint and end of a link. 0 links: a link
/// ends before it gets anywhere.
ResumeChain ChainFor(double run_seconds, int64_t limit_seconds, double start_seconds,
                     double redo_seconds);

}  // namespace gpuadvise
