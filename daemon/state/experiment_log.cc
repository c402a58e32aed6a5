#include "daemon/state/experiment_log.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "daemon/state/submitted_jobs.h"

namespace gpuadvise::daemon {
namespace {

constexpr int64_t kSubmitSlackSeconds = 300;  // between the client's clock and Slurm's

tl::unexpected<Error> NotYours(int64_t job_id) {
  return Fail(
      ErrorCode::kNotFound,
      fmt::format("no job {} of yours is known; it may be too old, or belong to another user",
                  job_id));
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

// ---- what is asked -------------------------------------------------------------------------

void ExperimentLog::Load() {
  int64_t unreadable = 0;
  std::set<std::string> families;
  history_.EachExperiment([&](const KeptExperiment& kept) {
    const Result<Experiment> experiment = ExperimentFromText(kept.text);
    if (!experiment) {
      ++unreadable;
      return;
    }
    const std::lock_guard lock(mutex_);
    const Key key{experiment->submitted_at, experiment->job_id, experiment->uid};
    if (kept_.contains(key)) return;  // what is in memory is newer
    const int64_t bytes = RowFrom(*experiment, kept.seen).bytes();
    const auto own = of_user_.find(experiment->uid);
    const int64_t held = own == of_user_.end() ? 0 : own->second.bytes;
    if (held + bytes > kMaxBytesOfOne || bytes_ + bytes > kMaxBytes) return;
    families.insert(experiment->family);
    Put(*experiment, kept.seen);
  });
  if (unreadable > 0) spdlog::warn("{} rows of the experiment log cannot be read", unreadable);
  const std::lock_guard lock(mutex_);
  for (const std::string& family : families) Learn(family);
}

void ExperimentLog::AddSubmitted(Experiment experiment, bool shown) {
  KeepOnlyWhatCounts(experiment);
  if (shown) Recall(experiment.job_id, experiment.uid);
  const std::lock_guard lock(mutex_);
  if (const Row* same = Newest(experiment.job_id, experiment.uid); same != nullptr) {
    Experiment before = WholeOf(*same);
    if (before.submitted_at >= experiment.submitted_at - kSubmitSlackSeconds) {
      shown = shown || same->seen;
      if (before.advice_id == experiment.advice_id && shown == same->seen) return;
      experiment.submitted_at = before.submitted_at;
      experiment.outcome = std::move(before.outcome);
      experiment.times = before.times;
    }
  }
  Put(experiment, shown);
  Write({experiment.submitted_at, experiment.job_id, experiment.uid});
}

Result<void> ExperimentLog::Report(Outcome outcome, int64_t uid,
                                   std::optional<Experiment> otherwise) {
  const int64_t id = outcome.job_id;
  const bool known = Recall(id, uid);
  const std::lock_guard lock(mutex_);
  if (!known && otherwise && otherwise->uid == uid) Put(*otherwise, true);
  const Row* row = Newest(id, uid);
  if (row == nullptr) return NotYours(id);
  Experiment experiment = WholeOf(*row);
  if (IsOvertaken(outcome, experiment.outcome)) return {};
  const bool ended = !outcome.running;
  experiment.outcome = std::move(outcome);
  const bool seen = row->seen;
  std::string text = ToText(experiment);
  if (text == row->text) return {};  // told twice
  Put(experiment, seen);
  if (!ended) return {};
  Write({experiment.submitted_at, id, uid});
  Learn(experiment.family);
  return {};
}

std::optional<Experiment> ExperimentLog::Kept(int64_t job_id, int64_t uid) const {
  const std::lock_guard lock(mutex_);
  const Row* row = Newest(job_id, uid);
  return row == nullptr ? std::nullopt : std::optional(WholeOf(*row));
}

int64_t ExperimentLog::SweepOf(int64_t job_id, int64_t uid) const {
  const std::lock_guard lock(mutex_);
  const Row* row = Newest(job_id, uid);
  return row == nullptr ? 0 : row->sweep.job_id;
}

std::optional<KnownSweep> ExperimentLog::FindSweep(int64_t sweep, int64_t uid) const {
  const std::lock_guard lock(mutex_);
  const auto keys = of_sweep_.find({sweep, uid});
  if (keys == of_sweep_.end()) return std::nullopt;
  const Key& first = *keys->second.begin();
  const Row& row = kept_.at(first);
  KnownSweep known{sweep, uid, row.user, row.name, std::get<0>(first), {}, 0, 0};
  for (const Key& key : keys->second) {
    const SweepPart& part = kept_.at(key).sweep;
    known.arrays.push_back(std::get<1>(key));
    known.runs = std::max(known.runs, part.runs);
    known.moved += part.moved;
  }
  return known;
}

bool ExperimentLog::Knows(int64_t job_id, int64_t uid) { return Recall(job_id, uid); }

std::vector<Experiment> ExperimentLog::NewestOfUser(int64_t uid, size_t limit) {
  std::vector<Experiment> own;
  {
    const std::lock_guard lock(mutex_);
    const auto keys = of_user_.find(uid);
    if (keys == of_user_.end()) return own;
    for (auto it = keys->second.keys.rbegin(); it != keys->second.keys.rend() && own.size() < limit;
         ++it) {
      own.push_back(WholeOf(kept_.at(*it)));
    }
  }
  CompleteTimes(own);
  return own;
}

std::optional<Experiment> ExperimentLog::Find(int64_t job_id, int64_t uid) {
  Recall(job_id, uid);
  std::optional<Experiment> found = Kept(job_id, uid);
  if (!found) return std::nullopt;
  std::vector<Experiment> one{std::move(*found)};
  CompleteTimes(one);
  return std::move(one.front());
}

std::shared_ptr<const LearnedRuns> ExperimentLog::learned() const {
  const std::lock_guard lock(learned_mutex_);
  return learned_;
}

ExperimentLog::Held ExperimentLog::held() const {
  const std::lock_guard lock(mutex_);
  return {kept_.size(), bytes_};
}

// ---- what Slurm says -----------------------------------------------------------------------

void ExperimentLog::OnSnapshot(const Snapshot& snapshot, UnixSeconds now) {
  std::vector<Key> unknown;
  {
    const std::lock_guard lock(mutex_);
    watching_since_ = std::min(watching_since_.value_or(now), now);
    if (unseen_.empty()) return;
    const Owners owners = OwnersOf(snapshot);
    for (const Key& key : std::set<Key>(unseen_)) {
      const auto& [submitted_at, job_id, uid] = key;
      const auto owner = owners.find(job_id);
      if (owner == owners.end()) {
        const bool gone = ++kept_.at(key).polls_without >= kPollsUntilForgotten;
        const UnixSeconds since = std::max(submitted_at, *watching_since_);
        if (gone && now - since > settle_seconds_) unknown.push_back(key);
      } else if (owner->second == uid) {
        Put(WholeOf(kept_.at(key)), true);
        Write(key);
      } else {
        Drop(key);
      }
    }
  }
  if (!unknown.empty()) DropUnlessRecorded(unknown);
}

void ExperimentLog::DropUnlessRecorded(const std::vector<Key>& keys) {
  std::vector<Experiment> looked_for;
  {
    const std::lock_guard lock(mutex_);
    for (const Key& key : keys) {
      const auto row = kept_.find(key);
      if (row != kept_.end()) looked_for.push_back(LightOf(key, row->second));
    }
  }
  if (!CompleteTimes(looked_for)) return;  // with the next snapshot again
  const std::lock_guard lock(mutex_);
  for (const Key& key : keys) {
    if (unseen_.contains(key)) Drop(key);
  }
}

void ExperimentLog::OnJobsChanged(const std::vector<PastJob>& jobs) {
  const std::lock_guard lock(mutex_);
  std::set<std::string> families;
  for (const PastJob& job : jobs) {
    std::vector<Key> of_id;
    const auto first = newest_.lower_bound({job.record.id, INT64_MIN});
    for (auto it = first; it != newest_.end() && it->first.first == job.record.id; ++it) {
      of_id.push_back({it->second, it->first.first, it->first.second});
    }
    for (const Key& key : of_id) {
      const auto row = kept_.find(key);
      if (row == kept_.end()) continue;
      Experiment light = LightOf(key, row->second);
      if (!IsOf(job.record, light)) continue;
      if (!TakeTimes(job.record, light.times) && row->second.seen) continue;
      Experiment experiment = WholeOf(row->second);
      experiment.times = light.times;
      Put(experiment, true);
      Write(key);
      if (experiment.outcome && experiment.times.end) families.insert(experiment.family);
    }
  }
  for (const std::string& family : families) Learn(family);
}

void ExperimentLog::CatchUp() {
  constexpr size_t kMostLookedFor = 2'000;
  constexpr size_t kMostLookedForOfOne = 100;  // so that nobody's claims hide another's jobs
  std::vector<Experiment> open;
  {
    const std::lock_guard lock(mutex_);
    std::map<int64_t, size_t> of_one;
    for (auto it = kept_.rbegin(); it != kept_.rend() && open.size() < kMostLookedFor; ++it) {
      if (it->second.times.end) continue;
      if (++of_one[std::get<2>(it->first)] > kMostLookedForOfOne) continue;
      open.push_back(LightOf(it->first, it->second));
    }
  }
  CompleteTimes(open);
}

// Jobs whose end nobody saw: accounting may have told the history.
bool ExperimentLog::CompleteTimes(std::vector<Experiment>& experiments) {
  std::vector<int64_t> open;
  for (const Experiment& experiment : experiments) {
    if (!experiment.times.end || experiment.times.state.empty()) open.push_back(experiment.job_id);
  }
  if (open.empty()) return true;
  Result<std::vector<JobRecord>> records = history_.RecordsOf(open);
  if (!records) return false;
  std::vector<PastJob> found;
  for (JobRecord& record : *records) {
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
  return true;
}

// ---- rows ----------------------------------------------------------------------------------

int64_t ExperimentLog::Row::bytes() const {
  constexpr size_t kWithKeysAndIndexes = 600;
  return static_cast<int64_t>(text.size() + name.size() + facts.size() * sizeof(RunFact) +
                              kWithKeysAndIndexes);
}

ExperimentLog::Row ExperimentLog::RowFrom(const Experiment& experiment, bool seen) {
  Row row;
  row.user = experiment.user;
  row.advice_id = experiment.advice_id;
  row.family = experiment.family;
  row.name = experiment.name;
  row.sweep = experiment.sweep;
  row.times = experiment.times;
  if (experiment.outcome && !experiment.outcome->running) row.facts = FactsOf(experiment);
  row.text = ToText(experiment);
  row.seen = seen;
  return row;
}

Experiment ExperimentLog::LightOf(const Key& key, const Row& row) {
  Experiment light;
  std::tie(light.submitted_at, light.job_id, light.uid) = key;
  light.user = row.user;
  light.times = row.times;
  return light;
}

Experiment ExperimentLog::WholeOf(const Row& row) {
  return ExperimentFromText(row.text).value_or(Experiment());
}

bool ExperimentLog::Recall(int64_t job_id, int64_t uid) {
  {
    const std::lock_guard lock(mutex_);
    if (Newest(job_id, uid) != nullptr) return true;
  }
  const std::optional<KeptExperiment> kept = history_.FindExperiment(job_id, uid);
  if (!kept) return false;
  const Result<Experiment> experiment = ExperimentFromText(kept->text);
  const std::lock_guard lock(mutex_);
  if (experiment && Newest(job_id, uid) == nullptr) Put(*experiment, kept->seen);
  return Newest(job_id, uid) != nullptr;
}

const ExperimentLog::Row* ExperimentLog::Newest(int64_t job_id, int64_t uid) const {
  const auto submitted = newest_.find({job_id, uid});
  if (submitted == newest_.end()) return nullptr;
  const auto found = kept_.find({submitted->second, job_id, uid});
  return found == kept_.end() ? nullptr : &found->second;
}

void ExperimentLog::Put(const Experiment& experiment, bool seen) {
  const Key key{experiment.submitted_at, experiment.job_id, experiment.uid};
  int polls_without = 0;
  if (const auto before = kept_.find(key); before != kept_.end()) {
    polls_without = before->second.polls_without;
    Forget(key);
  }
  Row row = RowFrom(experiment, seen);
  row.polls_without = polls_without;
  UnixSeconds& newest = newest_[{experiment.job_id, experiment.uid}];
  newest = std::max(newest, experiment.submitted_at);
  OfUser& own = of_user_[experiment.uid];
  own.keys.insert(key);
  own.bytes += row.bytes();
  bytes_ += row.bytes();
  if (!seen) {
    ++own.unseen;
    unseen_.insert(key);
  }
  if (!row.family.empty()) of_family_[row.family].insert(key);
  if (row.sweep.runs > 0) of_sweep_[{row.sweep.job_id, experiment.uid}].insert(key);
  kept_.emplace(key, std::move(row));
  KeepWithinBounds(key);
}

// Whoever holds too much loses their oldest row, but for the newcomer: it is what is asked for. The
// disk keeps it where Slurm has shown the job; a claim that nobody settles any more would stay
// there as long as what is true.
void ExperimentLog::KeepWithinBounds(const Key& newcomer) {
  const auto forget_oldest = [&](const std::set<Key>& keys) {
    auto oldest = keys.begin();
    if (*oldest == newcomer && keys.size() > 1) ++oldest;
    const Key key = *oldest;
    unseen_.contains(key) ? Drop(key) : Forget(key);
  };
  const int64_t uid = std::get<2>(newcomer);
  while (of_user_[uid].unseen > kMostUnseenOfOne) {
    const std::set<Key>& keys = of_user_[uid].keys;
    Drop(Key(*std::find_if(keys.begin(), keys.end(),
                           [this](const Key& key) { return unseen_.contains(key); })));
  }
  while (of_user_[uid].bytes > kMaxBytesOfOne && of_user_[uid].keys.size() > 1) {
    forget_oldest(of_user_[uid].keys);
  }
  const auto less = [](const auto& a, const auto& b) { return a.second.bytes < b.second.bytes; };
  while (bytes_ > kMaxBytes && kept_.size() > 1) {
    forget_oldest(std::max_element(of_user_.begin(), of_user_.end(), less)->second.keys);
  }
}

void ExperimentLog::Forget(const Key& key) {
  const auto found = kept_.find(key);
  if (found == kept_.end()) return;
  const auto& [submitted_at, job_id, uid] = key;
  const Row& row = found->second;
  if (const auto newest = newest_.find({job_id, uid});
      newest != newest_.end() && newest->second == submitted_at) {
    newest_.erase(newest);
  }
  OfUser& own = of_user_[uid];
  own.keys.erase(key);
  own.bytes -= row.bytes();
  bytes_ -= row.bytes();
  if (unseen_.erase(key) > 0) --own.unseen;
  if (own.keys.empty()) of_user_.erase(uid);
  if (const auto family = of_family_.find(row.family); family != of_family_.end()) {
    family->second.erase(key);
    if (family->second.empty()) of_family_.erase(family);
  }
  if (const auto sweep = of_sweep_.find({row.sweep.job_id, uid}); sweep != of_sweep_.end()) {
    sweep->second.erase(key);
    if (sweep->second.empty()) of_sweep_.erase(sweep);
  }
  kept_.erase(found);
}

void ExperimentLog::Drop(const Key& key) {
  const auto& [submitted_at, job_id, uid] = key;
  history_.Put(KeptExperiment{job_id, uid, submitted_at, "", false});
  Forget(key);
}

void ExperimentLog::Write(const Key& key) {
  const auto row = kept_.find(key);
  if (row == kept_.end()) return;
  const auto& [submitted_at, job_id, uid] = key;
  history_.Put(KeptExperiment{job_id, uid, submitted_at, row->second.text, row->second.seen});
}

void ExperimentLog::Learn(const std::string& family) {
  const auto keys = of_family_.find(family);
  if (keys == of_family_.end()) return;
  std::vector<RunFact> facts;
  for (const Key& key : keys->second) {
    const std::vector<RunFact>& own = kept_.at(key).facts;
    facts.insert(facts.end(), own.begin(), own.end());
  }
  auto learned = std::make_shared<const LearnedRuns>(learned_->WithFacts(family, std::move(facts)));
  const std::lock_guard lock(learned_mutex_);
  learned_ = std::move(learned);
}

}  // namespace gpuadvise::daemon
