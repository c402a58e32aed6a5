#include "common/forecast/job_ends.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "common/scheduler/queue_model.h"

namespace gpuadvise {
namespace {

// Seconds until a share `q` of such running jobs has ended.
int64_t RestOf(const RunningJob& job, double q) {
  if (job.run_time == nullptr) return job.until;
  const double ended = job.elapsed > 0 ? job.run_time->Cdf(job.elapsed) : 0;
  const double end = job.run_time->Quantile(std::min(ended + (1 - ended) * q, 1.0));
  return std::clamp<int64_t>(std::llround(end - job.elapsed), 0, job.until);
}

}  // namespace

JobEnds::JobEnds(const QueueModel& queue, const std::vector<int64_t>& ids)
    : now_(queue.snapshot().taken_at) {
  const std::unordered_set<int64_t> wanted(ids.begin(), ids.end());
  for (const RunningJob& job : queue.running()) {
    if (wanted.contains(job.id)) running_.emplace(job.id, &job);
  }
  for (const PendingJob& job : queue.pending()) {
    if (wanted.contains(job.id)) pending_.emplace(job.id, &job);
  }
}

std::optional<JobEnd> JobEnds::EndOf(int64_t id) const {
  const auto found = running_.find(id);
  if (found == running_.end()) return std::nullopt;
  const int64_t median = RestOf(*found->second, 0.5);
  if (median == kNever) return std::nullopt;
  return JobEnd{now_ + median, now_ + std::max(median, RestOf(*found->second, 0.9))};
}

std::optional<int64_t> JobEnds::RunTimeOf(int64_t id) const {
  const auto found = pending_.find(id);
  if (found == pending_.end()) return std::nullopt;
  const PendingJob& job = *found->second;
  if (job.run_time != nullptr) return std::llround(job.run_time->Quantile(0.5));
  if (job.options.empty() || job.options.front().duration == kNever) return std::nullopt;
  return job.options.front().duration;
}

}  // namespace gpuadvise
