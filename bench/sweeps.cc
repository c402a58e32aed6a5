// Does a sweep's plan end first? (docs/forecast.md, "Sweeps")
//
//     cmake --build --preset release --target sweeps
//     build/release/bin/sweeps CLUSTER.yaml LOG.csv.gz|DAY.workload.csv [MOMENTS [RUNS
//     [ALTERNATIVES]]]
//         [--rows] [--courtesy 0…1]
//
// Sweeps of RUNS runs of one GPU each are put into a day at random moments. The plan that is made
// of what is known then is played on with the run times that everybody really had, and its makespan
// compared with that of all runs on each type alone, and with that of a planner that knows the
// future: the same one, with the true run times and arrivals. What the plan costs others is how
// much later their jobs start in that truth.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "bench/forked_day.h"
#include "common/advise/sweep_plan.h"
#include "common/base/job_random.h"
#include "common/base/statistics.h"
#include "common/forecast/array_starts.h"
#include "common/gpu/gpu_catalogue.h"

namespace gpuadvise::backtest {
namespace {

constexpr const char* kOneGpu = "gpu4090:1=1,gpul40s:1=0.9,gpu2080:1=2.2,gpu4070:1=1.6";
constexpr double kLeastShare = 0.2;          // of the hours
constexpr double kFollowedSeconds = 86'400;  // in which jobs of others arrive whose delay counts

// Strategies that stand for the alternatives at one moment.
class Strategies {
 public:
  Strategies(const QueueModel& queue, const std::vector<Alternative>& alternatives,
             const Moment& moment)
      : pools_(alternatives.size()) {
    Submitter who;
    who.user = moment.user;
    for (size_t i = 0; i < alternatives.size(); ++i) {
      const Alternative& alternative = alternatives[i];
      GpuPool& pool = pools_[i];
      for (const Partition& partition : queue.snapshot().partitions) {
        if (partition.name == alternative.partition) pool.partition = &partition;
      }
      for (const Node& node : queue.snapshot().nodes) {
        for (const GpuCount& count : node.gpus) {
          if (count.type != alternative.gpu) continue;
          pool.nodes.push_back(&node);
          pool.usable_gpus += count.count;
        }
      }
      Strategy strategy;
      const double seconds = SecondsOf(alternative, moment);
      strategy.placement.pool = &pool;
      strategy.placement.gpus_per_node = alternative.gpus;
      strategy.run = {seconds, seconds, seconds, seconds};
      strategy.request = RequestOf(alternative, seconds);
      auto start = StartOf(queue, strategy.request, who);
      if (!start) continue;
      strategy.start = std::move(*start);
      AddTotal(strategy);
      all.push_back(std::move(strategy));
      which.push_back(i);
    }
  }

  std::vector<Strategy> all;
  std::vector<size_t> which;  // alternative of each

 private:
  std::vector<GpuPool> pools_;
};

struct SweepCase {
  double plan = 0, said_p50 = 0, said_p90 = 0, single = 0, chosen_single = 0, clairvoyant = 0;
  size_t arrays = 0;
  double others_seconds = 0, others_jobs = 0;
};

// Seconds until the last of `counts` runs of the strategies ends in truth. `others`: what they cost
// others; null: not wanted.
double PlayedOn(const QueueModel& truth, int64_t priority, const std::vector<Strategy>& strategies,
                const std::vector<int64_t>& counts, const Submitter& who,
                CausedDelay* others = nullptr) {
  StartSamples place;
  place.priority = priority;
  std::vector<PlayedArray> arrays;
  std::vector<double> runs;
  for (size_t i = 0; i < strategies.size(); ++i) {
    if (counts[i] == 0) continue;
    arrays.push_back(
        {strategies[i].request, place, who, ArrayShape{counts[i], 0}, strategies[i].run.p50});
    runs.push_back(strategies[i].run.p50);
  }
  std::vector<int64_t> tasks;
  for (const PlayedArray& array : arrays) tasks.push_back(array.shape.tasks);
  const PlayedArrays played(truth, arrays);
  const auto samples = played.Play(tasks);
  double last = 0;
  for (size_t i = 0; i < arrays.size(); ++i) {
    const TaskStarts& starts = samples.front()[i];
    if (static_cast<int64_t>(starts.size()) < arrays[i].shape.tasks) return 30 * 86'400.0;
    last = std::max(last, static_cast<double>(starts.back()) + runs[i]);
  }
  if (others != nullptr) *others = played.DelayOf(tasks, kFollowedSeconds).value_or(CausedDelay());
  return last;
}

std::vector<int64_t> CountsOf(const SweepPlan& plan, size_t strategies) {
  std::vector<int64_t> counts(strategies, 0);
  for (const SweepShare& share : plan.shares) counts[share.strategy] = share.members;
  return counts;
}

std::vector<SweepCase> CasesOf(const LoggedDay& logged, const std::vector<Moment>& moments,
                               int64_t runs, const std::vector<Alternative>& alternatives,
                               double courtesy) {
  ForkedDay day(logged);
  const GpuCatalogue catalogue;
  const GpuNaming naming(catalogue, {});
  const ModelPresets models;
  std::vector<SweepCase> cases;
  day.Visit(moments, [&](size_t i) {
    const Moment& moment = moments[i];
    Submitter who;
    who.user = moment.user;
    const auto queue = day.QueueAt(moment.time);
    Strategies strategies(*queue, alternatives, moment);
    if (strategies.all.size() < 2) return;
    AdviceContext context{queue->snapshot(), *queue, *queue, naming, models};
    context.courtesy = courtesy;
    const auto plan = PlanSweep(context, who, strategies.all, {runs, 0});
    if (!plan) return;
    const auto truth = day.TruthAt(moment.time);
    const int64_t priority = day.PriorityAt(moment.time);
    SweepCase one;
    const auto play = [&](const std::vector<int64_t>& counts) {
      return PlayedOn(*truth, priority, strategies.all, counts, who);
    };
    CausedDelay others;
    one.plan = PlayedOn(*truth, priority, strategies.all, CountsOf(*plan, strategies.all.size()),
                        who, &others);
    one.others_seconds = others.seconds;
    one.others_jobs = others.jobs;
    one.said_p50 = plan->makespan.p50;
    one.said_p90 = plan->makespan.p90;
    one.arrays = plan->shares.size();
    one.single = 1e18;
    for (size_t s = 0; s < strategies.all.size(); ++s) {
      std::vector<int64_t> counts(strategies.all.size(), 0);
      counts[s] = runs;
      const double alone = play(counts);
      one.single = std::min(one.single, alone);
      if (s == plan->single) one.chosen_single = alone;
    }
    Strategies known = strategies;
    for (Strategy& strategy : known.all) {
      strategy.start = StartSamples();
      strategy.start.wait_seconds = strategy.start.simulated_wait_seconds = {0};
      strategy.start.priority = priority;
      strategy.start.partition = strategy.request.partitions.front();
    }
    const AdviceContext future{truth->snapshot(), *truth, *truth, naming, models};
    const auto best = PlanSweep(future, who, known.all, {runs, 0});
    one.clairvoyant =
        std::min({one.plan, one.single, best ? play(CountsOf(*best, known.all.size())) : 1e18});
    cases.push_back(one);
  });
  return cases;
}

void Print(const std::vector<SweepCase>& cases, int64_t runs, bool rows) {
  double plan = 0, single = 0, chosen = 0, best = 0, others = 0, delayed = 0;
  std::vector<double> ratios, to_single;
  int64_t within = 0, inside = 0;
  for (const SweepCase& one : cases) {
    if (rows) {
      fmt::print(
          "  {:6.2f} h, said {:.2f} ({:.2f}), {} arrays; one type {:.2f} (chosen {:.2f}); "
          "clairvoyant {:.2f}\n",
          one.plan / 3600, one.said_p50 / 3600, one.said_p90 / 3600, one.arrays, one.single / 3600,
          one.chosen_single / 3600, one.clairvoyant / 3600);
    }
    plan += one.plan;
    single += one.single;
    chosen += one.chosen_single;
    best += one.clairvoyant;
    others += one.others_seconds;
    delayed += one.others_jobs;
    ratios.push_back(one.plan / one.clairvoyant);
    to_single.push_back(one.plan / one.single);
    within += one.plan <= 1.15 * one.clairvoyant ? 1 : 0;
    inside += one.plan <= one.said_p90 ? 1 : 0;
  }
  const auto count = static_cast<double>(std::max<size_t>(cases.size(), 1));
  std::sort(to_single.begin(), to_single.end());
  fmt::print(
      "{} sweeps of {} runs: makespan {:.2f} h; best type alone {:.2f} (chosen by the forecast "
      "{:.2f}), knowing the future {:.2f}\n"
      "  over the clairvoyant split {:.2f}, median {:.2f}, within 1.15 {:.0f} %; over the best "
      "type {:.2f}, median {:.2f}; p90 held {:.0f} %; {:.1f} jobs of others {:.2f} h later in "
      "all\n",
      cases.size(), runs, plan / count / 3600, single / count / 3600, chosen / count / 3600,
      best / count / 3600, plan / best, UpperMedian(ratios),
      100 * static_cast<double>(within) / count, plan / single,
      to_single.empty() ? 0 : to_single[to_single.size() / 2],
      100 * static_cast<double>(inside) / count, delayed / count, others / count / 3600);
}

int Fail(const std::string& message) {
  fmt::print(stderr, "sweeps: {}\n", message);
  return 1;
}

int Run(std::vector<std::string> arguments) {
  const bool rows = std::erase(arguments, "--rows") > 0;
  double courtesy = 0;
  const auto option = std::find(arguments.begin(), arguments.end(), "--courtesy");
  if (option != arguments.end() && option + 1 != arguments.end()) {
    courtesy = std::stod(option[1]);
    arguments.erase(option, option + 2);
  }
  if (arguments.size() < 2) return Fail("CLUSTER.yaml LOG [MOMENTS [RUNS [ALTERNATIVES]]]");
  const auto day = LoadDay(arguments[0], arguments[1]);
  if (!day) return Fail(day.error().message);
  const size_t moments = arguments.size() > 2 ? std::stoul(arguments[2]) : 40;
  const int64_t runs = arguments.size() > 3 ? std::stoll(arguments[3]) : 80;
  const auto alternatives =
      AlternativesOf(arguments.size() > 4 ? arguments[4] : kOneGpu, day->cluster);
  if (alternatives.size() < 2) return Fail("fewer than two alternatives can run on the cluster");
  Print(CasesOf(*day, MomentsOf(day->log, moments, kLeastShare), runs, alternatives, courtesy),
        runs, rows);
  return 0;
}

}  // namespace
}  // namespace gpuadvise::backtest

int main(int argc, char** argv) { return gpuadvise::backtest::Run({argv + 1, argv + argc}); }
