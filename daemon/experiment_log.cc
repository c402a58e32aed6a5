#include "daemon/experiment_log.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <utility>

namespace gpuadvise {
namespace {

constexpr int64_t kSubmitSlackSeconds = 300;  // between the client's clock and Slurm's

tl::unexpected<Error> NotYours(int64_t job_id) {
  return Fail(
      ErrorCode::kNotFound,
      fmt::format("no job {} of yours is known; it may be too old, or another user's", job_id));
}

/// Whether the record is of this submission, and not of a job that had the same number before.
bool IsOf(const JobRecord& record, const Experiment& experiment) {
  return record.submit >= experiment.submitted_at - kSubmitSlackSeconds;
}

/// Whether that was news.
bool TakeTimes(const JobRecord& record, JobTimes& times) {
  JobTimes seen{record.eligible, record.start, record.end, record.state};
  if (seen.state.empty()) seen.state = times.state;
  if (seen.eligible == 0) seen.eligible.reset();
  if (seen == times) return false;
  times = seen;
  return true;
}

}  // namespace

void ExperimentLog::Load() {
  int64_t unreadable = 0;
  std::vector<Experiment> experiments;
  for (const std::string& text : history_.LoadExperiments(kMost)) {
    Result<Experiment> experiment = ExperimentFromText(text);
    if (experiment) {
      experiments.push_back(std::move(*experiment));
    } else {
      ++unreadable;
    }
  }
  if (unreadable > 0) spdlog::warn("{} rows of the experiment log cannot be read", unreadable);
  const std::lock_guard lock(mutex_);
  for (Experiment& experiment : experiments) Put(std::move(experiment));
  Learn();
}

void ExperimentLog::Submitted(Experiment experiment) {
  const std::lock_guard lock(mutex_);
  Write(experiment);
  Put(std::move(experiment));
}

Result<void> ExperimentLog::Report(Outcome outcome, int64_t uid,
                                   std::optional<Experiment> otherwise) {
  const std::lock_guard lock(mutex_);
  Experiment* experiment = Newest(outcome.job_id);
  const bool is_newer =
      otherwise && (experiment == nullptr ||
                    otherwise->submitted_at - kSubmitSlackSeconds > experiment->submitted_at);
  if (is_newer) {
    Put(std::move(*otherwise));
    experiment = Newest(outcome.job_id);
  }
  if (experiment == nullptr || experiment->uid != uid) return NotYours(outcome.job_id);
  // One that was on its way while a later one came.
  const bool older =
      experiment->outcome && outcome.attempts.size() < experiment->outcome->attempts.size();
  if (older) return {};
  const bool ended = !outcome.running;
  experiment->outcome = std::move(outcome);
  if (ended) {
    Write(*experiment);
    Learn();
  }
  return {};
}

bool ExperimentLog::Knows(int64_t job_id, int64_t uid) const {
  const std::lock_guard lock(mutex_);
  const auto submitted = newest_.find(job_id);
  if (submitted == newest_.end()) return false;
  const auto found = kept_.find({submitted->second, job_id});
  return found != kept_.end() && found->second.uid == uid;
}

void ExperimentLog::Saw(const std::vector<PastJob>& jobs) {
  const std::lock_guard lock(mutex_);
  if (kept_.empty()) return;
  bool learns = false;
  for (const PastJob& job : jobs) {
    Experiment* experiment = Newest(job.record.id);
    if (experiment == nullptr || !IsOf(job.record, *experiment)) continue;
    if (!TakeTimes(job.record, experiment->times)) continue;
    Write(*experiment);
    learns = learns || (experiment->outcome && experiment->times.end);
  }
  if (learns) Learn();
}

std::vector<Experiment> ExperimentLog::Of(int64_t uid, size_t limit) {
  std::vector<Experiment> own;
  {
    const std::lock_guard lock(mutex_);
    for (auto it = kept_.rbegin(); it != kept_.rend() && own.size() < limit; ++it) {
      if (it->second.uid == uid) own.push_back(it->second);
    }
  }
  CompleteTimes(own);
  return own;
}

std::optional<Experiment> ExperimentLog::Find(int64_t job_id, int64_t uid) {
  std::vector<Experiment> one;
  {
    const std::lock_guard lock(mutex_);
    const Experiment* experiment = Newest(job_id);
    if (experiment == nullptr || experiment->uid != uid) return std::nullopt;
    one.push_back(*experiment);
  }
  CompleteTimes(one);
  return std::move(one.front());
}

std::shared_ptr<const LearnedRuns> ExperimentLog::learned() const {
  const std::lock_guard lock(mutex_);
  return learned_;
}

Experiment* ExperimentLog::Newest(int64_t job_id) {
  const auto submitted = newest_.find(job_id);
  if (submitted == newest_.end()) return nullptr;
  const auto found = kept_.find({submitted->second, job_id});
  return found == kept_.end() ? nullptr : &found->second;
}

void ExperimentLog::Put(Experiment experiment) {
  const auto key = std::pair(experiment.submitted_at, experiment.job_id);
  UnixSeconds& newest = newest_[experiment.job_id];
  newest = std::max(newest, experiment.submitted_at);
  kept_.insert_or_assign(key, std::move(experiment));
  while (kept_.size() > kMost) {
    const auto oldest = kept_.begin();
    const auto of_id = newest_.find(oldest->first.second);
    if (of_id != newest_.end() && of_id->second == oldest->first.first) newest_.erase(of_id);
    kept_.erase(oldest);
  }
}

void ExperimentLog::Write(const Experiment& experiment) {
  history_.Put(KeptExperiment{experiment.job_id, experiment.submitted_at, ToText(experiment)});
}

void ExperimentLog::Learn() {
  std::vector<const Experiment*> all;
  for (const auto& [key, experiment] : kept_) {
    if (experiment.outcome && !experiment.outcome->running) all.push_back(&experiment);
  }
  learned_ = std::make_shared<const LearnedRuns>(all);
}

/// Jobs whose end nobody saw: accounting may have told the history.
void ExperimentLog::CompleteTimes(std::vector<Experiment>& experiments) {
  std::vector<int64_t> open;
  for (const Experiment& experiment : experiments) {
    if (!experiment.times.end || experiment.times.state.empty()) open.push_back(experiment.job_id);
  }
  if (open.empty()) return;
  std::vector<PastJob> found;
  for (JobRecord& record : history_.RecordsOf(open)) {
    for (Experiment& experiment : experiments) {
      const bool same = experiment.job_id == record.id && IsOf(record, experiment);
      if (same && record.end) TakeTimes(record, experiment.times);
    }
    if (record.end) {
      PastJob job;
      job.record = std::move(record);
      found.push_back(std::move(job));
    }
  }
  Saw(found);
}

}  // namespace gpuadvise
