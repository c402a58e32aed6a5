#include "daemon/store/history_writer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "common/base/words.h"

namespace gpuadvise::daemon {

using std::chrono::steady_clock;

namespace {

constexpr std::chrono::seconds kRetryAfter{5};
constexpr std::chrono::milliseconds kCheapInfo{20};
constexpr std::chrono::seconds kInfoEvery{60};
constexpr int64_t kPruneEverySeconds = 6 * 3'600;
constexpr const char* kHeldByAnother = "another gpuadvised holds it";

}  // namespace

HistoryWriter::HistoryWriter(std::unique_ptr<History> history, std::string problem,
                             const Clock& clock, int64_t retention_seconds, HistoryEvents events)
    : clock_(clock),
      retention_seconds_(retention_seconds),
      began_at_(clock.Now()),
      events_(std::move(events)),
      history_(std::move(history)) {
  state_.problem = std::move(problem);
  if (!history_) return;
  kept_ = true;
  UpdateInfo();
  thread_ = std::thread([this] { Work(); });
}

HistoryWriter::~HistoryWriter() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  more_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void HistoryWriter::KeepTrying(OpenHistory open, std::chrono::seconds pause, bool stands_by) {
  if (history_) return;
  open_ = std::move(open);
  kept_ = true;
  stands_by_ = stands_by;
  if (stands_by) state_.problem = kHeldByAnother;
  thread_ = std::thread([this, pause] {
    if (WaitForHistory(pause)) Work();
  });
}

bool HistoryWriter::WaitForHistory(std::chrono::seconds pause) {
  bool failed = !stands_by_;
  steady_clock::time_point had_server = steady_clock::now();
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      if (more_.wait_for(lock, failed ? pause : kHeartbeat, [this] { return stopping_; }))
        return false;
    }
    const Tried tried = TryToOpen();
    if (tried == Tried::kOpen) return true;
    const auto now = steady_clock::now();
    failed = tried == Tried::kFailed;
    if (failed) {
      const bool alone = now - had_server >= kAloneAfter;
      if (alone && stands_by_.exchange(false)) events_.alone();
    } else if (stands_by_) {
      had_server = now;
    } else {
      events_.taken();
      return false;
    }
  }
}

HistoryWriter::Tried HistoryWriter::TryToOpen() {
  {
    const std::lock_guard<std::timed_mutex> one(using_);
    if (history_) return Tried::kOpen;
    Result<std::unique_ptr<History>> history = open_();
    if (!history || *history == nullptr) {
      const std::string problem = history ? kHeldByAnother : history.error().message;
      const std::lock_guard lock(mutex_);
      if (!history && state_.problem != problem) spdlog::error("no history is kept: {}", problem);
      state_.problem = problem;
      return history ? Tried::kAnothers : Tried::kFailed;
    }
    history_ = std::move(*history);
    if (!history_->set_aside().empty()) spdlog::error("{}", history_->set_aside());
    spdlog::info("the history is kept from now on");
    {
      const std::lock_guard lock(mutex_);
      state_.problem.clear();
    }
    UpdateInfo();
  }
  stands_by_ = false;
  events_.opened();
  return Tried::kOpen;
}

void HistoryWriter::Put(std::vector<PastJob> jobs) {
  if (!kept_) return;
  {
    const std::lock_guard lock(mutex_);
    for (PastJob& job : jobs) waiting_.push_back(std::move(job));
    for (; waiting_.size() > kMostWaiting; ++forgotten_) waiting_.pop_front();
  }
  more_.notify_all();
}

void HistoryWriter::Put(KeptExperiment experiment) {
  if (!kept_) return;
  {
    const std::lock_guard lock(mutex_);
    KeptExperiment& waits = experiments_waiting_[KeyOf(experiment)];
    const int64_t more = BytesOf(experiment) - (waits.job_id == 0 ? 0 : BytesOf(waits));
    experiment_bytes_waiting_ += more;
    experiment_bytes_of_[experiment.uid] += more;
    waits = std::move(experiment);
    ++put_;
    KeepWaitingExperimentsBounded();
  }
  more_.notify_all();
}

std::string HistoryWriter::Trouble() {
  if (!kept_) return "";
  std::unique_lock lock(mutex_);
  const auto is_written = [this, all = put_] { return written_ >= all; };
  written_more_.wait_for(lock, kAnswersPatience,
                         [&] { return is_written() || failing_ || !state_.info; });
  if (is_written()) return state_.problem;
  return state_.problem.empty() ? "the history is busy" : state_.problem;
}

HistoryWriter::ExperimentKey HistoryWriter::KeyOf(const KeptExperiment& experiment) {
  return {experiment.uid, experiment.submitted_at, experiment.job_id};
}

void HistoryWriter::KeepWaitingExperimentsBounded() {
  const auto less = [](const auto& a, const auto& b) { return a.second < b.second; };
  for (; experiment_bytes_waiting_ > kMostExperimentBytesWaiting && experiments_waiting_.size() > 1;
       ++forgotten_experiments_) {
    const auto most =
        std::max_element(experiment_bytes_of_.begin(), experiment_bytes_of_.end(), less);
    const auto oldest = experiments_waiting_.lower_bound({most->first, INT64_MIN, INT64_MIN});
    const int64_t bytes = BytesOf(oldest->second);
    experiment_bytes_waiting_ -= bytes;
    most->second -= bytes;
    experiments_waiting_.erase(oldest);
  }
}

std::string HistoryWriter::DescribeDropped() const {
  std::vector<std::string> lost;
  if (forgotten_ > 0) lost.push_back(Plural(forgotten_, "job"));
  if (forgotten_experiments_ > 0) {
    lost.push_back(Plural(forgotten_experiments_, "row") + " of the experiment log");
  }
  return fmt::format("{}", fmt::join(lost, " and "));
}

bool HistoryWriter::HasWork() const {
  return stopping_ || !waiting_.empty() || !experiments_waiting_.empty();
}

void HistoryWriter::Work() {
  for (bool last = false; !last && !history_->IsTaken();) {
    bool beats = false;
    {
      std::unique_lock lock(mutex_);
      const auto is_due = [this] { return failing_ ? stopping_ : HasWork(); };
      if (failing_ || history_->IsShared()) {
        more_.wait_for(lock, history_->IsShared() ? kHeartbeat : kRetryAfter, is_due);
      } else {
        more_.wait(lock, [&] { return failing_ || is_due(); });
      }
      last = stopping_;
      beats = !HasWork();
    }
    const std::lock_guard<std::timed_mutex> one(using_);
    if (beats) {
      // It may be another daemon's now, or work again: nothing else tells.
      Report(history_->Check());
      continue;
    }
    WriteWaiting();
    PruneWhenDue();
    UpdateInfo();
  }
  if (history_->IsTaken()) events_.taken();
}

void HistoryWriter::WriteExperiments() {
  std::vector<KeptExperiment> experiments;
  int64_t all = 0;
  {
    const std::lock_guard lock(mutex_);
    all = put_;
    for (auto& [key, experiment] : experiments_waiting_) {
      experiments.push_back(std::move(experiment));
    }
    experiments_waiting_.clear();
    experiment_bytes_of_.clear();
    experiment_bytes_waiting_ = 0;
  }
  if (experiments.empty()) return;
  const Result<void> written = history_->Save(experiments);
  if (!written) WaitAgain(std::move(experiments));
  Report(written);
  {
    const std::lock_guard lock(mutex_);
    if (written) written_ = all;
  }
  written_more_.notify_all();
}

// Newer data has arrived meanwhile.
void HistoryWriter::WaitAgain(std::vector<KeptExperiment> experiments) {
  const std::lock_guard lock(mutex_);
  for (KeptExperiment& experiment : experiments) {
    const ExperimentKey key = KeyOf(experiment);
    const int64_t bytes = BytesOf(experiment);
    if (experiments_waiting_.emplace(key, std::move(experiment)).second) {
      experiment_bytes_waiting_ += bytes;
      experiment_bytes_of_[std::get<0>(key)] += bytes;
    }
  }
  KeepWaitingExperimentsBounded();
}

void HistoryWriter::WriteWaiting() {
  WriteExperiments();
  std::vector<PastJob> jobs;
  {
    const std::lock_guard lock(mutex_);
    jobs.assign(waiting_.begin(), waiting_.end());
    waiting_.clear();
  }
  if (jobs.empty()) return;
  const Result<void> written = history_->Save(jobs);
  if (!written) {  // they come first again; what came meanwhile is newer
    const std::lock_guard lock(mutex_);
    waiting_.insert(waiting_.begin(), jobs.begin(), jobs.end());
    for (; waiting_.size() > kMostWaiting; ++forgotten_) waiting_.pop_front();
  }
  Report(written);
}

void HistoryWriter::PruneWhenDue() {
  const UnixSeconds now = clock_.Now();
  const bool lately = now >= pruned_at_ && now - pruned_at_ < kPruneEverySeconds;
  if (lately && !history_->IsOverBounds()) return;
  pruned_at_ = now;
  // While the daemon was down nobody could settle a claim.
  const UnixSeconds claims_before = now - began_at_ < kClaimSeconds ? 0 : now - kClaimSeconds;
  const Result<void> pruned = history_->Prune(now - retention_seconds_, now, claims_before);
  if (!pruned) Report(pruned);
}

void HistoryWriter::Report(const Result<void>& written) {
  const std::lock_guard lock(mutex_);
  if (written) {
    if (failing_) {
      const std::string lost = DescribeDropped();
      spdlog::info("the history is used again{}",
                   lost.empty() ? "" : fmt::format("; missing in it: {}", lost));
      forgotten_ = forgotten_experiments_ = 0;
    }
    failing_ = false;
    state_.problem.clear();
    return;
  }
  if (!failing_) spdlog::error("the history cannot be used: {}", written.error().message);
  if (!std::exchange(failing_, true)) more_.notify_all();
  const std::string lost = DescribeDropped();
  state_.problem = written.error().message;
  if (!lost.empty()) state_.problem += fmt::format("; forgotten meanwhile: {}", lost);
}

// May be up to a minute old if costly.
void HistoryWriter::UpdateInfo() {
  const auto now = steady_clock::now();
  if (info_took_ > kCheapInfo && now - info_at_ < kInfoEvery) return;
  Result<HistoryInfo> info = history_->Info();
  if (info) {
    info_at_ = now;
    info_took_ = steady_clock::now() - now;
  }
  const std::lock_guard lock(mutex_);
  if (info) state_.info = std::move(*info);
}

int64_t HistoryWriter::Complete(const std::vector<JobRecord>& jobs) {
  const std::lock_guard<std::timed_mutex> one(using_);
  if (!history_) return 0;
  WriteWaiting();  // what was seen comes before what was accounted for
  const Result<int64_t> changed = history_->Complete(jobs);
  if (!changed) Report(tl::unexpected<Error>(changed.error()));
  return changed.value_or(0);
}

std::vector<PastJob> HistoryWriter::Load() {
  const std::lock_guard<std::timed_mutex> one(using_);
  if (!history_) return {};
  WriteWaiting();
  int64_t unreadable = 0;
  Result<std::vector<PastJob>> jobs = history_->Load(unreadable);
  if (unreadable > 0) spdlog::warn("{} jobs of the history cannot be read", unreadable);
  if (!jobs) {
    Report(tl::unexpected<Error>(jobs.error()));
    return {};
  }
  return std::move(*jobs);
}

bool HistoryWriter::ForEachUsage(const std::function<void(const PastJob&)>& take) {
  const std::lock_guard<std::timed_mutex> one(using_);
  if (!history_) return false;
  WriteWaiting();
  const Result<void> read = history_->ForEachUsage(take);
  if (!read) Report(read);
  return read.has_value();
}

void HistoryWriter::EachExperiment(const std::function<void(KeptExperiment)>& take) {
  const std::lock_guard<std::timed_mutex> one(using_);
  if (!history_) return;
  WriteWaiting();
  if (const Result<void> read = history_->EachExperiment(take); !read) Report(read);
}

std::unique_lock<std::timed_mutex> HistoryWriter::InTurn() {
  const auto now = steady_clock::now().time_since_epoch();
  std::unique_lock<std::timed_mutex> one(using_, std::defer_lock);
  if (now < impatient_until_.load()) {
    (void)one.try_lock();
  } else if (!one.try_lock_for(kAnswersPatience)) {
    impatient_until_ = now + kImpatience;
  }
  return one;
}

template <typename Found, typename Read>
Result<Found> HistoryWriter::ForAnswer(Found none, const Read& read) {
  if (!kept_) return none;
  const std::unique_lock<std::timed_mutex> one = InTurn();
  if (!one) return Fail(ErrorCode::kUnavailable, "the history is busy; ask again in a minute");
  if (!history_) return Fail(ErrorCode::kUnavailable, "the history is not open yet");
  history_->BeginUrgent();
  WriteWaiting();
  Result<Found> found = read(*history_);
  history_->EndUrgent();
  if (!found) Report(tl::unexpected<Error>(found.error()));
  return found;
}

std::optional<KeptExperiment> HistoryWriter::FindExperiment(int64_t job_id, int64_t uid) {
  return ForAnswer(std::optional<KeptExperiment>(),
                   [&](const History& history) { return history.FindExperiment(job_id, uid); })
      .value_or(std::nullopt);
}

Result<std::vector<JobRecord>> HistoryWriter::RecordsOf(const std::vector<int64_t>& job_ids) {
  return ForAnswer(std::vector<JobRecord>(),
                   [&](const History& history) { return history.RecordsOf(job_ids); });
}

Result<History::EndedTasks> HistoryWriter::EndedTasksOf(const std::vector<int64_t>& arrays,
                                                        UnixSeconds since) {
  return ForAnswer(History::EndedTasks(),
                   [&](const History& history) { return history.EndedTasksOf(arrays, since); });
}

Result<void> HistoryWriter::EachRun(UnixSeconds since, const std::string& user,
                                    const std::function<bool(const History::Run&)>& take) {
  const Result<bool> read = ForAnswer(false, [&](const History& history) -> Result<bool> {
    UpdateInfo();  // what state() says is of what is read here
    return history.EachRun(since, user, take).map([] { return true; });
  });
  return read ? Result<void>() : tl::unexpected<Error>(read.error());
}

void HistoryWriter::Note(const std::string& name, int64_t value) {
  const std::lock_guard<std::timed_mutex> one(using_);
  if (!history_) return;
  if (Result<void> noted = history_->Note(name, value); !noted) Report(noted);
}

std::optional<int64_t> HistoryWriter::Noted(const std::string& name) {
  const std::lock_guard<std::timed_mutex> one(using_);
  if (!history_) return std::nullopt;
  Result<std::optional<int64_t>> noted = history_->Noted(name);
  return noted ? *noted : std::nullopt;
}

HistoryState HistoryWriter::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

}  // namespace gpuadvise::daemon
