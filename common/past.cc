#include "common/past.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace gpuadvise {
namespace {

/// Jobs that are past their p90 are looked for so often.
constexpr int64_t kAdvanceSeconds = 30;

enum class Step { kLeaves, kStarts, kArrives, kStartsAtOnce, kEndsAtOnce };

/// What happened to one job, and when.
struct Moment {
  UnixSeconds time = 0;
  Step step = Step::kArrives;
  size_t job = 0;
};

std::vector<Moment> MomentsOf(const std::vector<PastJob>& jobs, UnixSeconds now) {
  std::vector<Moment> moments;
  for (size_t i = 0; i < jobs.size(); ++i) {
    const JobRecord& record = jobs[i].record;
    if (jobs[i].lost) continue;
    moments.push_back({record.eligible, Step::kArrives, i});
    if (record.start && *record.start <= now) {
      const bool at_once = *record.start <= record.eligible;
      moments.push_back({std::max(*record.start, record.eligible),
                         at_once ? Step::kStartsAtOnce : Step::kStarts, i});
    }
    if (record.end && *record.end <= now) {
      const UnixSeconds from = std::max(record.eligible, record.start.value_or(0));
      const bool at_once = *record.end <= from;
      moments.push_back(
          {std::max(*record.end, from), at_once ? Step::kEndsAtOnce : Step::kLeaves, i});
    }
  }
  std::sort(moments.begin(), moments.end(), [](const Moment& a, const Moment& b) {
    return std::tie(a.time, a.step, a.job) < std::tie(b.time, b.step, b.job);
  });
  return moments;
}

}  // namespace

void Past::Submitted(PastJob job) {
  if (open_.contains(job.record.id)) Vanished(job.record.id, job.record.submit);
  if (job.lesson) {
    waits.Submitted(job.record, job.lesson);
  } else {
    waits.Submitted(job.record);
  }
  if (job.submission) arrivals.Arrived(*job.submission, job.record.eligible);
  if (job.said) scores.Said(job.record, *job.said);
  const int64_t id = job.record.id;
  open_.insert_or_assign(id, std::move(job));
}

void Past::Submitted(const JobRecord& job) {
  PastJob one;
  one.record = job;
  Submitted(std::move(one));
}

void Past::SlurmSaid(int64_t job_id, UnixSeconds start) {
  const auto job = open_.find(job_id);
  if (job == open_.end() || job->second.slurm_said || job->second.record.start) return;
  job->second.slurm_said = start;
  scores.SlurmSaid(job_id, start);
}

void Past::Started(int64_t job_id, UnixSeconds at) {
  held.Left(job_id);
  waits.Started(job_id, at);
  scores.Started(job_id, at);
  if (const auto job = open_.find(job_id); job != open_.end()) job->second.record.start = at;
}

void Past::Ended(int64_t job_id, UnixSeconds at) {
  held.Left(job_id);
  waits.Ended(job_id, at);
  const auto job = open_.find(job_id);
  if (job == open_.end()) return;
  JobRecord& record = job->second.record;
  record.end = at;
  if (record.start) run_times.Ended(record);
  open_.erase(job);
}

void Past::Vanished(int64_t job_id, UnixSeconds at) {
  held.Left(job_id);
  waits.Vanished(job_id, at);
  scores.Left(job_id);
  open_.erase(job_id);
}

const PastJob* Past::Find(int64_t job_id) const {
  const auto job = open_.find(job_id);
  return job == open_.end() ? nullptr : &job->second;
}

Past PastOf(std::vector<PastJob> jobs, UnixSeconds now) {
  Past past;
  past.waits.Pause();
  UnixSeconds advanced = 0;
  for (const Moment& moment : MomentsOf(jobs, now)) {
    const PastJob& job = jobs[moment.job];
    const int64_t id = job.record.id;
    if (moment.time - advanced >= kAdvanceSeconds) past.Advance(advanced = moment.time);
    switch (moment.step) {
      case Step::kArrives: {
        PastJob fresh = job;
        fresh.record.start.reset();
        fresh.record.end.reset();
        fresh.slurm_said.reset();
        past.Submitted(std::move(fresh));
        if (job.slurm_said) past.SlurmSaid(id, *job.slurm_said);
        break;
      }
      case Step::kStarts:
      case Step::kStartsAtOnce:
        past.Started(id, *job.record.start);
        break;
      case Step::kLeaves:
      case Step::kEndsAtOnce:
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
