#include "common/usage_history.h"

#include <algorithm>
#include <cassert>
#include <utility>
#include <vector>

namespace gpuadvise {
namespace {

/// No job has more; larger counts are mistakes.
constexpr int64_t kMostGpus = 1'000'000;

}  // namespace

size_t UsageHistory::KeyHash::operator()(const Key& key) const {
  return std::hash<uint64_t>()(static_cast<uint64_t>(key.id) * 0x9E3779B97F4A7C15 ^
                               static_cast<uint64_t>(key.submit));
}

void UsageHistory::Advance(UnixSeconds now) {
  now = std::max<UnixSeconds>(now, 0);
  if (now / kHourSeconds < first_hour_) *this = UsageHistory();
  now_ = std::max(now, now_);
  first_hour_ = std::max<int64_t>(now_ / kHourSeconds - (kUsageHours - 1), 0);
  for (auto& [gpu, use] : types_) use.MoveTo(first_hour_);
}

void UsageHistory::WatchedSince(UnixSeconds since) {
  watched_since_ = std::min(watched_since_.value_or(since), since);
}

HourlyUse& UsageHistory::TypeOf(const std::string& gpu) {
  const bool fits = types_.contains(gpu) || types_.size() + 1 < kUsageTypes;
  return types_.try_emplace(fits ? gpu : kOtherTypes, first_hour_).first->second;
}

bool UsageHistory::IsOpen(int64_t job_id, UnixSeconds submit) const {
  const auto job = jobs_.find({job_id, submit});
  return job != jobs_.end() && !job->second.IsOver();
}

void UsageHistory::Count(const Counted& job, int sign) {
  if (job.lost && !job.start) return;
  const Usage waits = {sign, sign * job.gpus, 0};
  const Usage works = {0, 0, sign * job.gpus};
  job.type->Rise(job.eligible, waits);
  if (const auto waited_until = job.start ? job.start : job.end) {
    job.type->Rise(*waited_until, waits * -1);
  }
  if (!job.start) return;
  job.type->CountWait(job.eligible, WaitClassOf(*job.start - job.eligible), sign);
  if (job.lost) return;
  job.type->Rise(*job.start, works);
  if (job.end) job.type->Rise(*job.end, works * -1);
}

void UsageHistory::Remember(const Key& key, const Counted& job) {
  jobs_.insert_or_assign(key, job);
  if (!job.IsOver()) return;
  over_.emplace_back(key, job.told);
  for (; over_.size() > kRememberedJobs; over_.pop_front()) {
    const auto& [old, told] = over_.front();
    const auto found = jobs_.find(old);
    if (found != jobs_.end() && found->second.told == told) jobs_.erase(found);
  }
}

void UsageHistory::Tell(const PastJob& job) {
  assert(now_ > 0);
  const JobRecord& record = job.record;
  const Key key{record.id, record.submit};
  if (const auto known = jobs_.find(key); known != jobs_.end()) {
    Count(known->second, -1);
    jobs_.erase(known);
  }
  if (record.gpus <= 0) return;
  Counted counted;
  counted.type = &TypeOf(record.gpu);
  counted.gpus = std::min(record.gpus, kMostGpus);
  counted.eligible = std::clamp<UnixSeconds>(record.eligible, 0, now_);
  if (record.start) counted.start = std::clamp(*record.start, counted.eligible, now_);
  const UnixSeconds last = counted.start.value_or(counted.eligible);
  if (record.end) counted.end = std::clamp(*record.end, last, now_);
  counted.lost = job.lost && !record.end;
  counted.told = ++told_;
  Count(counted, 1);
  Remember(key, counted);
  if (counted.end && *counted.end >= first_hour_ * kHourSeconds) WatchedSince(*counted.end);
}

void UsageHistory::KeepOpen(const std::unordered_map<int64_t, UnixSeconds>& shown) {
  const auto is_shown = [&](const Key& key) {
    const auto found = shown.find(key.id);
    if (found == shown.end()) return false;
    return found->second == key.submit || found->second == 0 || key.submit == 0;
  };
  std::vector<std::pair<Key, Counted>> gone;
  for (const auto& [key, job] : jobs_) {
    if (!job.IsOver() && !is_shown(key)) gone.emplace_back(key, job);
  }
  for (auto& [key, job] : gone) {
    Count(job, -1);
    job.lost = true;
    job.told = ++told_;
    Count(job, 1);
    Remember(key, job);
  }
}

}  // namespace gpuadvise
