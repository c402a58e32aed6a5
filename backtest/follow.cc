#include "backtest/follow.h"

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <unordered_map>
#include <utility>
#include <vector>

#include "backtest/replay.h"
#include "backtest/workload.h"
#include "common/advise/ranking.h"
#include "common/base/statistics.h"
#include "common/forecast/start_of.h"
#include "common/history/forecast_history.h"
#include "common/scheduler/queue_model.h"

namespace gpuadvise::backtest {
namespace {

using nlohmann::json;

constexpr std::pair<std::string_view, FollowRule> kRules[] = {
    {"fastest", FollowRule::kFastest}, {"test-only", FollowRule::kTestOnly},
    {"median", FollowRule::kMedian},   {"advise", FollowRule::kAdvise},
    {"told", FollowRule::kTold},
};

double RunSeconds(const LogJob& job) { return static_cast<double>(*job.end - *job.start); }
int64_t GpusOf(const LogJob& job) { return job.gpus_per_node * job.nodes; }

double SumOf(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

double MeanOf(const std::vector<double>& values) {
  return values.empty() ? 0 : SumOf(values) / static_cast<double>(values.size());
}

class FollowedDay {
 public:
  FollowedDay(const JobLog& day, const Snapshot& cluster, const FollowOptions& options)
      : options_(options), cluster_(cluster), replay_(log_, cluster) {
    for (const LogJob& job : day.jobs) {
      run_seconds_[job.id] = RunSeconds(job);
      if (job.name.empty()) {
        log_.jobs.push_back(job);
      } else {
        trainings_[{job.submit, job.name}].push_back(job);
      }
    }
  }

  size_t trainings() const { return trainings_.size(); }

  json Run(const std::function<void(size_t, size_t)>& progress) {
    size_t done = 0;
    for (const auto& [arrival, alternatives] : trainings_) {
      if (!log_.jobs.empty()) SimulateLog(log_, cluster_, run_seconds_);
      Advance(arrival.first);
      LogJob chosen = Choose(alternatives, arrival.first);
      chosen.start.reset();
      chosen.end.reset();
      Insert(std::move(chosen));
      progress(++done, trainings_.size());
    }
    SimulateLog(log_, cluster_, run_seconds_);
    return Figures();
  }

 private:
  // Learns what happens before `now` and has not been learned. What was chosen at a moment changes
  // nothing before it.
  void Advance(UnixSeconds now) {
    for (const LogEvent& event : ListEvents(log_)) {
      if (event.time < learned_to_ || event.time >= now) continue;
      if (options_.rule >= FollowRule::kMedian) Learn(event);  // the others ask no forecast
      replay_.Apply(event);
    }
    learned_to_ = now;
  }

  void Learn(const LogEvent& event) {
    const LogJob& job = log_.jobs[event.job];
    past_.Advance(event.time);
    switch (event.kind) {
      case LogEventKind::kSubmit:
        past_.Submitted(SubmissionWithForecast(job, *QueueAt(event.time)));
        return past_.arrivals.Arrived(replay_.Waiting(event.job), event.time);
      case LogEventKind::kStart:
        return past_.Started(job.id, event.time);
      case LogEventKind::kVanish:
        return past_.Vanished(job.id, event.time);
      case LogEventKind::kEnd:
        return past_.Ended(job.id, event.time);
    }
  }

  std::shared_ptr<const QueueModel> QueueAt(UnixSeconds now) {
    SimulationOptions simulation;
    simulation.samples = options_.samples;
    simulation.seed = options_.seed;
    if (options_.rule == FollowRule::kTold) simulation.known_run_times = &run_seconds_;
    return ObserveAndPrepare(std::make_shared<const Snapshot>(replay_.At(now)), past_, simulation);
  }

  // By eligible time, after those of the same second.
  void Insert(LogJob job) {
    const auto place =
        std::upper_bound(log_.jobs.begin(), log_.jobs.end(), job,
                         [](const LogJob& a, const LogJob& b) { return a.eligible < b.eligible; });
    log_.jobs.insert(place, std::move(job));
  }

  LogJob Choose(const std::vector<LogJob>& alternatives, UnixSeconds now) {
    if (options_.rule == FollowRule::kFastest) {
      return *std::min_element(
          alternatives.begin(), alternatives.end(),
          [](const LogJob& a, const LogJob& b) { return RunSeconds(a) < RunSeconds(b); });
    }
    const auto queue = options_.rule == FollowRule::kTestOnly
                           ? PrepareQueue(std::make_shared<const Snapshot>(replay_.At(now)))
                           : QueueAt(now);
    const std::vector<GpuPool> pools(alternatives.size());  // say which alternative a row is
    std::vector<Strategy> rows;
    for (const LogJob& each : alternatives) {
      Result<StartSamples> start = StartOf(*queue, RequestOf(each), SubmitterOf(each));
      if (!start) continue;
      Strategy& row = rows.emplace_back();
      row.placement.pool = &pools[static_cast<size_t>(&each - alternatives.data())];
      row.placement.gpus_per_node = each.gpus_per_node;
      row.placement.nodes = each.nodes;
      row.start = *std::move(start);
      row.run.p50 = row.run.mean = RunSeconds(each);
      row.gpu_hours = RunSeconds(each) * static_cast<double>(GpusOf(each)) / 3600;
      AddTotal(row);
      if (options_.rule >= FollowRule::kAdvise) {
        row.delay = DelayOf(*queue, RequestOf(each), SubmitterOf(each), row.run.p50);
      }
    }
    if (rows.empty()) return alternatives.front();
    const auto chosen = [&](const Strategy& row) {
      return alternatives[static_cast<size_t>(row.placement.pool - pools.data())];
    };
    if (options_.rule == FollowRule::kTestOnly) {
      return chosen(*std::min_element(
          rows.begin(), rows.end(),
          [](const Strategy& a, const Strategy& b) { return a.total.p50 < b.total.p50; }));
    }
    RankBy by;
    if (options_.rule == FollowRule::kMedian) by.caution = 0;
    by.courtesy = options_.courtesy;
    RankStrategies(rows, by);
    return chosen(rows.front());
  }

  json Figures() const {
    std::vector<double> results, waits, others;
    double gpu_hours = 0;
    std::map<std::string, int64_t> kinds;
    int64_t never = 0;
    for (const LogJob& job : log_.jobs) {
      if (!job.start) {
        ++never;
        continue;
      }
      const auto wait = static_cast<double>(*job.start - job.eligible);
      if (job.name.empty()) {
        others.push_back(wait);
        continue;
      }
      waits.push_back(wait);
      results.push_back(static_cast<double>(*job.end - job.eligible));
      gpu_hours += RunSeconds(job) * static_cast<double>(GpusOf(job)) / 3600;
      ++kinds[job.gpu];
    }
    return {{"trainings", results.size()},
            {"result_mean_seconds", MeanOf(results)},
            {"wait_mean_seconds", MeanOf(waits)},
            {"gpu_hours", gpu_hours},
            {"gpus", kinds},
            {"others", others.size()},
            {"others_wait_mean_seconds", MeanOf(others)},
            {"others_wait_median_seconds", UpperMedian(others)},
            {"everybody_seconds", SumOf(results) + SumOf(others)},
            {"never_started", never}};
  }

  const FollowOptions options_;
  const Snapshot& cluster_;
  JobLog log_;  // others, and what was chosen
  std::map<std::pair<UnixSeconds, std::string>, std::vector<LogJob>> trainings_;
  std::unordered_map<int64_t, double> run_seconds_;
  Replay replay_;
  ForecastHistory past_;
  UnixSeconds learned_to_ = 0;
};

}  // namespace

std::optional<FollowRule> FollowRuleOf(std::string_view word) {
  for (const auto& [name, rule] : kRules) {
    if (name == word) return rule;
  }
  return {};
}

Result<json> Follow(const JobLog& day, const Snapshot& cluster, const FollowOptions& options,
                    const std::function<void(size_t done, size_t of)>& progress) {
  FollowedDay followed(day, cluster, options);
  if (followed.trainings() == 0) {
    return BadInput("no row names a training, so that nobody could choose");
  }
  return followed.Run(progress);
}

}  // namespace gpuadvise::backtest
