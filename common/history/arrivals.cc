#include "common/history/arrivals.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>
#include <utility>

#include "common/base/job_random.h"
#include "common/base/unix_time.h"

namespace gpuadvise {
namespace {

constexpr uint64_t kStream = 0x6172726976616c73;  // separate random stream

// An answer is valid until this many more jobs, or this share, have ended: early jobs carry much
// information.
constexpr int64_t kHoldsForJobs = 10;
constexpr int64_t kHoldsForShare = 50;  // 1 in 50

// Whether two submissions differ only in time.
bool AskTheSame(const Arrival& known, const Job& job, UnixSeconds at) {
  if (known.job.user != job.user || !(known.job.request == job.request)) return false;
  const bool both_held = (known.job.priority == 0) == (job.priority == 0);
  const bool both_eligible =
      known.job.eligible_time.value_or(0) <= known.at && job.eligible_time.value_or(0) <= at;
  if (!both_held || !both_eligible) return false;
  Job same = job;
  same.id = known.job.id;
  same.priority = known.job.priority;
  same.submit_time = known.job.submit_time;
  same.eligible_time = known.job.eligible_time;
  return same == known.job;
}

}  // namespace

JobRecord Resubmitted(const Arrival& arrival) {
  JobRecord record = RecordOf(arrival.job);
  record.id = 0;
  record.array_job_id = 0;
  record.submit = arrival.at + 2 * kWatchedSeconds;  // in no burst with past jobs
  return record;
}

// Searches backwards: the last one of its kind is usually near.
int64_t Arrivals::KindOf(const Job& job, UnixSeconds at) const {
  const auto same = std::find_if(recent_.rbegin(), recent_.rend(),
                                 [&](const Arrival& known) { return AskTheSame(known, job, at); });
  return same == recent_.rend() ? kinds_ : same->kind;
}

void Arrivals::Arrived(Job job, UnixSeconds at) {
  if (recent_.empty()) since_ = at;
  if (!recent_.empty()) at = std::max(at, recent_.back().at);  // clock set back
  const int64_t kind = KindOf(job, at);
  kinds_ = std::max(kinds_, kind + 1);
  recent_.push_back({at, std::move(job), kind});
  while (recent_.size() > kKeptArrivals || recent_.front().at < at - kWatchedSeconds) {
    since_ = recent_.front().at;
    recent_.pop_front();
  }
}

void Arrivals::AskRunTimes(const RunTimeHistory& run_times) {
  GeneralRunTimes general;
  const int64_t jobs = run_times.jobs();
  for (const Arrival& arrival : recent_) {
    const auto [known, added] = answers_.try_emplace(arrival.kind);
    Answer& answer = known->second;
    const int64_t holds = std::min(kHoldsForJobs, answer.jobs / kHoldsForShare);
    if (!added && jobs - answer.jobs <= holds) continue;
    answer.run_time =
        std::make_shared<const RunTimeDistribution>(run_times.Of(Resubmitted(arrival), general));
    answer.jobs = jobs;
  }
  if (answers_.size() <= 2 * kKeptArrivals) return;
  std::unordered_set<int64_t> kept;
  for (const Arrival& arrival : recent_) kept.insert(arrival.kind);
  std::erase_if(answers_, [&](const auto& each) { return !kept.contains(each.first); });
}

std::shared_ptr<const RunTimeDistribution> Arrivals::RunTimeOf(int64_t kind) const {
  const auto known = answers_.find(kind);
  return known == answers_.end() ? nullptr : known->second.run_time;
}

int64_t Arrivals::WatchedFor(UnixSeconds now) const {
  return recent_.empty() ? 0 : std::clamp<int64_t>(now - since_, 0, kWatchedSeconds);
}

int64_t PastHourFor(int64_t hour, int64_t watched_seconds, uint64_t seed, uint64_t sample) {
  if (watched_seconds < kHourSeconds) return 0;
  const double u = DrawUniform(seed ^ kStream, sample, static_cast<uint64_t>(hour));
  if (watched_seconds < kDaySeconds) {
    return kHourSeconds + std::llround(u * static_cast<double>(watched_seconds - kHourSeconds));
  }
  const int64_t today = kDaySeconds - hour % 24 * kHourSeconds;
  const int64_t days = (watched_seconds - today) / kDaySeconds;
  return today + kDaySeconds * static_cast<int64_t>(u * static_cast<double>(days + 1));
}

}  // namespace gpuadvise
