// Past waits as forecasts: simple baselines for comparison.
//
// Empirical distributions of the last waits in the partition, and in similar states (partition,
// free resources, queue length, size, limit, own pending jobs). With fewer than kEnough waits, one
// level more general. Jobs of one burst share one weight. Causal; not thread-safe while it learns.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>

#include "common/history/wait_distribution.h"
#include "common/slurm/job_record.h"

namespace gpuadvise {

// The state at submission as keys, from special to general.
inline constexpr size_t kStateLevels = 8;
using StateKeys = std::array<std::string, kStateLevels>;

StateKeys MakeStateKeys(const JobRecord& job, int group, int64_t queue, int64_t own_pending);

class WaitHistory {
 public:
  // A job submitted in this state has started. `weight`: 1 / jobs of its burst.
  void Started(const StateKeys& state, double wait_seconds, double weight);

  // Zero wait if nothing is known.
  WaitDistribution LikeStates(const StateKeys& state) const;
  WaitDistribution InPartition(const StateKeys& state) const;

 private:
  WaitDistribution From(const StateKeys& state, size_t level) const;

  std::unordered_map<std::string, std::deque<WeightedWait>> last_;
};

}  // namespace gpuadvise
