#include "daemon/state/experiment_log.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <utility>

namespace gpuadvise::daemon {
namespace {

constexpr int64_t kSubmitSlackSeconds = 300;  // between the client's clock and Slurm's

tl::unexpected<Error> NotYours(int64_t job_id) {
  return Fail(
      ErrorCode::kNotFound,
      fmt::format("no job {} of yours is known; it may be too old, or another user's", job_id));
}

// Whether the record is of this submission, and not of a job that had the same number before, or
// of somebody else's.
bool IsOf(const JobRecord& record, const Experiment& experiment) {
  return !experiment.user.empty() && record.user == experiment.user &&
         record.submit >= experiment.submitted_at - kSubmitSlackSeconds;
}

// Whether `outcome` was on its way while the one that is known came.
bool IsOvertaken(const Outcome& outcome, const std::optional<Outcome>& known) {
  if (!known) return false;
  const int64_t began = outcome.attempts.back().began;
  const int64_t before = known->attempts.back().began;
  return began < before || (began == before && outcome.running && !known->running);
}

// Whether that was news.
bool TakeTimes(const JobRecord& record, JobTimes& times) {
  JobTimes seen = TimesOf(record);
  if (seen.state.empty()) seen.state = times.state;
  if (seen.gpu.empty() && seen.gpus == times.gpus) seen.gpu = times.gpu;
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
  std::set<std::string> families;
  for (Experiment& experiment : experiments) {
    families.insert(experiment.family);
    Put(std::move(experiment));
  }
  for (const std::string& family : families) Learn(family);
}

void ExperimentLog::AddSubmitted(Experiment experiment) {
  const std::lock_guard lock(mutex_);
  Write(experiment);
  Put(std::move(experiment));
}

Result<void> ExperimentLog::Report(Outcome outcome, int64_t uid,
                                   std::optional<Experiment> otherwise) {
  const std::lock_guard lock(mutex_);
  const int64_t id = outcome.job_id;
  if (Newest(id, uid) == nullptr && otherwise && otherwise->uid == uid) Put(std::move(*otherwise));
  Experiment* experiment = Newest(id, uid);
  if (experiment == nullptr) return NotYours(id);
  if (IsOvertaken(outcome, experiment->outcome)) return {};
  const bool ended = !outcome.running;
  experiment->outcome = std::move(outcome);
  if (ended) {
    Write(*experiment);
    Learn(experiment->family);
  }
  return {};
}

std::optional<Experiment> ExperimentLog::Kept(int64_t job_id, int64_t uid) const {
  const std::lock_guard lock(mutex_);
  const auto submitted = newest_.find({job_id, uid});
  if (submitted == newest_.end()) return std::nullopt;
  const auto found = kept_.find({submitted->second, job_id, uid});
  return found == kept_.end() ? std::nullopt : std::optional(found->second);
}

bool ExperimentLog::Knows(int64_t job_id, int64_t uid) const {
  const std::lock_guard lock(mutex_);
  return newest_.count({job_id, uid}) > 0;
}

void ExperimentLog::OnJobsChanged(const std::vector<PastJob>& jobs) {
  const std::lock_guard lock(mutex_);
  std::set<std::string> families;
  for (const PastJob& job : jobs) {
    const auto first = newest_.lower_bound({job.record.id, INT64_MIN});
    for (auto it = first; it != newest_.end() && it->first.first == job.record.id; ++it) {
      Experiment* experiment = Newest(it->first.first, it->first.second);
      if (experiment == nullptr || !IsOf(job.record, *experiment)) continue;
      if (!TakeTimes(job.record, experiment->times)) continue;
      Write(*experiment);
      if (experiment->outcome && experiment->times.end) families.insert(experiment->family);
    }
  }
  for (const std::string& family : families) Learn(family);
}

void ExperimentLog::CatchUp() {
  constexpr size_t kMostLookedFor = 500;
  std::vector<Experiment> open;
  {
    const std::lock_guard lock(mutex_);
    for (auto it = kept_.rbegin(); it != kept_.rend() && open.size() < kMostLookedFor; ++it) {
      if (!it->second.times.end) open.push_back(it->second);
    }
  }
  CompleteTimes(open);
}

std::vector<Experiment> ExperimentLog::NewestOfUser(int64_t uid, size_t limit) {
  std::vector<Experiment> own;
  {
    const std::lock_guard lock(mutex_);
    const auto keys = of_user_.find(uid);
    if (keys == of_user_.end()) return own;
    for (auto it = keys->second.rbegin(); it != keys->second.rend() && own.size() < limit; ++it) {
      own.push_back(kept_.at(*it));
    }
  }
  CompleteTimes(own);
  return own;
}

std::optional<Experiment> ExperimentLog::Find(int64_t job_id, int64_t uid) {
  std::vector<Experiment> one;
  {
    const std::lock_guard lock(mutex_);
    const Experiment* experiment = Newest(job_id, uid);
    if (experiment == nullptr) return std::nullopt;
    one.push_back(*experiment);
  }
  CompleteTimes(one);
  return std::move(one.front());
}

std::shared_ptr<const LearnedRuns> ExperimentLog::learned() const {
  const std::lock_guard lock(learned_mutex_);
  return learned_;
}

Experiment* ExperimentLog::Newest(int64_t job_id, int64_t uid) {
  const auto submitted = newest_.find({job_id, uid});
  if (submitted == newest_.end()) return nullptr;
  const auto found = kept_.find({submitted->second, job_id, uid});
  return found == kept_.end() ? nullptr : &found->second;
}

void ExperimentLog::Put(Experiment experiment) {
  const Key key{experiment.submitted_at, experiment.job_id, experiment.uid};
  UnixSeconds& newest = newest_[{experiment.job_id, experiment.uid}];
  newest = std::max(newest, experiment.submitted_at);
  std::set<Key>& own = of_user_[experiment.uid];
  own.insert(key);
  if (!experiment.family.empty()) of_family_[experiment.family].insert(key);
  kept_.insert_or_assign(key, std::move(experiment));
  if (own.size() > kMostOfOne) Forget(Key(*own.begin()));
  if (kept_.size() > kMost) Forget(Key(kept_.begin()->first));
}

void ExperimentLog::Forget(const Key& key) {
  const auto found = kept_.find(key);
  if (found == kept_.end()) return;
  const Experiment& experiment = found->second;
  const Owned owned{experiment.job_id, experiment.uid};
  if (const auto newest = newest_.find(owned);
      newest != newest_.end() && newest->second == experiment.submitted_at) {
    newest_.erase(newest);
  }
  if (std::set<Key>& own = of_user_[experiment.uid]; own.erase(key) > 0 && own.empty()) {
    of_user_.erase(experiment.uid);
  }
  if (const auto family = of_family_.find(experiment.family); family != of_family_.end()) {
    family->second.erase(key);
    if (family->second.empty()) of_family_.erase(family);
  }
  kept_.erase(found);
}

void ExperimentLog::Write(const Experiment& experiment) {
  history_.Put(KeptExperiment{experiment.job_id, experiment.uid, experiment.submitted_at,
                              ToText(experiment)});
}

void ExperimentLog::Learn(const std::string& family) {
  const auto keys = of_family_.find(family);
  if (keys == of_family_.end()) return;
  std::vector<const Experiment*> all;
  for (const Key& key : keys->second) {
    const Experiment& experiment = kept_.at(key);
    if (experiment.outcome && !experiment.outcome->running) all.push_back(&experiment);
  }
  auto learned = std::make_shared<const LearnedRuns>(learned_->With(family, all));
  const std::lock_guard lock(learned_mutex_);
  learned_ = std::move(learned);
}

// Jobs whose end nobody saw: accounting may have told the history.
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
  OnJobsChanged(found);
}

}  // namespace gpuadvise::daemon
