#include "common/forecast/queue_watch.h"

#include <algorithm>
#include <tuple>

#include "common/scheduler/node_pool.h"
#include "common/slurm/queue_order.h"

namespace gpuadvise {
namespace {

// Order of events at the same second.
constexpr int kEnds = 0;
constexpr int kLeaves = 1;
constexpr int kStarts = 2;
constexpr int kArrives = 3;
constexpr int kStartsAtOnce = 4;

// When it became eligible.
UnixSeconds SubmissionOf(const Job& job, UnixSeconds now) {
  const UnixSeconds submit = job.submit_time.value_or(now);
  return std::min(std::max(submit, job.eligible_time.value_or(submit)), now);
}

bool Competes(const Job& job, UnixSeconds now) {
  return HoldsNodes(job) || (job.dependency.empty() && EligibleFrom(job, now) == 0);
}

// Start of a job that holds nodes.
UnixSeconds StartOf(const Job& job, UnixSeconds now) {
  const UnixSeconds submit = std::min(job.submit_time.value_or(now), now);
  return std::clamp(job.start_time.value_or(now), submit, now);
}

// Whether the job runs: a completing one does not.
bool Runs(const Job& job) { return HoldsNodes(job) && job.state != JobState::kCompleting; }

bool IsSameJob(const Job& before, const Job& after) {
  return before.submit_time == after.submit_time || !before.submit_time || !after.submit_time;
}

}  // namespace

void QueueWatch::Appear(Known& known, const Job& job, UnixSeconds now,
                        std::vector<Ordered>& events) const {
  known.told = Competes(job, now);
  if (!known.told) return;
  UnixSeconds submitted = SubmissionOf(job, now);
  if (HoldsNodes(job)) submitted = std::min(submitted, StartOf(job, now));
  events.push_back({{JobEventKind::kSubmitted, submitted, job}, kArrives});
  if (!HoldsNodes(job)) return;
  events.push_back({{JobEventKind::kStarted, StartOf(job, now), job}, kStartsAtOnce});
  if (!Runs(job)) events.push_back({{JobEventKind::kEnded, now, job}, kStartsAtOnce + 1});
}

void QueueWatch::Change(Known& known, const Job& after, UnixSeconds now,
                        std::vector<Ordered>& events) const {
  const Job& before = known.job;
  if (!known.told) {
    Appear(known, after, now, events);
  } else if (!HoldsNodes(before) && HoldsNodes(after)) {
    events.push_back({{JobEventKind::kStarted, StartOf(after, now), after}, kStarts});
    if (!Runs(after)) events.push_back({{JobEventKind::kEnded, now, after}, kStarts});
  } else if (Runs(before) && after.state == JobState::kCompleting) {
    events.push_back({{JobEventKind::kEnded, now, before}, kEnds});
  } else if (HoldsNodes(before) && !HoldsNodes(after)) {  // requeued
    events.push_back({{JobEventKind::kVanished, now, before}, kLeaves});
    known.told = Competes(after, now);
    if (known.told) events.push_back({{JobEventKind::kSubmitted, now, after}, kArrives});
  }
}

void QueueWatch::Leave(const Known& known, UnixSeconds by, std::vector<Ordered>& events) const {
  const Job& job = known.job;
  if (!known.told || job.state == JobState::kCompleting) return;  // not eligible yet, or ended
  const UnixSeconds last = std::min(last_, by);
  UnixSeconds when = last + (by - last) / 2;
  if (!HoldsNodes(job)) {
    when = std::max(when, SubmissionOf(job, by));
    events.push_back({{JobEventKind::kVanished, when, job}, kLeaves});
    return;
  }
  // Most jobs that reach their limit end at it to the second.
  if (job.end_time && *job.end_time > last && *job.end_time <= by) when = *job.end_time;
  events.push_back({{JobEventKind::kEnded, std::max(when, StartOf(job, by)), job}, kEnds});
}

std::vector<JobEvent> QueueWatch::See(const Snapshot& snapshot) {
  const UnixSeconds now = snapshot.taken_at;
  ++round_;
  std::vector<Ordered> events;
  for (const Job& job : snapshot.jobs) {
    const auto [found, added] = known_.try_emplace(job.id);
    Known& known = found->second;
    if (added) {
      Appear(known, job, now, events);
    } else if (!IsSameJob(known.job, job)) {
      Leave(known, SubmissionOf(job, now), events);  // before its id was reused
      Appear(known, job, now, events);
    } else {
      Change(known, job, now, events);
    }
    known.job = job;
    known.round = round_;
  }
  for (auto one = known_.begin(); one != known_.end();) {
    if (one->second.round == round_) {
      ++one;
      continue;
    }
    Leave(one->second, now, events);
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
