#include "common/queue_watch.h"

#include <algorithm>
#include <tuple>

#include "common/node_pool.h"

namespace gpuadvise {
namespace {

// Places among events of the same second.
constexpr int kEnds = 0;
constexpr int kLeaves = 1;
constexpr int kStarts = 2;
constexpr int kArrives = 3;
constexpr int kStartsAtOnce = 4;

UnixSeconds SubmissionOf(const Job& job, UnixSeconds now) {
  return std::min(job.submit_time.value_or(now), now);
}

/// When a job that holds nodes began to.
UnixSeconds StartOf(const Job& job, UnixSeconds now) {
  return std::clamp(job.start_time.value_or(now), SubmissionOf(job, now), now);
}

/// Whether the job still runs: not one that ended and whose nodes are being cleaned up.
bool Runs(const Job& job) { return HoldsNodes(job) && job.state != JobState::kCompleting; }

bool IsSameJob(const Job& before, const Job& after) {
  return before.submit_time == after.submit_time || !before.submit_time || !after.submit_time;
}

}  // namespace

void QueueWatch::Appear(const Job& job, UnixSeconds now, std::vector<Ordered>& events) const {
  events.push_back({{JobEventKind::kSubmitted, SubmissionOf(job, now), job}, kArrives});
  if (!HoldsNodes(job)) return;
  events.push_back({{JobEventKind::kStarted, StartOf(job, now), job}, kStartsAtOnce});
  if (!Runs(job)) events.push_back({{JobEventKind::kEnded, now, job}, kStartsAtOnce + 1});
}

void QueueWatch::Change(const Job& before, const Job& after, UnixSeconds now,
                        std::vector<Ordered>& events) const {
  if (!HoldsNodes(before) && HoldsNodes(after)) {
    events.push_back({{JobEventKind::kStarted, StartOf(after, now), after}, kStarts});
    if (!Runs(after)) events.push_back({{JobEventKind::kEnded, now, after}, kStarts});
  } else if (Runs(before) && after.state == JobState::kCompleting) {
    events.push_back({{JobEventKind::kEnded, now, before}, kEnds});
  } else if (HoldsNodes(before) && !HoldsNodes(after)) {  // requeued
    events.push_back({{JobEventKind::kVanished, now, before}, kLeaves});
    events.push_back({{JobEventKind::kSubmitted, now, after}, kArrives});
  }
}

void QueueWatch::Leave(const Job& job, UnixSeconds now, std::vector<Ordered>& events) const {
  if (job.state == JobState::kCompleting) return;  // has ended already
  const UnixSeconds last = std::min(last_, now);
  UnixSeconds when = last + (now - last) / 2;
  if (!HoldsNodes(job)) {
    when = std::max(when, SubmissionOf(job, now));
    events.push_back({{JobEventKind::kVanished, when, job}, kLeaves});
    return;
  }
  // Most who leave at their limit do so to the second.
  if (job.end_time && *job.end_time > last && *job.end_time <= now) when = *job.end_time;
  events.push_back({{JobEventKind::kEnded, std::max(when, StartOf(job, now)), job}, kEnds});
}

std::vector<JobEvent> QueueWatch::See(const Snapshot& snapshot) {
  const UnixSeconds now = snapshot.taken_at;
  ++round_;
  std::vector<Ordered> events;
  for (const Job& job : snapshot.jobs) {
    const auto [found, added] = known_.try_emplace(job.id);
    Known& known = found->second;
    if (added) {
      Appear(job, now, events);
    } else if (!IsSameJob(known.job, job)) {
      Leave(known.job, now, events);
      Appear(job, now, events);
    } else {
      Change(known.job, job, now, events);
    }
    known.job = job;
    known.round = round_;
  }
  for (auto one = known_.begin(); one != known_.end();) {
    if (one->second.round == round_) {
      ++one;
      continue;
    }
    Leave(one->second.job, now, events);
    one = known_.erase(one);
  }
  last_ = now;
  std::stable_sort(events.begin(), events.end(), [](const Ordered& a, const Ordered& b) {
    return std::tuple(a.event.time, a.phase, a.event.job.id) <
           std::tuple(b.event.time, b.phase, b.event.job.id);
  });
  std::vector<JobEvent> ordered;
  ordered.reserve(events.size());
  for (Ordered& one : events) ordered.push_back(std::move(one.event));
  return ordered;
}

}  // namespace gpuadvise
