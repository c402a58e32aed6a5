#include "common/past.h"

namespace gpuadvise {

void Past::Submitted(const JobRecord& job) {
  waits.Submitted(job);
  known_[job.id] = job;
}

void Past::Submitted(const JobRecord& job, const WaitForecast& forecast) {
  waits.Submitted(job, forecast);
  known_[job.id] = job;
}

void Past::Started(int64_t job_id, UnixSeconds at) {
  held.Left(job_id);
  waits.Started(job_id, at);
  if (const auto job = known_.find(job_id); job != known_.end()) job->second.start = at;
}

void Past::Ended(int64_t job_id, UnixSeconds at) {
  held.Left(job_id);
  waits.Ended(job_id, at);
  const auto job = known_.find(job_id);
  if (job == known_.end()) return;
  job->second.end = at;
  if (job->second.start) run_times.Ended(job->second);
  known_.erase(job);
}

void Past::Vanished(int64_t job_id, UnixSeconds at) {
  held.Left(job_id);
  waits.Vanished(job_id, at);
  known_.erase(job_id);
}

}  // namespace gpuadvise
