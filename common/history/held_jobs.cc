#include "common/history/held_jobs.h"

#include <algorithm>

namespace gpuadvise {

void HeldJobs::Seen(const std::vector<int64_t>& startable, UnixSeconds now) {
  ++round_;
  for (const int64_t id : startable) {
    PassedOver& job = passed_over_[id];
    // Only consecutive observations prove that it was passed over in between.
    if (job.round + 1 == round_ && job.round != 0) {
      job.seconds += std::max<int64_t>(now - job.since, 0);
    }
    job.since = now;
    job.round = round_;
  }
}

bool HeldJobs::IsHeld(int64_t job_id) const {
  const auto found = passed_over_.find(job_id);
  return found != passed_over_.end() && found->second.seconds >= kHeldAfterSeconds;
}

}  // namespace gpuadvise
