#include "daemon/state/usage_book.h"

#include <unordered_map>
#include <utility>

namespace gpuadvise::daemon {
namespace {

constexpr const char* kWatchedSince = "usage_watched_since";  // a note of the history

}  // namespace

void UsageBook::NoteWatching(UnixSeconds now) {
  {
    const std::lock_guard turn(turn_);
    const std::unique_lock lock(mutex_);
    if (usage_.watched_since()) return;
    usage_.WatchedSince(now);
  }
  history_.Note(kWatchedSince, now);
}

void UsageBook::OnJobsChanged(const std::vector<PastJob>& jobs, const Snapshot& snapshot) {
  std::unordered_map<int64_t, UnixSeconds> shown;
  shown.reserve(snapshot.jobs.size());
  for (const Job& job : snapshot.jobs) shown[job.id] = job.submit_time.value_or(0);
  NoteWatching(snapshot.taken_at);
  const std::lock_guard turn(turn_);
  const std::unique_lock lock(mutex_);
  usage_.Advance(snapshot.taken_at);
  for (const PastJob& job : jobs) usage_.Tell(job);
  usage_.KeepOpen(shown);
}

void UsageBook::Restore(const ForecastHistory& past, UnixSeconds now) {
  UsageHistory fresh;
  fresh.Advance(now);
  const bool whole = history_.ForEachUsage([&](const PastJob& job) {
    const JobRecord& record = job.record;
    PastJob told = job;
    if (!record.end && !job.lost) {
      const PastJob* open = past.Find(record.id);
      const bool is_open = (open != nullptr && open->record.submit == record.submit) ||
                           usage_.IsOpen(record.id, record.submit);
      told.lost = !is_open;
    }
    fresh.Tell(told);
  });
  if (!whole) return;
  if (const auto since = history_.Noted(kWatchedSince)) fresh.WatchedSince(*since);
  const std::lock_guard turn(turn_);
  const std::unique_lock lock(mutex_);
  usage_ = std::move(fresh);
}

}  // namespace gpuadvise::daemon
