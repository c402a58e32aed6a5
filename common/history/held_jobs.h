// Detects pending jobs held by something that no table shows: they could have started long ago but
// did not.
//
// Takes, for each snapshot, the pending jobs that the scheduler could start at once, and sums the
// time that each is passed over. After kHeldAfterSeconds a job counts as held until it leaves the
// queue. Held jobs neither block others nor get reservations. Causal; not thread-safe.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "common/slurm/snapshot.h"

namespace gpuadvise {

// Backfill considers every job within minutes; a longer delay has another cause.
inline constexpr int64_t kHeldAfterSeconds = 600;

class HeldJobs {
 public:
  // `startable`: ids of the pending jobs that nothing visible prevents from starting at `now`.
  // Backward time adds nothing.
  void Seen(const std::vector<int64_t>& startable, UnixSeconds now);

  void Left(int64_t job_id) { passed_over_.erase(job_id); }

  bool IsHeld(int64_t job_id) const;

 private:
  struct PassedOver {
    int64_t seconds = 0;
    UnixSeconds since = 0;  // last time seen startable
    uint64_t round = 0;
  };
  std::unordered_map<int64_t, PassedOver> passed_over_;
  uint64_t round_ = 0;
};

}  // namespace gpuadvise
