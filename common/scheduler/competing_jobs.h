// Counts the queued jobs that compete with a given job for nodes, and those ranked above it.
//
// Two jobs compete when they could use the same group of nodes. Jobs with the same groups are
// counted as one kind, so that a query scans kinds, not jobs.
#pragma once

#include <cstdint>
#include <vector>

#include "common/slurm/queue_order.h"

namespace gpuadvise {

struct PendingJob;

struct CompetingJobs {
  int64_t competing = 0;
  int64_t before = 0;  // ranked above it
  int64_t held = 0;    // held back by something not visible
};

// Immutable; safe from any thread.
class RivalCounter {
 public:
  // `pending`: in queue order.
  explicit RivalCounter(const std::vector<PendingJob>& pending);

  // Counts for a job that is not in the queue, or that replaces a queued one.
  CompetingJobs Of(const PendingJob& job) const;

 private:
  struct Kind {
    std::vector<int32_t> groups;  // ascending
    std::vector<Rank> ranks;      // ascending
    int64_t held = 0;
  };
  struct Own {
    int64_t id = 0;
    size_t kind = 0;
    Rank rank;
    bool held = false;
  };

  std::vector<Kind> kinds_;
  std::vector<Own> own_;  // every job, by id
};

// Ids of the first `most` jobs of `pending` (in queue order) that Of() counts as before the queued
// job `id`; tasks of one array as one. Empty: there are none, or no such job.
std::vector<int64_t> JobsAheadOf(int64_t id, const std::vector<PendingJob>& pending, size_t most);

}  // namespace gpuadvise
