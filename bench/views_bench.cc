// What the dashboard's requests cost on a made cluster of 10,000 nodes and 50,000 jobs, as the
// daemon answers them: the queue is played once a snapshot, then asked.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "bench/made_cluster.h"
#include "common/answer_nodes.h"
#include "common/answer_queue.h"
#include "common/answer_waits.h"
#include "common/live_forecast.h"
#include "common/past.h"
#include "common/queue_starts.h"
#include "daemon/knowledge.h"

namespace gpuadvise {
namespace {

constexpr int kSamples = 16;
const Submitter kNobody;

/// REQUIRES: the shipped files are right; ends the program with the sentence when they are not.
std::shared_ptr<const Knowledge> KnowledgeOrExit() {
  auto knowledge = LoadKnowledge(Settings{});
  if (knowledge) return *knowledge;
  std::cerr << "views_bench: " << knowledge.error().message << '\n';
  std::exit(1);
}

struct Site {
  std::shared_ptr<const Snapshot> snapshot = std::make_shared<const Snapshot>(MadeCluster({}, 3));
  Past past = MadePast(*snapshot, 4);
  std::shared_ptr<const Knowledge> knowledge = KnowledgeOrExit();
  std::shared_ptr<const QueueModel> queue;
  QueueStarts starts;

  Site() {
    SimulationOptions options;
    options.samples = kSamples;
    options.horizon_seconds = int64_t{7} * 86'400;
    options.play_once_from = kLongQueue;
    queue = PrepareQueue(snapshot, past, options);
    starts = StartsInQueue(*queue);
  }

  ClusterView View() const {
    return {*snapshot, *queue, *queue, knowledge->gpus, knowledge->models};
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
  for (auto _ : state) benchmark::DoNotOptimize(AnswerWaits(site.View(), kNobody));
}
BENCHMARK(BM_AnswerWaits)->Unit(benchmark::kMillisecond);

void BM_AnswerNodes(benchmark::State& state) {
  const Site& site = MadeSite();
  NodesFilter filter;
  filter.limit = static_cast<size_t>(state.range(0));
  for (auto _ : state) {
    benchmark::DoNotOptimize(AnswerNodes(filter, site.View(), site.starts, kNobody));
  }
}
BENCHMARK(BM_AnswerNodes)->Unit(benchmark::kMillisecond)->ArgName("limit")->Arg(200)->Arg(1'000);

void BM_AnswerQueue(benchmark::State& state) {
  const Site& site = MadeSite();
  QueueFilter filter;
  filter.limit = static_cast<size_t>(state.range(0));
  for (auto _ : state) {
    benchmark::DoNotOptimize(AnswerQueue(filter, site.View(), site.starts, kNobody));
  }
}
BENCHMARK(BM_AnswerQueue)->Unit(benchmark::kMillisecond)->ArgName("limit")->Arg(100)->Arg(10'000);

}  // namespace
}  // namespace gpuadvise

BENCHMARK_MAIN();
