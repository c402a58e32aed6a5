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
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/forked_day.h"
#include "common/base/job_random.h"
#include "common/base/ranked_end.h"
#include "common/forecast/array_starts.h"
#include "common/forecast/start_of.h"
#include "common/history/forecast_history.h"
#include "common/scheduler/queue_model.h"

namespace gpuadvise::backtest {
namespace {

// 10,000 steps of Isaac-GR00T as its team's guide measured them: the middle of its ranges.
constexpr const char* kGrootAlternatives = "gpu4090:4=11,gpul40s:6=8,gpu2080:4=21";

// Who chooses: the product; the least run time; the largest share of free GPUs; backfill's plan at
// the limits; who is free now counts as no wait, and else the least run time.
constexpr size_t kChoosers = 5;
constexpr std::array<const char*, kChoosers> kChooserNames = {"product", "fastest_gpu", "most_idle",
                                                              "limit_plan", "zero_wait"};
enum Chooser : size_t { kProduct, kFastestGpu, kMostIdle, kLimitPlan, kZeroWait };

constexpr double kLeastShare = 0.05;  // of the training: 500 of 10,000 steps
constexpr double kNever30Days = 30 * 86'400;
constexpr UnixSeconds kBlock = 2 * 3'600;  // of the bootstrap: what lies closer is one event
constexpr int kBootstraps = 2'000;
constexpr uint64_t kResample = 4;

// One training job at one moment; times in seconds.
struct RankingCase {
  UnixSeconds time = 0;
  std::vector<double> to_result;  // by alternative, as it would really have gone
  std::array<size_t, kChoosers> chosen{};
};

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

// Seconds until the alternative would have started; nullopt: not within 30 days.
std::optional<double> RealWait(ForkedDay& day, const Alternative& alternative,
                               const Moment& moment) {
  const double seconds = SecondsOf(alternative, moment);
  const JobRequest request = RequestOf(alternative, seconds);
  StartSamples place;
  place.priority = day.PriorityAt(moment.time);
  place.partition = alternative.partition;
  Submitter who;
  who.user = moment.user;
  const PlayedArray one{request, place, who, ArrayShape{1, 0}, seconds};
  const auto samples = PlayArrays(*day.TruthAt(moment.time), {one});
  const TaskStarts& starts = samples.front().front();
  if (starts.empty()) return std::nullopt;
  return static_cast<double>(starts.front());
}

std::vector<RankingCase> CasesOf(const LoggedDay& logged, const std::vector<Moment>& moments,
                                 const std::vector<Alternative>& alternatives) {
  ForkedDay day(logged);
  std::vector<RankingCase> cases;
  day.Visit(moments, [&](size_t i) {
    const Moment& moment = moments[i];
    const auto queue = day.QueueAt(moment.time);
    RankingCase one{moment.time, {}, {}};
    std::vector<Known> known;
    for (const Alternative& alternative : alternatives) {
      known.push_back(KnownOf(*queue, alternative, moment));
      const auto wait = RealWait(day, alternative, moment);
      one.to_result.push_back(wait.value_or(kNever30Days) + known.back().run);
    }
    one.chosen = Choose(known);
    cases.push_back(std::move(one));
  });
  return cases;
}

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
  const auto day = LoadDay(arguments[0], arguments[1]);
  if (!day) return Fail(day.error().message);
  const size_t moments = arguments.size() > 2 ? std::stoul(arguments[2]) : 200;
  const auto alternatives =
      AlternativesOf(arguments.size() > 3 ? arguments[3] : kGrootAlternatives, day->cluster);
  if (alternatives.size() < 2) return Fail("fewer than two alternatives can run on the cluster");
  Print(CasesOf(*day, MomentsOf(day->log, moments, kLeastShare), alternatives));
  return 0;
}

}  // namespace
}  // namespace gpuadvise::backtest

int main(int argc, char** argv) { return gpuadvise::backtest::Run({argv + 1, argv + argc}); }
