// From snapshot to snapshot.
//
// Problem. To be credible, a forecast must be made before the fact, for every job, by the function
// that answers questions. But a daemon sees the cluster only every half minute: jobs arrive, start
// and end between two snapshots, and in bursts.
//
// Idea. Two snapshots show what happened between them and (nearly) when. The events are replayed in
// order. Before each submission the queue is reconstructed as of that time and StartOf is asked for
// the job; afterwards the event joins the history. So the record holds what a user would have seen
// just before submitting.
//
// History is a value. Each snapshot's history is a copy of the previous one plus new events, and
// never changes afterwards. Questions may keep theirs as long as they like, on any thread.
//
// Cost. At the size of the sample cluster a copy takes a few ms, a forecast 1 to 5 ms. With more
// than kLongQueue jobs the queue is not reconstructed for each submission; the last one is used.
#include "common/forecast/live_forecast.h"

#include <algorithm>
#include <optional>
#include <unordered_set>
#include <utility>

#include "common/forecast/queue_between.h"
#include "common/forecast/queue_starts.h"
#include "common/scheduler/node_pool.h"

namespace gpuadvise {
namespace {

// With more jobs, use fewer samples: tens of thousands take seconds each.
constexpr size_t kManyJobs = 10'000;

// Across longer gaps between snapshots the queue at a submission is unknown.
constexpr int64_t kLongestGap = 600;

PublishedForecast SaidIn(const StartSamples& start, WaitGroup group) {
  Deciles deciles{};
  for (size_t i = 0; i < kDeciles; ++i) {
    deciles[i] = static_cast<int32_t>(start.Quantile(static_cast<double>(i + 1) / (kDeciles + 1)));
  }
  return {
      start.Quantile(0.1), start.Quantile(0.5), start.Quantile(0.9), start.Mean(), group, deciles};
}

Submitter SubmitterOf(const Job& job) { return {job.uid, job.user, job.account, job.qos}; }

}  // namespace

// Adds the events of one snapshot to a history.
class LiveForecast::Learner {
 public:
  Learner(const ForecastState* last, ForecastHistory& past, const SimulationOptions& options,
          UnixSeconds now)
      : last_(last), past_(past), options_(options) {
    const bool follows = last != nullptr && now > last->snapshot->taken_at &&
                         now - last->snapshot->taken_at <= kLongestGap;
    if (!follows) return;
    since_ = last->snapshot->taken_at;
    if (last->snapshot->jobs.size() <= kLongQueue) between_.emplace(*last->snapshot);
  }

  void Learn(const JobEvent& event) {
    switch (event.kind) {
      case JobEventKind::kSubmitted:
        Submit(event);
        break;
      case JobEventKind::kStarted:
        Touch(event.job.id);
        past_.Started(event.job.id, event.time);
        break;
      case JobEventKind::kEnded:
        Close(event, /*ran=*/true);
        break;
      case JobEventKind::kVanished:
        Close(event, /*ran=*/false);
        break;
    }
    if (between_) between_->Apply(event);
  }

  void SlurmSaid(const Job& job) {
    const PastJob* known = past_.Find(job.id);
    if (known == nullptr || known->slurm_said || known->record.start) return;
    Touch(job.id);
    past_.SlurmSaid(job.id, *job.start_time);
  }

  // Jobs that ended unobserved: the time is unknown.
  void LoseAllBut(const Snapshot& snapshot) {
    std::unordered_set<int64_t> there;
    for (const Job& job : snapshot.jobs) there.insert(job.id);
    std::vector<int64_t> lost;
    for (const auto& [id, job] : past_.open()) {
      if (!there.contains(id)) lost.push_back(id);
    }
    std::sort(lost.begin(), lost.end());
    for (const int64_t id : lost) {
      closed_.push_back(*past_.Find(id));
      closed_.back().lost = true;
      past_.Vanished(id, snapshot.taken_at);
    }
  }

  // Jobs that left, and the last state of every other job with events.
  std::vector<PastJob> Changed() {
    std::vector<PastJob> changed = std::move(closed_);
    for (const int64_t id : touched_) {
      if (const PastJob* job = past_.Find(id)) changed.push_back(*job);
    }
    return changed;
  }

  int64_t not_forecast() const { return not_forecast_; }

 private:
  void Touch(int64_t id) {
    if (seen_.insert(id).second) touched_.push_back(id);
  }

  void Submit(const JobEvent& event) {
    PastJob job;
    job.record = RecordOf(event.job);
    job.record.eligible = event.time;
    job.record.start.reset();
    const PastJob* known = past_.Find(job.record.id);
    if (known != nullptr && known->record.submit == job.record.submit) return;  // stored history
    // Tasks of an array that start one by one were submitted long ago.
    if (since_ && event.time >= *since_) {
      auto submission = std::make_shared<Job>(event.job);
      submission->state = JobState::kPending;
      submission->start_time.reset();
      submission->end_time.reset();
      submission->allocations.clear();
      job.submission = std::move(submission);
      Forecast(event, job);
    }
    Touch(job.record.id);
    past_.Submitted(std::move(job));
  }

  void Forecast(const JobEvent& event, PastJob& job) {
    if (forecasts_ >= kForecastsPerSnapshot) {
      ++not_forecast_;
      return;
    }
    ++forecasts_;
    const bool exact = between_.has_value();
    const auto queue = exact ? QueueAt(event.time) : last_->queue;
    auto start = StartOf(*queue, event.job.request, SubmitterOf(event.job));
    if (!start || !start->forecast) return;
    if (!exact) {  // as of the last snapshot
      for (int64_t& wait : start->wait_seconds) {
        wait = std::max<int64_t>(wait - (event.time - *since_), 0);
      }
    }
    job.said = SaidIn(*start, start->forecast->group);
    job.forecast_record =
        std::make_shared<const ForecastRecord>(MakeForecastRecord(*start->forecast));
  }

  // The queue as of `time`, between snapshots; the history observes it too.
  std::shared_ptr<const QueueModel> QueueAt(UnixSeconds time) {
    return ObserveAndPrepare(between_->At(time), past_, options_);
  }

  void Close(const JobEvent& event, bool ran) {
    const int64_t id = event.job.id;
    if (const PastJob* known = past_.Find(id)) {
      PastJob closed = *known;
      closed.record.end = event.time;
      if (!ran) closed.record.start.reset();
      closed_.push_back(std::move(closed));
      if (seen_.erase(id) > 0) std::erase(touched_, id);
    }
    if (ran) {
      past_.Ended(id, event.time);
    } else {
      past_.Vanished(id, event.time);
    }
  }

  const ForecastState* last_;
  ForecastHistory& past_;
  const SimulationOptions& options_;
  std::optional<UnixSeconds> since_;  // time of the last snapshot, if this one follows it
  std::optional<QueueBetween> between_;
  int forecasts_ = 0;
  int64_t not_forecast_ = 0;
  std::vector<int64_t> touched_;
  std::unordered_set<int64_t> seen_;
  std::vector<PastJob> closed_;
};

SimulationOptions LiveOptions() {
  SimulationOptions options;
  options.samples = 24;
  options.simulate_once_from = kLongQueue;
  return options;
}

LiveForecast::LiveForecast(const SimulationOptions& options)
    : options_(options), past_(std::make_shared<const ForecastHistory>()) {}

void LiveForecast::Restore(ForecastHistory past) {
  past_ = std::make_shared<const ForecastHistory>(std::move(past));
  restored_ = true;
}

LiveStep LiveForecast::See(std::shared_ptr<const Snapshot> snapshot) {
  const UnixSeconds now = snapshot->taken_at;
  auto past = std::make_shared<ForecastHistory>(*past_);
  AskAgain(*past);
  Learner learner(last_.get(), *past, options_, now);
  for (const JobEvent& event : watch_.See(*snapshot)) learner.Learn(event);
  if (restored_) learner.LoseAllBut(*snapshot);
  restored_ = false;
  for (const Job& job : snapshot->jobs) {
    if (!HoldsNodes(job) && job.start_time) learner.SlurmSaid(job);
  }
  past->Advance(now);
  LiveStep step;
  step.changed = learner.Changed();
  step.not_forecast = learner.not_forecast();
  last_ = MakeState(std::move(snapshot), std::move(past));
  past_ = last_->past;
  step.state = last_;
  return step;
}

// Uses the queue as last seen, before learning later events.
void LiveForecast::AskAgain(ForecastHistory& past) {
  if (!last_ || last_->snapshot->jobs.size() > kLongQueue) return;
  const UnixSeconds seen = last_->snapshot->taken_at;
  if (asked_at_ <= seen && seen < asked_at_ + kAskedEvery) return;
  asked_at_ = seen;
  std::vector<AskedJob> asked;
  StartsInQueue(*last_->queue, &asked);
  RecordForecasts(asked, seen, past);
}

std::shared_ptr<const ForecastState> LiveForecast::MakeState(
    std::shared_ptr<const Snapshot> snapshot, std::shared_ptr<ForecastHistory> past) const {
  auto state = std::make_shared<ForecastState>();
  state->snapshot = std::move(snapshot);
  SimulationOptions options = options_;
  if (state->snapshot->jobs.size() > kManyJobs) options.samples = std::min(options.samples, 16);
  state->by_time_limit = PrepareQueue(state->snapshot);
  Observe(*state->by_time_limit, *past);
  state->queue = PrepareQueue(state->snapshot, *past, options);
  state->past = std::move(past);
  return state;
}

}  // namespace gpuadvise
