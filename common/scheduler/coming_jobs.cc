#include "common/scheduler/coming_jobs.h"

#include <algorithm>
#include <utility>

#include "common/base/job_random.h"
#include "common/base/unix_time.h"
#include "common/history/arrivals.h"
#include "common/scheduler/job_duration_draw.h"

namespace gpuadvise {
namespace {

constexpr int64_t kFirstId = int64_t{1} << 48;  // above the ids of existing jobs

constexpr int64_t kHoursAhead = 7 * 24;  // and none after this

}  // namespace

ComingJobs::ComingJobs(const QueueModel& queue, int sample,
                       std::function<bool(const PendingJob&)> is_played, size_t most)
    : queue_(queue),
      sample_(static_cast<uint64_t>(sample)),
      is_simulated_(std::move(is_played)),
      most_(most) {}

int64_t ComingJobs::Next(int64_t now) {
  while (taken_ == coming_.size()) {
    const bool over = hour_ * kHourSeconds > queue_.options().horizon_seconds ||
                      hour_ > kHoursAhead || coming_.size() >= most_;
    if (over || queue_.arriving().empty()) return kNever;
    DrawHour(now);
  }
  return coming_[taken_].time;
}

// Draws the arrivals of one hour: those of a past hour that stands for it.
void ComingJobs::DrawHour(int64_t now) {
  const uint64_t seed = queue_.options().seed;
  const int64_t from = hour_ * kHourSeconds;
  const int64_t began = PastHourFor(hour_++, queue_.watched_seconds(), seed, sample_);
  if (began <= 0) return;
  const std::vector<ArrivingJob>& past = queue_.arriving();
  auto one = std::lower_bound(past.begin(), past.end(), began,
                              [](const ArrivingJob& a, int64_t ago) { return a.ago > ago; });
  std::vector<RunTimeQuestion> questions;
  const size_t first = coming_.size();
  for (; one != past.end() && one->ago > began - kHourSeconds; ++one) {
    if (!is_simulated_(one->job)) continue;
    const int64_t time = std::max(from + began - one->ago, now + 1);
    Rank rank = one->job.rank;
    rank.job_id = kFirstId + static_cast<int64_t>(coming_.size());
    rank.priority = queue_.PriorityOfArrival(rank.priority, time);
    for (int64_t task = 0; task < one->tasks; ++task) {
      questions.push_back({MixBits(static_cast<uint64_t>(rank.job_id + task)), one->job.burst, 0,
                           one->job.run_time.get()});
      coming_.push_back({time, &one->job, rank, 0});
    }
  }
  const std::vector<double> ran = DrawRunTimes(questions, seed, sample_);
  for (size_t i = 0; i < ran.size(); ++i) coming_[first + i].run_seconds = ran[i];
}

}  // namespace gpuadvise
