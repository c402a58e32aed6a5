// Fair share in one simulated sample: who uses what, and how far his priority has changed since.
//
// Times are seconds from the snapshot. Not thread-safe; one per sample.
#pragma once

#include <cstdint>
#include <vector>

#include "common/scheduler/queue_model.h"

namespace gpuadvise {

class SimulatedShares {
 public:
  // REQUIRES: `queue` outlives it.
  explicit SimulatedShares(const QueueModel& queue);

  // Prepares for another sample.
  void Restart();

  // A job of an association (-1: none) starts or stops to use `billing` a second.
  void Add(int32_t leaf, double billing);

  // When slurmctld computes priorities anew. Further ahead it is simulated less often than that.
  int64_t Next() const { return next_; }

  // Computes the factors at `now`; whether any priority has changed. REQUIRES: not before the last.
  bool Update(int64_t now);

  // Points of priority that an association has gained since the snapshot.
  int64_t Gained(int32_t leaf) const {
    return leaf < 0 || gained_.empty() ? 0 : gained_[static_cast<size_t>(leaf)];
  }

 private:
  const FairShareTree& tree_;
  const int64_t period_;
  const double weight_;
  const double half_life_;        // seconds; 0: usage does not decay
  std::vector<double> at_first_;  // factors of the snapshot
  int64_t now_ = 0;
  int64_t next_ = 0;
  double decayed_ = 1;         // since the snapshot
  std::vector<double> usage_;  // by leaf
  std::vector<double> rates_;  // by leaf
  std::vector<double> factors_;
  std::vector<int64_t> gained_;  // by leaf
};

}  // namespace gpuadvise
