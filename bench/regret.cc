// What does choosing by the forecast cost? (docs/forecast.md, "Regret")
//
//     cmake --build --preset release --target regret
//     build/release/bin/regret CLUSTER.yaml LOG.csv.gz|DAY.workload.csv [MOMENTS [ALTERNATIVES]]
//
// Training jobs that could run on several kinds of GPU are put into a day at random moments. Every
// alternative is then played on with the run times that everybody really had, and the time to
// result of the one that a chooser takes is compared with that of the best. ALTERNATIVES:
// GPU:COUNT=HOURS,...
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "backtest/cluster_file.h"
#include "backtest/job_log.h"
#include "backtest/replay.h"
#include "backtest/workload.h"
#include "common/base/job_random.h"
#include "common/base/ranked_end.h"
#include "common/base/text.h"
#include "common/forecast/start_of.h"
#include "common/history/forecast_history.h"
#include "common/scheduler/queue_model.h"
#include "common/scheduler/simulation.h"
#include "common/yaml/yaml_file.h"

namespace gpuadvise::backtest {
namespace {

// One way to run the training.
struct Alternative {
  std::string gpu;
  int64_t gpus = 1;  // on one node
  double hours = 1;  // of the whole training
  std::string partition;
};

// 10,000 steps of Isaac-GR00T as its team's guide measured them: the middle of its ranges.
constexpr const char* kGrootAlternatives = "gpu4090:4=11,gpul40s:6=8,gpu2080:4=21";

// Who chooses: the product; the least run time; the largest share of free GPUs; backfill's plan at
// the limits; who is free now counts as no wait, and else the least run time.
constexpr size_t kChoosers = 5;
constexpr std::array<const char*, kChoosers> kChooserNames = {"product", "fastest_gpu", "most_idle",
                                                              "limit_plan", "zero_wait"};
enum Chooser : size_t { kProduct, kFastestGpu, kMostIdle, kLimitPlan, kZeroWait };

constexpr int kSamples = 24;
constexpr uint64_t kSeed = 1;
constexpr double kLeastShare = 0.05;  // of the training: 500 of 10,000 steps
constexpr double kLimitMargin = 1.2;  // time limit over run time, as advice sets it
constexpr double kNever30Days = 30 * 86'400;
constexpr UnixSeconds kBlock = 2 * 3'600;  // of the bootstrap: what lies closer is one event
constexpr int kBootstraps = 2'000;
enum Draw : uint64_t { kMoment = 1, kShare, kUser, kResample };

struct Moment {
  UnixSeconds time = 0;
  double share = 1;  // of the whole training
  std::string user;
};

// One training job at one moment; times in seconds.
struct RankingCase {
  UnixSeconds time = 0;
  std::vector<double> to_result;  // by alternative, as it would really have gone
  std::array<size_t, kChoosers> chosen{};
};

double SecondsOf(const Alternative& alternative, const Moment& moment) {
  return std::max(alternative.hours * 3600 * moment.share, 60.0);
}

JobRequest RequestOf(const Alternative& alternative, double seconds) {
  JobRequest request;
  request.partitions = {alternative.partition};
  request.nodes_min = 1;
  request.tasks = 1;
  request.cpus_per_task = alternative.gpus;
  request.cpus = alternative.gpus;
  request.gpus_per_node = {{alternative.gpu, alternative.gpus}};
  request.time_limit_seconds = std::llround(std::ceil(seconds * kLimitMargin / 60) * 60);
  return request;
}

// After a tenth of the day, so that there is some history; by submitters in their frequency.
std::vector<Moment> MomentsOf(const JobLog& log, size_t count) {
  const auto first = static_cast<double>(log.jobs.front().eligible);
  const auto last = static_cast<double>(log.jobs.back().eligible);
  std::vector<Moment> moments;
  for (size_t i = 0; i < count; ++i) {
    Moment moment;
    const double at = 0.1 + 0.9 * DrawUniform(kSeed, kMoment, i);
    moment.time = std::llround(first + at * (last - first));
    moment.share = std::pow(kLeastShare, DrawUniform(kSeed, kShare, i));
    const auto before = std::count_if(log.jobs.begin(), log.jobs.end(), [&](const LogJob& job) {
      return job.eligible <= moment.time;
    });
    const double user = DrawUniform(kSeed, kUser, i) * static_cast<double>(before);
    moment.user = log.jobs[static_cast<size_t>(user)].user;
    moments.push_back(std::move(moment));
  }
  std::sort(moments.begin(), moments.end(),
            [](const Moment& a, const Moment& b) { return a.time < b.time; });
  return moments;
}

// What the choosers know of one alternative.
struct Known {
  double run = 0;
  double forecast = 0;    // median wait by the product, by which it ranks
  double limit_plan = 0;  // wait by the plan
  bool free = false;
  double free_share = 0;
};

Known KnownOf(const QueueModel& queue, const Alternative& alternative, const Moment& moment) {
  Known known{SecondsOf(alternative, moment), kNever30Days, kNever30Days, false, 0};
  Submitter who;
  who.user = moment.user;
  auto simulated = SimulateStart(queue, RequestOf(alternative, known.run), who);
  if (!simulated) return known;
  known.limit_plan = simulated->wait.plan_limits_seconds;
  known.free = simulated->wait.free_now;
  known.free_share = simulated->wait.free_share;
  const StartSamples start = StartFrom(queue, std::move(*simulated));
  known.forecast = RankedEnd(start.Quantile(.5), start.Quantile(.9));
  return known;
}

template <class Cost>
size_t Cheapest(const std::vector<Known>& all, Cost cost) {
  size_t best = 0;
  for (size_t i = 1; i < all.size(); ++i) {
    if (cost(all[i]) < cost(all[best])) best = i;
  }
  return best;
}

std::array<size_t, kChoosers> Choose(const std::vector<Known>& all) {
  std::array<size_t, kChoosers> chosen{};
  chosen[kProduct] = Cheapest(all, [](const Known& k) { return k.forecast + k.run; });
  chosen[kFastestGpu] = Cheapest(all, [](const Known& k) { return k.run; });
  chosen[kMostIdle] = Cheapest(all, [](const Known& k) { return std::pair(-k.free_share, k.run); });
  chosen[kLimitPlan] = Cheapest(all, [](const Known& k) { return k.limit_plan + k.run; });
  chosen[kZeroWait] = Cheapest(all, [](const Known& k) { return std::pair(!k.free, k.run); });
  return chosen;
}

// One day, replayed with what was known at each moment, and played on from there.
class Day {
 public:
  Day(const JobLog& log, const Snapshot& cluster) : log_(log), replay_(log, cluster) {
    for (const LogJob& job : log.jobs) {
      if (job.start && job.end) run_seconds_[job.id] = static_cast<double>(*job.end - *job.start);
    }
  }

  std::vector<RankingCase> Cases(const std::vector<Moment>& moments,
                                 const std::vector<Alternative>& alternatives) {
    std::vector<RankingCase> cases;
    for (const LogEvent& event : ListEvents(log_)) {
      for (; cases.size() < moments.size() && moments[cases.size()].time < event.time;) {
        cases.push_back(CaseAt(moments[cases.size()], alternatives));
      }
      Learn(event);
    }
    return cases;
  }

 private:
  std::shared_ptr<const QueueModel> QueueAt(UnixSeconds now) {
    SimulationOptions simulation;
    simulation.samples = kSamples;
    simulation.seed = kSeed;
    return ObserveAndPrepare(std::make_shared<const Snapshot>(replay_.At(now)), past_, simulation);
  }

  RankingCase CaseAt(const Moment& moment, const std::vector<Alternative>& alternatives) {
    const auto queue = QueueAt(moment.time);
    RankingCase one{moment.time, {}, {}};
    std::vector<Known> known;
    for (const Alternative& alternative : alternatives) {
      known.push_back(KnownOf(*queue, alternative, moment));
      const auto wait = RealWait(alternative, moment);
      one.to_result.push_back(wait.value_or(kNever30Days) + known.back().run);
    }
    one.chosen = Choose(known);
    return one;
  }

  void Learn(const LogEvent& event) {
    const LogJob& job = log_.jobs[event.job];
    past_.Advance(event.time);
    if (event.kind == LogEventKind::kSubmit) {
      past_.Submitted(SubmissionWithForecast(job, *QueueAt(event.time)));
      past_.arrivals.Arrived(replay_.Waiting(event.job), event.time);
    }
    if (event.kind == LogEventKind::kStart) past_.Started(job.id, event.time);
    if (event.kind == LogEventKind::kEnd) past_.Ended(job.id, event.time);
    if (event.kind == LogEventKind::kVanish) past_.Vanished(job.id, event.time);
    replay_.Apply(event);
  }

  // The day as it would have gone on, with those alone who ran in truth.
  Snapshot ForkAt(UnixSeconds now) const {
    Snapshot state = replay_.At(now);
    std::erase_if(state.jobs, [&](const Job& job) {
      return job.state == JobState::kPending && !run_seconds_.contains(job.id);
    });
    for (size_t i = 0; i < log_.jobs.size(); ++i) {
      const LogJob& job = log_.jobs[i];
      if (job.eligible > now && run_seconds_.contains(job.id)) {
        state.jobs.push_back(replay_.Waiting(i));
      }
    }
    return state;
  }

  // Seconds until the alternative would have started; nullopt: not within 30 days.
  std::optional<double> RealWait(const Alternative& alternative, const Moment& moment) const {
    constexpr int64_t kId = int64_t{1} << 40;
    Snapshot state = ForkAt(moment.time);
    auto run_seconds = run_seconds_;
    run_seconds[kId] = SecondsOf(alternative, moment);
    Job job;
    job.id = kId;
    job.user = moment.user;
    job.request = RequestOf(alternative, run_seconds[kId]);
    job.submit_time = moment.time;
    job.eligible_time = moment.time;
    job.reason = "Priority";
    // Behind everybody submitted before, ahead of everybody after: priority falls from job to job.
    const auto later =
        std::upper_bound(log_.jobs.begin(), log_.jobs.end(), moment.time,
                         [](UnixSeconds time, const LogJob& each) { return time < each.eligible; });
    const auto before = static_cast<size_t>(later - log_.jobs.begin());
    job.priority = replay_.Waiting(before == 0 ? 0 : before - 1).priority;
    state.jobs.push_back(job);
    SimulationOptions options;
    options.samples = 1;
    options.known_run_times = &run_seconds;
    ForecastHistory nothing;
    const auto queue =
        ObserveAndPrepare(std::make_shared<const Snapshot>(std::move(state)), nothing, options);
    for (const SimulatedJob& one : SimulateQueue(*queue, 0)) {
      if (queue->pending()[one.pending].id == kId) return static_cast<double>(one.start);
    }
    return std::nullopt;
  }

  const JobLog& log_;
  Replay replay_;
  ForecastHistory past_;
  std::unordered_map<int64_t, double> run_seconds_;
};

double BestOf(const RankingCase& one) {
  return *std::min_element(one.to_result.begin(), one.to_result.end());
}

double RegretOf(const RankingCase& one, size_t chooser) {
  const double best = BestOf(one);
  return one.to_result[one.chosen[chooser]] / best - 1;
}

struct Summary {
  double mean = 0, low = 0, high = 0;  // regret, with a 95 % interval
  double best_chosen = 0;              // share
  double mean_seconds = 0;             // to result
};

// Mean and its interval by resampling blocks of two hours.
Summary SummaryOf(const std::vector<RankingCase>& cases, size_t chooser) {
  std::map<UnixSeconds, std::pair<double, double>> by_block;  // sum, count
  Summary summary;
  for (const RankingCase& one : cases) {
    const double regret = RegretOf(one, chooser);
    auto& [sum, count] = by_block[one.time / kBlock];
    sum += regret;
    count += 1;
    const double seconds = one.to_result[one.chosen[chooser]];
    summary.mean += regret;
    summary.best_chosen += seconds <= BestOf(one) ? 1 : 0;
    summary.mean_seconds += seconds;
  }
  const auto count = static_cast<double>(std::max<size_t>(cases.size(), 1));
  summary.mean /= count;
  summary.best_chosen /= count;
  summary.mean_seconds /= count;
  std::vector<std::pair<double, double>> blocks;
  for (const auto& [key, block] : by_block) blocks.push_back(block);
  std::vector<double> means;
  for (int round = 0; round < kBootstraps && !blocks.empty(); ++round) {
    double sum = 0;
    double drawn = 0;
    for (size_t i = 0; i < blocks.size(); ++i) {
      const double at = DrawUniform(static_cast<uint64_t>(round), kResample, i);
      const auto& block = blocks[static_cast<size_t>(at * static_cast<double>(blocks.size()))];
      sum += block.first;
      drawn += block.second;
    }
    means.push_back(sum / drawn);
  }
  if (means.empty()) return summary;
  std::sort(means.begin(), means.end());
  summary.low = means[means.size() / 40];
  summary.high = means[means.size() - 1 - means.size() / 40];
  return summary;
}

std::vector<Alternative> AlternativesOf(const std::string& text, const Snapshot& cluster) {
  std::vector<Alternative> all;
  for (const std::string_view part : SplitAt(text, ',')) {
    const std::string word(part);
    const size_t colon = word.find(':'), equals = word.find('=');
    if (colon == std::string::npos || equals == std::string::npos) continue;
    Alternative one{word.substr(0, colon), std::atoll(word.c_str() + colon + 1),
                    std::atof(word.c_str() + equals + 1), ""};
    one.partition = PartitionWith(cluster, one.gpu, one.gpus);
    if (!one.partition.empty() && one.hours > 0) all.push_back(std::move(one));
  }
  return all;
}

void Print(const std::vector<RankingCase>& cases) {
  fmt::print("{} training jobs\n  {:<13}{:>12}  {:<18}{:>12}  {:>16}\n", cases.size(), "",
             "mean regret", "95 % interval", "best chosen", "mean to result");
  for (size_t k = 0; k < kChoosers; ++k) {
    const Summary s = SummaryOf(cases, k);
    fmt::print("  {:<13}{:>10.1f} %  {:<18}{:>10.1f} %  {:>14.2f} h\n", kChooserNames[k],
               100 * s.mean, fmt::format("{:.1f} to {:.1f} %", 100 * s.low, 100 * s.high),
               100 * s.best_chosen, s.mean_seconds / 3600);
  }
}

int Fail(const std::string& message) {
  fmt::print(stderr, "regret: {}\n", message);
  return 1;
}

int Run(const std::vector<std::string>& arguments) {
  if (arguments.size() < 2) return Fail("CLUSTER.yaml LOG [MOMENTS [ALTERNATIVES]]");
  const auto document = LoadYamlFile(arguments[0]);
  if (!document) return Fail(document.error().message);
  const auto cluster = ClusterOf(*document);
  if (!cluster) return Fail(cluster.error().message);
  const auto text = ReadLogFile(arguments[1]);
  if (!text) return Fail(text.error().message);
  const auto log = arguments[1].ends_with(".workload.csv")
                       ? SimulateWorkload(text->text, arguments[1], *cluster)
                       : ParseCsvLog(text->text, arguments[1]);
  if (!log) return Fail(log.error().message);
  const size_t moments = arguments.size() > 2 ? std::stoul(arguments[2]) : 200;
  const auto alternatives =
      AlternativesOf(arguments.size() > 3 ? arguments[3] : kGrootAlternatives, *cluster);
  if (alternatives.size() < 2) return Fail("fewer than two alternatives can run on the cluster");
  Print(Day(*log, *cluster).Cases(MomentsOf(*log, moments), alternatives));
  return 0;
}

}  // namespace
}  // namespace gpuadvise::backtest

int main(int argc, char** argv) { return gpuadvise::backtest::Run({argv + 1, argv + argc}); }
