#include "common/history/forecast_history.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace gpuadvise {
namespace {

// Interval for finding jobs past their p90.
constexpr int64_t kAdvanceSeconds = 30;

enum class EventKind { kLeaves, kStarts, kArrives, kStartsAtOnce, kEndsAtOnce };

struct PastEvent {
  UnixSeconds time = 0;
  EventKind step = EventKind::kArrives;
  size_t job = 0;
};

std::vector<PastEvent> PastEvents(const std::vector<PastJob>& jobs, UnixSeconds now) {
  std::vector<PastEvent> moments;
  for (size_t i = 0; i < jobs.size(); ++i) {
    const JobRecord& record = jobs[i].record;
    if (jobs[i].lost) continue;
    moments.push_back({record.eligible, EventKind::kArrives, i});
    if (record.start && *record.start <= now) {
      const bool at_once = *record.start <= record.eligible;
      moments.push_back({std::max(*record.start, record.eligible),
                         at_once ? EventKind::kStartsAtOnce : EventKind::kStarts, i});
    }
    if (record.end && *record.end <= now) {
      const UnixSeconds from = std::max(record.eligible, record.start.value_or(0));
      const bool at_once = *record.end <= from;
      moments.push_back(
          {std::max(*record.end, from), at_once ? EventKind::kEndsAtOnce : EventKind::kLeaves, i});
    }
  }
  std::sort(moments.begin(), moments.end(), [](const PastEvent& a, const PastEvent& b) {
    return std::tie(a.time, a.step, a.job) < std::tie(b.time, b.step, b.job);
  });
  return moments;
}

}  // namespace

void ForecastHistory::Submitted(PastJob job) {
  if (open_.contains(job.record.id)) Vanished(job.record.id, job.record.submit);
  if (job.forecast_record) {
    waits.Submitted(job.record, job.forecast_record);
  } else {
    waits.Submitted(job.record);
  }
  if (job.submission) arrivals.Arrived(*job.submission, job.record.eligible);
  if (job.said) scores.Said(job.record, *job.said);
  const int64_t id = job.record.id;
  open_.insert_or_assign(id, std::move(job));
}

void ForecastHistory::Submitted(const JobRecord& job) {
  PastJob one;
  one.record = job;
  Submitted(std::move(one));
}

void ForecastHistory::SlurmSaid(int64_t job_id, UnixSeconds start) {
  const auto job = open_.find(job_id);
  if (job == open_.end() || job->second.slurm_said || job->second.record.start) return;
  job->second.slurm_said = start;
  scores.SlurmSaid(job_id, start);
}

void ForecastHistory::Started(int64_t job_id, UnixSeconds at) {
  held.Left(job_id);
  waits.Started(job_id, at);
  scores.Started(job_id, at);
  if (const auto job = open_.find(job_id); job != open_.end()) job->second.record.start = at;
}

void ForecastHistory::Ended(int64_t job_id, UnixSeconds at) {
  held.Left(job_id);
  waits.Ended(job_id, at);
  const auto job = open_.find(job_id);
  if (job == open_.end()) return;
  JobRecord& record = job->second.record;
  record.end = at;
  if (record.start) run_times.Ended(record);
  Leave(std::move(record), at);
  open_.erase(job);
}

void ForecastHistory::Vanished(int64_t job_id, UnixSeconds at) {
  held.Left(job_id);
  waits.Vanished(job_id, at);
  scores.Left(job_id);
  const auto job = open_.find(job_id);
  if (job == open_.end()) return;
  Leave(std::move(job->second.record), at);
  open_.erase(job);
}

void ForecastHistory::Leave(JobRecord job, UnixSeconds at) {
  job.end = at;
  left_.push_back(std::move(job));
  if (left_.size() > kLeftKept) left_.pop_front();
}

const PastJob* ForecastHistory::Find(int64_t job_id) const {
  const auto job = open_.find(job_id);
  return job == open_.end() ? nullptr : &job->second;
}

ForecastHistory BuildHistory(std::vector<PastJob> jobs, UnixSeconds now) {
  ForecastHistory past;
  past.waits.Pause();
  UnixSeconds advanced = 0;
  for (const PastEvent& moment : PastEvents(jobs, now)) {
    const PastJob& job = jobs[moment.job];
    const int64_t id = job.record.id;
    if (moment.time - advanced >= kAdvanceSeconds) past.Advance(advanced = moment.time);
    switch (moment.step) {
      case EventKind::kArrives: {
        PastJob fresh = job;
        fresh.record.start.reset();
        fresh.record.end.reset();
        fresh.slurm_said.reset();
        past.Submitted(std::move(fresh));
        if (job.slurm_said) past.SlurmSaid(id, *job.slurm_said);
        break;
      }
      case EventKind::kStarts:
      case EventKind::kStartsAtOnce:
        past.Started(id, *job.record.start);
        break;
      case EventKind::kLeaves:
      case EventKind::kEndsAtOnce:
        if (job.record.start) {
          past.Ended(id, *job.record.end);
        } else {
          past.Vanished(id, *job.record.end);
        }
    }
  }
  past.waits.Resume(now);
  return past;
}

}  // namespace gpuadvise
