// What the dashboard's requests cost on a made cluster of 10,000 nodes and 50,000 jobs, as the
// daemon answers them: the queue is played once a snapshot, then asked.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "bench/made_cluster.h"
#include "common/forecast/live_forecast.h"
#include "common/forecast/queue_starts.h"
#include "common/history/forecast_history.h"
#include "daemon/answers/views.h"
#include "daemon/settings/catalogues.h"

namespace gpuadvise {

using namespace daemon;
namespace {

constexpr int kSamples = 16;
const Submitter kNobody;

// REQUIRES: the shipped files are right; ends the program with the sentence when they are not.
std::shared_ptr<const Catalogues> KnowledgeOrExit() {
  auto catalogues = LoadCatalogues(Settings{});
  if (catalogues) return *catalogues;
  std::cerr << "views_bench: " << catalogues.error().message << '\n';
  std::exit(1);
}

struct Site {
  std::shared_ptr<const Snapshot> snapshot = std::make_shared<const Snapshot>(MadeCluster({}, 3));
  ForecastHistory past = MadePast(*snapshot, 4);
  std::shared_ptr<const Catalogues> catalogues = KnowledgeOrExit();
  std::shared_ptr<const QueueModel> queue;
  QueueStarts starts;

  Site() {
    SimulationOptions options;
    options.samples = kSamples;
    options.horizon_seconds = int64_t{7} * 86'400;
    options.simulate_once_from = kLongQueue;
    queue = PrepareQueue(snapshot, past, options);
    starts = StartsInQueue(*queue);
  }

  AdviceContext DaemonState() const {
    return {*snapshot, *queue, *queue, catalogues->gpus, catalogues->models};
  }
};

const Site& MadeSite() {
  static const Site site;
  return site;
}

void BM_StartsInPlayedQueue(benchmark::State& state) {
  const Site& site = MadeSite();
  for (auto _ : state) benchmark::DoNotOptimize(StartsInQueue(*site.queue));
}
BENCHMARK(BM_StartsInPlayedQueue)->Unit(benchmark::kMillisecond)->Iterations(1);

void BM_AnswerWaits(benchmark::State& state) {
  const Site& site = MadeSite();
  for (auto _ : state) benchmark::DoNotOptimize(AnswerWaits(site.DaemonState(), kNobody));
}
BENCHMARK(BM_AnswerWaits)->Unit(benchmark::kMillisecond);

void BM_AnswerNodes(benchmark::State& state) {
  const Site& site = MadeSite();
  NodesFilter filter;
  filter.limit = static_cast<size_t>(state.range(0));
  for (auto _ : state) {
    benchmark::DoNotOptimize(AnswerNodes(filter, site.DaemonState(), site.starts, kNobody));
  }
}
BENCHMARK(BM_AnswerNodes)->Unit(benchmark::kMillisecond)->ArgName("limit")->Arg(200)->Arg(1'000);

void BM_AnswerQueue(benchmark::State& state) {
  const Site& site = MadeSite();
  QueueFilter filter;
  filter.limit = static_cast<size_t>(state.range(0));
  for (auto _ : state) {
    benchmark::DoNotOptimize(AnswerQueue(filter, site.DaemonState(), site.starts, kNobody));
  }
}
BENCHMARK(BM_AnswerQueue)->Unit(benchmark::kMillisecond)->ArgName("limit")->Arg(100)->Arg(10'000);

}  // namespace
}  // namespace gpuadvise

BENCHMARK_MAIN();
