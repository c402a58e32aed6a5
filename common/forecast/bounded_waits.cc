#include "common/forecast/bounded_waits.h"

#include <algorithm>
#include <cmath>

#include "common/base/unix_time.h"

namespace gpuadvise {
namespace {

constexpr double kAtOnceSeconds = kMinuteSeconds;

}  // namespace

double WaitBounds::ShareOfADay(const QueueModel& queue) {
  const double share =
      static_cast<double>(queue.watched_seconds()) / static_cast<double>(kDaySeconds);
  return std::min(share, 1.0);
}

void WaitBounds::AddBefore(const PendingJob& job) {
  for (const LimitUse& use : job.caps) wanted_[static_cast<size_t>(use.cap)] += use.amount;
}

// Whether a usage limit may still be full when the plan has nodes for `job`: it, those running and
// those before it want more than the limit allows.
bool WaitBounds::MayMeetALimit(const PendingJob& job) const {
  return std::any_of(job.caps.begin(), job.caps.end(), [&](const LimitUse& use) {
    const auto cap = static_cast<size_t>(use.cap);
    return wanted_[cap] + use.amount > queue_.limits().most()[cap];
  });
}

// Behind others, with no room free, "at once" is for what some simulated future has: somebody must
// end first, and those before it may take what is freed.
double WaitBounds::EarliestOf(const SimulatedWait& simulated) {
  if (simulated.free_now || simulated.held || simulated.jobs_before == 0) {
    return simulated.earliest_seconds;
  }
  return std::max(simulated.earliest_seconds,
                  std::min(simulated.simulation.points().front().seconds, kAtOnceSeconds));
}

std::vector<int64_t> WaitBounds::Within(const PendingJob& job, const WaitDistribution& wait,
                                        const SimulatedWait& simulated) const {
  std::vector<int64_t> waits = LikelyWaits(wait);
  const double plan = simulated.plan_limits_seconds;
  // Jobs behind this one may come before it once fair share has changed.
  if (share_of_a_day_ < 1 && queue_.fair_shares().empty() && job.after.empty() && !job.held &&
      !MayMeetALimit(job)) {
    for (int64_t& each : waits) {
      const double beyond = static_cast<double>(each) - plan;
      if (beyond > 0) each = std::llround(plan + share_of_a_day_ * beyond);
    }
  }
  const auto earliest = std::llround(EarliestOf(simulated));
  for (int64_t& each : waits) each = std::max<int64_t>(each, earliest);
  return waits;
}

std::vector<int64_t> BoundedWaits(const QueueModel& queue, const PendingJob& job,
                                  const WaitDistribution& wait, const SimulatedWait& simulated) {
  WaitBounds bounds(queue);
  for (const PendingJob& other : queue.pending()) {
    if (job.caps.empty() || !(other.rank < job.rank)) break;
    if (other.id != job.replaces_job || other.id == 0) bounds.AddBefore(other);
  }
  return bounds.Within(job, wait, simulated);
}

}  // namespace gpuadvise
