#include "backtest/back_test.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <unordered_map>
#include <utility>

#include "backtest/replay.h"
#include "common/base/job_random.h"
#include "common/base/unix_time.h"
#include "common/forecast/queue_starts.h"
#include "common/forecast/start_of.h"
#include "common/history/forecast_history.h"
#include "common/scheduler/queue_model.h"

namespace gpuadvise::backtest {
namespace {

constexpr size_t kChunk = 32;

// A submission between the stages.
struct Question {
  size_t job = 0;
  std::shared_ptr<const QueueModel> queue;
  JobRequest request;
  Submitter submitter;
  std::optional<Result<SimulatedSubmission>> simulated;
};

// An event to learn from once all earlier forecasts are made.
struct Step {
  std::optional<LogEvent> event;
  std::optional<size_t> question;
  std::shared_ptr<const QueueModel> again = nullptr;  // forecast all its waiting jobs
};

class BackTest {
 public:
  BackTest(const JobLog& log, const Snapshot& cluster, const BackTestOptions& options)
      : log_(log), options_(options), replay_(log, cluster) {
    for (size_t i = 0; i < log.jobs.size(); ++i) {
      CountBurst(i);
      index_of_[log.jobs[i].id] = i;
    }
    if (!log.jobs.empty()) next_again_ = log.jobs.front().eligible;
    for (const LogJob& job : log.jobs) {
      log_end_ = std::max({log_end_, job.eligible, job.start.value_or(0)});
    }
  }

  BackTestResult Run(const std::function<void(size_t, size_t)>& progress) {
    const std::vector<LogEvent> events = ListEvents(log_);
    size_t done = 0;
    for (const LogEvent& event : events) {
      AskAgain(event.time);
      QueueEvent(event);
      if (questions_.size() >= kChunk) Flush();
      if (++done % 256 == 0) progress(done, events.size());
    }
    Flush();
    result_.without_room = replay_.without_room();
    return std::move(result_);
  }

 private:
  // Jobs of one user, shape and minute share one weight. This rule of scoring stays fixed: the
  // learner's own (MakeBurstKey) may change, but scores must remain comparable.
  std::string BurstKey(const LogJob& job) const {
    return fmt::format("{}|{}|{}|{}|{}|{}|{}|{}", job.user, job.partition, job.gpu, job.nodes,
                       job.cpus_per_node, job.gpus_per_node, job.limit_seconds.value_or(0),
                       job.eligible / 60);
  }

  void CountBurst(size_t index) {
    const auto [known, added] =
        burst_numbers_.emplace(BurstKey(log_.jobs[index]), burst_sizes_.size());
    if (added) burst_sizes_.push_back(0);
    burst_of_.push_back(known->second);
    ++burst_sizes_[known->second];
  }

  bool IsAsked(size_t index) const {
    const LogJob& job = log_.jobs[index];
    if (!options_.partition.empty() && job.partition != options_.partition) return false;
    return DrawUniform(options_.seed, 0, burst_of_[index]) < options_.sample;
  }

  bool IsScored(size_t index) const {
    const double place =
        static_cast<double>(index) / static_cast<double>(std::max<size_t>(log_.jobs.size(), 1));
    return place >= options_.from && place < options_.to;
  }

  // Stage 1: applies an event and queues the forecast it calls for.
  void QueueEvent(const LogEvent& event) {
    const LogJob& job = log_.jobs[event.job];
    Step step{event, std::nullopt};
    if (event.kind == LogEventKind::kSubmit) {
      if (options_.partition.empty() || job.partition == options_.partition) {
        ++result_.submissions;
      }
      if (IsAsked(event.job)) {
        step.question = questions_.size();
        Ask(event.job, event.time);
      }
      past_.arrivals.Arrived(replay_.Waiting(event.job), event.time);
    } else if (event.kind == LogEventKind::kEnd) {
      JobRecord record = RecordOf(job);
      record.start = job.start;
      record.end = job.end;
      past_.run_times.Ended(record);
      past_.held.Left(job.id);
    } else {
      past_.held.Left(job.id);
    }
    replay_.Apply(event);
    steps_.push_back(step);
  }

  std::shared_ptr<const QueueModel> QueueAt(UnixSeconds now) {
    SimulationOptions simulation;
    simulation.samples = options_.samples;
    simulation.simulate_once_from = options_.simulate_once_from;
    simulation.seed = options_.seed;
    return ObserveAndPrepare(std::make_shared<const Snapshot>(replay_.At(now)), past_, simulation);
  }

  // Queues the repeated forecasts due before `time`.
  void AskAgain(UnixSeconds time) {
    if (options_.again_seconds <= 0) return;
    for (; next_again_ < time; next_again_ += options_.again_seconds) {
      if (!replay_.AnyWaits()) continue;
      steps_.push_back({std::nullopt, std::nullopt, QueueAt(next_again_)});
    }
    if (steps_.size() >= kChunk) Flush();
  }

  void Ask(size_t index, UnixSeconds now) {
    Question question;
    question.job = index;
    question.queue = QueueAt(now);
    question.request = RequestOf(log_.jobs[index]);
    question.submitter = SubmitterOf(log_.jobs[index]);
    questions_.push_back(std::move(question));
  }

  // Stage 2 (simulation) on all threads, then stage 3 (learning, scoring) in order.
  void Flush() {
    std::atomic<size_t> next = 0;
    const auto work = [&] {
      for (size_t i = next++; i < questions_.size(); i = next++) {
        Question& question = questions_[i];
        question.simulated = SimulateStart(*question.queue, question.request, question.submitter);
      }
    };
    std::vector<std::thread> threads;
    for (unsigned t = 1; t < options_.threads; ++t) threads.emplace_back(work);
    work();
    for (std::thread& thread : threads) thread.join();
    for (const Step& step : steps_) Learn(step);
    steps_.clear();
    questions_.clear();
  }

  void Learn(const Step& step) {
    if (step.again) return SayAgain(*step.again);
    const LogEvent& event = *step.event;
    const LogJob& job = log_.jobs[event.job];
    past_.waits.Advance(event.time);
    if (options_.watch && event.kind != LogEventKind::kSubmit) options_.watch(event, job, nullptr);
    switch (event.kind) {
      case LogEventKind::kSubmit:
        if (step.question && questions_[*step.question].simulated->has_value()) {
          return Forecast(event, questions_[*step.question]);
        }
        if (step.question) ++result_.impossible;
        if (options_.watch) options_.watch(event, job, nullptr);
        return past_.waits.Submitted(RecordOf(job));
      case LogEventKind::kStart:
        return past_.waits.Started(job.id, event.time);
      case LogEventKind::kEnd:
        return past_.waits.Ended(job.id, event.time);
      case LogEventKind::kVanish:
        return past_.waits.Vanished(job.id, event.time);
    }
  }

  void SayAgain(const QueueModel& queue) {
    const UnixSeconds now = queue.snapshot().taken_at;
    past_.waits.Advance(now);
    std::vector<AskedJob> asked;
    for (const auto& [id, said] : StartsInQueue(queue, &asked)) {
      const size_t index = index_of_.at(id);
      if (!IsAsked(index) || !IsScored(index)) continue;
      const LogJob& job = log_.jobs[index];
      AskedAgain one;
      one.job_id = id;
      one.p10 = said.Quantile(0.1);
      one.p50 = said.Quantile(0.5);
      one.p90 = said.Quantile(0.9);
      one.weight = BurstWeight(index);
      one.started = job.start.has_value();
      one.age = static_cast<double>(now - job.eligible);
      one.left = static_cast<double>(std::max<UnixSeconds>(WaitEnd(job) - now, 0));
      result_.again.push_back(one);
    }
    RecordForecasts(asked, now, past_);
  }

  void Forecast(const LogEvent& event, Question& question) {
    const LogJob& job = log_.jobs[question.job];
    SimulatedSubmission& simulated = **question.simulated;
    simulated.record = RecordOf(job);
    const StartSamples samples = StartFrom(*question.queue, std::move(simulated));
    if (options_.watch) options_.watch(event, job, &*samples.forecast);
    past_.waits.Submitted(RecordOf(job), std::make_shared<const ForecastRecord>(
                                             MakeForecastRecord(*samples.forecast)));
    if (IsScored(question.job)) result_.jobs.push_back(Score(question.job, *samples.forecast));
  }

  double BurstWeight(size_t index) const {
    return 1 / static_cast<double>(burst_sizes_[burst_of_[index]]);
  }

  // Time of its start, or the last time it was known to wait.
  UnixSeconds WaitEnd(const LogJob& job) const {
    return job.start.value_or(job.end.value_or(log_end_));
  }

  Scored Score(size_t index, const WaitForecast& forecast) const {
    const LogJob& job = log_.jobs[index];
    Scored scored;
    scored.job_id = job.id;
    scored.week = (job.eligible - log_.jobs.front().eligible) / kWeekSeconds;
    scored.group = forecast.group;
    scored.weight = BurstWeight(index);
    scored.started = job.start.has_value();
    scored.wait = static_cast<double>(std::max<UnixSeconds>(WaitEnd(job) - job.eligible, 0));
    if (job.test_only && job.start) {
      scored.test_only_error = std::abs(static_cast<double>(*job.test_only - *job.start));
    }
    const auto score = [&](size_t predictor, const WaitDistribution& wait) {
      scored.said[predictor] = ReduceForecast(wait);
      scored.places[predictor] = PlaceIn(wait, scored.wait);
    };
    score(0, forecast.wait);
    for (size_t k = 0; k < kExperts; ++k) score(k + 1, forecast.experts[k]);
    return scored;
  }

  const JobLog& log_;
  const BackTestOptions& options_;
  Replay replay_;
  ForecastHistory past_;
  std::vector<Question> questions_;
  std::vector<Step> steps_;
  UnixSeconds next_again_ = 0;
  std::unordered_map<int64_t, size_t> index_of_;  // by job id
  std::unordered_map<std::string, size_t> burst_numbers_;
  std::vector<size_t> burst_of_;
  std::vector<int64_t> burst_sizes_;
  UnixSeconds log_end_ = 0;
  BackTestResult result_;
};

}  // namespace

BackTestResult RunBackTest(const JobLog& log, const Snapshot& cluster,
                           const BackTestOptions& options,
                           const std::function<void(size_t, size_t)>& progress) {
  return BackTest(log, cluster, options).Run(progress);
}

}  // namespace gpuadvise::backtest
