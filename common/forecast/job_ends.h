// Predicted ends of running jobs and run times of waiting jobs, as the forecast uses them.
//
// A view of a QueueModel for the jobs of one answer, built in O(all jobs); must not outlive the
// model. Safe from any thread. Times are unix seconds.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "common/forecast/start_of.h"

namespace gpuadvise {

struct PendingJob;
struct RunningJob;

// Both equal if only the limit is known.
struct JobEnd {
  UnixSeconds p50 = 0;
  UnixSeconds p90 = 0;
};

class JobEnds {
 public:
  // Covers only the jobs `ids`.
  JobEnds(const QueueModel& queue, const std::vector<int64_t>& ids);

  // End of a running job, given its elapsed time; within [snapshot, limit]. nullopt: no limit and
  // no history, or no such job.
  std::optional<JobEnd> EndOf(int64_t id) const;

  // Median run time of a waiting job in seconds; its limit without history. nullopt: no limit, or
  // not competing for nodes.
  std::optional<int64_t> RunTimeOf(int64_t id) const;

 private:
  UnixSeconds now_;
  std::unordered_map<int64_t, const RunningJob*> running_;
  std::unordered_map<int64_t, const PendingJob*> pending_;
};

}  // namespace gpuadvise
