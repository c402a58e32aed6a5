#include "common/scheduler/followed_waits.h"

#include <algorithm>
#include <cmath>

namespace gpuadvise {
namespace {

constexpr int64_t kLongestFollowed = 2 * 86'400;

}  // namespace

FollowedWaits::FollowedWaits(int32_t own_user)
    : own_user_(own_user), window_(kNever), until_(kLongestFollowed) {}

FollowedWaits::FollowedWaits(int32_t own_user, int64_t window)
    : own_user_(own_user),
      window_(std::clamp<int64_t>(window, 1, kLongestFollowed / 2)),
      until_(2 * window_) {}

void FollowedWaits::Restart(size_t waiting) {
  jobs_.assign(waiting, {});
  waiting_ = waiting;
  left_ = 0;
}

void FollowedWaits::Follow(Followed& place, const PendingJob& job, int64_t since) {
  place = {since, -1, job.user != own_user_};
  if (place.counts) ++left_;
}

void FollowedWaits::Add(size_t index, const PendingJob& job) { Follow(jobs_[index], job, 0); }

int32_t FollowedWaits::Arrive(const PendingJob& job, int64_t now) {
  if (now > window_) return -1;
  Follow(jobs_.emplace_back(), job, now);
  return static_cast<int32_t>(jobs_.size() - waiting_) - 1;
}

void FollowedWaits::RequestStarts(int64_t now, double run_seconds) {
  if (window_ < kNever) return;
  window_ = std::min<int64_t>(now + std::llround(run_seconds), kLongestFollowed / 2);
  until_ = 2 * window_;
}

void FollowedWaits::Starts(const Waiting& waiting, int64_t now) {
  if ((waiting.index < 0 && waiting.arrival < 0) || waiting.requeued) return;
  Followed& job = jobs_[waiting.index >= 0 ? static_cast<size_t>(waiting.index)
                                           : waiting_ + static_cast<size_t>(waiting.arrival)];
  job.start = now;
  if (job.counts) --left_;
}

std::vector<int64_t> FollowedWaits::Waits() const {
  std::vector<int64_t> waits;
  waits.reserve(jobs_.size());
  for (const Followed& job : jobs_) {
    const int64_t start = job.start >= 0 ? std::min(job.start, until_) : until_;
    waits.push_back(job.counts ? std::max<int64_t>(start - job.since, 0) : 0);
  }
  return waits;
}

}  // namespace gpuadvise
