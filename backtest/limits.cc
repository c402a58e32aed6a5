#include "backtest/limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "backtest/replay.h"
#include "backtest/world.h"
#include "common/base/job_random.h"
#include "common/base/statistics.h"
#include "common/base/words.h"
#include "common/forecast/limit_advice.h"
#include "common/forecast/start_of.h"
#include "common/history/forecast_history.h"
#include "common/history/wait_learner.h"

namespace gpuadvise::backtest {
namespace {

constexpr double kKeptShare = 0.25;   // a promise is kept within this share of it
constexpr double kKeptSeconds = 300;  // or so many seconds

bool IsKept(double promised, double came) {
  return std::abs(promised - came) <= std::max(kKeptShare * promised, kKeptSeconds);
}

class LimitsTest {
 public:
  LimitsTest(const JobLog& log, const Snapshot& cluster, const BackTestOptions& options)
      : log_(log), options_(options), replay_(log, cluster), world_(log, cluster) {}

  LimitsResult Run(const std::function<void(size_t, size_t)>& progress) {
    const std::vector<LogEvent> events = EventsOf(log_);
    size_t done = 0;
    for (const LogEvent& event : events) {
      past_.Advance(event.time);
      if (event.kind == LogEventKind::kSubmit) Submit(event.job);
      if (event.kind == LogEventKind::kStart) past_.Started(log_.jobs[event.job].id, event.time);
      if (event.kind == LogEventKind::kEnd) past_.Ended(log_.jobs[event.job].id, event.time);
      if (event.kind == LogEventKind::kVanish) {
        past_.Vanished(log_.jobs[event.job].id, event.time);
      }
      replay_.Apply(event);
      if (++done % 64 == 0) progress(done, events.size());
    }
    return std::move(result_);
  }

 private:
  bool IsAsked(size_t index) const {
    const double place = static_cast<double>(index) / static_cast<double>(log_.jobs.size());
    const LogJob& job = log_.jobs[index];
    return place >= options_.from && place < options_.to && job.start && job.end &&
           job.limit_seconds.has_value() &&
           (options_.partition.empty() || options_.partition == job.partition) &&
           UniformOf(options_.seed, 1, index) < options_.sample;
  }

  void Submit(size_t index) {
    const LogJob& job = log_.jobs[index];
    SimulationOptions simulation;
    simulation.samples = options_.samples;
    simulation.seed = options_.seed;
    simulation.play_once_from = options_.play_once_from;
    const auto queue = ObserveAndPrepare(std::make_shared<const Snapshot>(replay_.At(job.eligible)),
                                         past_, simulation);
    const JobRequest request = RequestOf(job);
    const Submitter who = SubmitterOf(job);
    const auto start = StartOf(*queue, request, who);
    if (start && IsAsked(index)) Ask(index, *queue, request, who, *start);
    PastJob past;
    past.record = RecordOf(job);
    if (start && start->forecast) {
      past.forecast_record =
          std::make_shared<const ForecastRecord>(ForecastRecordOf(*start->forecast));
    }
    past_.Submitted(std::move(past));
    past_.arrivals.Arrived(replay_.Waiting(index), job.eligible);
  }

  void Ask(size_t index, const QueueModel& queue, const JobRequest& request, const Submitter& who,
           const StartSamples& start) {
    if (start.Quantile(.5) < kWorthSeconds) return;
    const LogJob& job = log_.jobs[index];
    const double run = static_cast<double>(*job.end - *job.start);
    const RunRisk risk = RiskFromHistory(&past_.run_times, RecordOf(job));
    ++result_.asked;
    result_.asked_wait += static_cast<double>(*job.start - job.eligible);
    if (!risk.longer_than) {
      ++result_.not_known;
      return;
    }
    const AskStart ask = [&](const JobRequest& other) { return StartOf(queue, other, who); };
    const LimitAdvice advice = AdviseLimit({queue.snapshot(), request, start, ask, risk});
    for (size_t i = 1; i < advice.points.size(); ++i) {
      const LimitPoint& point = advice.points[i];
      result_.risks.push_back({*point.risk, run > static_cast<double>(point.limit_seconds)});
    }
    if (!advice.best) return;
    const LimitPoint& best = advice.points[*advice.best];
    LimitCase one;
    one.job_id = job.id;
    one.own_limit = job.limit_seconds.value();
    one.limit = best.limit_seconds;
    one.promised = best.sooner;
    one.promised_low = best.sooner_low;
    one.promised_high = best.sooner_high;
    one.sure = IsSure(best);
    one.played = PlayedGain(start, best.start);
    one.risk = *best.risk;
    one.run = run;
    const auto waits = world_.WaitsOf(index, {one.own_limit, one.limit});
    if (!waits[0] || !waits[1]) return;
    one.own_wait = *waits[0];
    one.wait = *waits[1];
    one.came = one.own_wait - one.wait;
    result_.advised.push_back(one);
  }

  static double PlayedGain(const StartSamples& before, const StartSamples& after) {
    std::vector<double> gains;
    for (size_t i = 0; i < before.played_seconds.size(); ++i) {
      gains.push_back(static_cast<double>(before.played_seconds[i] - after.played_seconds[i]));
    }
    return UpperMedianOf(gains);
  }

  const JobLog& log_;
  const BackTestOptions& options_;
  Replay replay_;
  World world_;
  ForecastHistory past_;
  LimitsResult result_;
};

double ShareOf(int64_t part, size_t all) {
  return all == 0 ? 0 : static_cast<double>(part) / static_cast<double>(all);
}

// The most runs of `count` that are cut in 95 % of all cases where each is with its own risk: the
// mean and the variance of independent ones, by the normal distribution with continuity.
double MostCut(const std::vector<LimitCase>& cases) {
  double mean = 0, variance = 0;
  for (const LimitCase& one : cases) {
    mean += one.risk;
    variance += one.risk * (1 - one.risk);
  }
  return std::floor(mean + 1.645 * std::sqrt(variance) + 0.5);
}

struct LimitsSummary {
  double kept = 0, kept_played = 0, within_range = 0;
  int64_t cut = 0;
  double expected_cut = 0, most_cut = 0;
  double promised = 0, came = 0;  // medians
  double own_wait = 0, wait = 0;  // medians
  double mean_own_wait = 0, mean_wait = 0;
  double later = 0;  // share that started later than with their own limit
};

LimitsSummary LimitsSummaryOf(const std::vector<LimitCase>& cases) {
  LimitsSummary s;
  int64_t kept = 0, played = 0, within = 0, later = 0;
  std::vector<double> promised, came, own, wait;
  for (const LimitCase& one : cases) {
    kept += IsKept(one.promised, one.came) ? 1 : 0;
    played += IsKept(one.played, one.came) ? 1 : 0;
    within += one.came >= one.promised_low - 60 && one.came <= one.promised_high + 60 ? 1 : 0;
    later += one.came < -60 ? 1 : 0;
    s.cut += one.cut() ? 1 : 0;
    s.expected_cut += one.risk;
    promised.push_back(one.promised);
    came.push_back(one.came);
    own.push_back(one.own_wait);
    wait.push_back(one.wait);
    s.mean_own_wait += one.own_wait / static_cast<double>(cases.size());
    s.mean_wait += one.wait / static_cast<double>(cases.size());
  }
  s.kept = ShareOf(kept, cases.size());
  s.kept_played = ShareOf(played, cases.size());
  s.within_range = ShareOf(within, cases.size());
  s.later = ShareOf(later, cases.size());
  s.most_cut = MostCut(cases);
  s.promised = UpperMedianOf(promised);
  s.came = UpperMedianOf(came);
  s.own_wait = UpperMedianOf(own);
  s.wait = UpperMedianOf(wait);
  return s;
}

}  // namespace

LimitsResult RunLimits(const JobLog& log, const Snapshot& cluster, const BackTestOptions& options,
                       const std::function<void(size_t, size_t)>& progress) {
  return LimitsTest(log, cluster, options).Run(progress);
}

FollowedDay FollowEverybody(const JobLog& log, const Snapshot& cluster, const LimitsResult& told) {
  constexpr int kRounds = 3;  // those who are cut come again when they are, which moves others
  constexpr int64_t kAgainId = int64_t{1} << 41;
  std::unordered_map<int64_t, int64_t> limit_of;
  for (const LimitCase& one : told.advised) limit_of[one.job_id] = one.limit;
  std::unordered_map<int64_t, double> run;
  JobLog own;
  for (const LogJob& job : log.jobs) {
    if (!job.start || !job.end) continue;
    run[job.id] = static_cast<double>(*job.end - *job.start);
    own.jobs.push_back(job);
  }
  PlayLog(own, cluster, run);
  JobLog shorter = own;
  for (LogJob& job : shorter.jobs) {
    if (const auto limit = limit_of.find(job.id); limit != limit_of.end()) {
      job.limit_seconds = limit->second;
    }
  }
  const JobLog first = shorter;
  for (int round = 0; round < kRounds; ++round) {
    JobLog next = first;
    for (const LogJob& job : round == 0 ? std::vector<LogJob>() : shorter.jobs) {
      const auto limit = limit_of.find(job.id);
      if (limit == limit_of.end() || !job.end) continue;
      if (run[job.id] <= static_cast<double>(limit->second)) continue;
      LogJob again = job;
      again.id += kAgainId;
      again.submit = again.eligible = *job.end;
      run[again.id] = run[job.id];
      next.jobs.push_back(std::move(again));
    }
    for (LogJob& job : next.jobs) {
      if (job.id < kAgainId) continue;
      const auto before = std::find_if(own.jobs.begin(), own.jobs.end(), [&](const LogJob& each) {
        return each.id == job.id - kAgainId;
      });
      job.limit_seconds = before->limit_seconds;
    }
    FinishLog(next);
    PlayLog(next, cluster, run);
    shorter = std::move(next);
  }
  std::unordered_map<int64_t, const LogJob*> then;
  for (const LogJob& job : shorter.jobs) then[job.id] = &job;
  FollowedDay day;
  std::vector<double> own_waits, waits;
  int64_t others = 0;
  for (const LogJob& job : own.jobs) {
    const LogJob& with = *then.at(job.id);
    if (!job.start || !with.start) continue;
    const auto again = then.find(job.id + kAgainId);
    const LogJob& done = again == then.end() || !again->second->end ? with : *again->second;
    const auto own_wait = static_cast<double>(*job.start - job.eligible);
    const auto wait = static_cast<double>(*with.start - job.eligible);
    ++day.jobs;
    day.cut += again == then.end() ? 0 : 1;
    day.own_mean += own_wait;
    day.mean += wait;
    day.own_mean_to_result += static_cast<double>(*job.end - job.eligible);
    day.mean_to_result += static_cast<double>(*done.end - job.eligible);
    if (limit_of.contains(job.id)) {
      own_waits.push_back(own_wait);
      waits.push_back(wait);
    } else {
      ++others;
      day.own_mean_of_others += own_wait;
      day.mean_of_others += wait;
    }
  }
  day.followers = static_cast<int64_t>(waits.size());
  day.own_median = UpperMedianOf(own_waits);
  day.median = UpperMedianOf(waits);
  const auto all = static_cast<double>(std::max<int64_t>(day.jobs, 1));
  for (double* sum : {&day.own_mean, &day.mean, &day.own_mean_to_result, &day.mean_to_result}) {
    *sum /= all;
  }
  for (double* sum : {&day.own_mean_of_others, &day.mean_of_others}) {
    *sum /= static_cast<double>(std::max<int64_t>(others, 1));
  }
  return day;
}

std::string LimitsTable(const LimitsResult& result, const FollowedDay& followed) {
  const LimitsSummary s = LimitsSummaryOf(result.advised);
  const auto hours = [](double seconds) { return seconds / 3600; };
  std::string text = fmt::format(
      "{} would wait ten minutes or more; of {} the risk is not known; {} are told a shorter "
      "limit\n",
      Plural(result.asked, "job"), result.not_known, result.advised.size());
  text += fmt::format(
      "  promised {:.2f} h sooner, came {:.2f} h (medians); kept within 25 % or 5 min {:.2f}; "
      "inside p10-p90 {:.2f}; started later {:.2f}\n",
      hours(s.promised), hours(s.came), s.kept, s.within_range, s.later);
  text += fmt::format(
      "  wait of the advised: median {:.2f} h instead of {:.2f} h, mean {:.2f} h instead of {:.2f} "
      "h\n",
      hours(s.wait), hours(s.own_wait), hours(s.mean_wait), hours(s.mean_own_wait));
  int64_t sure = 0, sure_kept = 0;
  for (const LimitCase& one : result.advised) {
    sure += one.sure ? 1 : 0;
    sure_kept += one.sure && IsKept(one.promised, one.came) ? 1 : 0;
  }
  text += fmt::format("  {} of them were told one figure: {} of these promises kept\n", sure,
                      sure_kept);
  text += fmt::format(
      "  everybody follows: median wait of the {} who do {:.2f} h instead of {:.2f} h, mean wait "
      "of "
      "all {:.2f} h instead of {:.2f} h, of the others {:.2f} h instead of {:.2f} h; mean time to "
      "result {:.2f} h instead of {:.2f} h; cut off {}\n",
      followed.followers, hours(followed.median), hours(followed.own_median), hours(followed.mean),
      hours(followed.own_mean), hours(followed.mean_of_others), hours(followed.own_mean_of_others),
      hours(followed.mean_to_result), hours(followed.own_mean_to_result), followed.cut);
  text += fmt::format("  cut off {}, expected {:.1f}, at most {:.0f} by the stated risk (95 %)\n",
                      s.cut, s.expected_cut, s.most_cut);
  return text;
}

nlohmann::json LimitsJson(const LimitsResult& result, const FollowedDay& followed) {
  const LimitsSummary s = LimitsSummaryOf(result.advised);
  nlohmann::json cases = nlohmann::json::array();
  for (const LimitCase& one : result.advised) {
    cases.push_back({{"job_id", one.job_id},
                     {"own_limit", one.own_limit},
                     {"limit", one.limit},
                     {"promised", one.promised},
                     {"promised_low", one.promised_low},
                     {"promised_high", one.promised_high},
                     {"sure", one.sure},
                     {"played", one.played},
                     {"risk", one.risk},
                     {"came", one.came},
                     {"own_wait", one.own_wait},
                     {"wait", one.wait},
                     {"run", one.run}});
  }
  nlohmann::json risks = nlohmann::json::array();
  for (const RiskCase& one : result.risks) risks.push_back({one.risk, one.longer});
  return {{"asked", result.asked},
          {"not_known", result.not_known},
          {"advised", result.advised.size()},
          {"kept", s.kept},
          {"kept_by_samples", s.kept_played},
          {"inside_p10_p90", s.within_range},
          {"median_promised", s.promised},
          {"median_came", s.came},
          {"median_wait", s.wait},
          {"median_own_wait", s.own_wait},
          {"mean_wait", s.mean_wait},
          {"mean_own_wait", s.mean_own_wait},
          {"cut", s.cut},
          {"expected_cut", s.expected_cut},
          {"most_cut", s.most_cut},
          {"everybody",
           {{"jobs", followed.jobs},
            {"followers", followed.followers},
            {"cut", followed.cut},
            {"own_median", followed.own_median},
            {"median", followed.median},
            {"own_mean", followed.own_mean},
            {"mean", followed.mean},
            {"own_mean_of_others", followed.own_mean_of_others},
            {"mean_of_others", followed.mean_of_others},
            {"own_mean_to_result", followed.own_mean_to_result},
            {"mean_to_result", followed.mean_to_result}}},
          {"cases", std::move(cases)},
          {"risks", std::move(risks)}};
}

}  // namespace gpuadvise::backtest
