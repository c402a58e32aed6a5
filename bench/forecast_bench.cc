// What one question costs: on the simulated seed cluster as it looks after a day of life, and on a
// made cluster of 10,000 nodes.
//
// The snapshots are the same in every run, so that figures of two builds can be compared: preparing
// the queue (once a snapshot), one StartOf, and a whole advice; at the limits, and with a history
// (BM_…Samples: each iteration is one question of 16 samples).
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>

#include "bench/made_cluster.h"
#include "common/forecast/live_forecast.h"
#include "common/forecast/queue_starts.h"
#include "common/forecast/start_of.h"
#include "common/history/forecast_history.h"
#include "common/yaml/yaml_file.h"
#include "daemon/answers/answers.h"
#include "daemon/collect/sim_world.h"
#include "daemon/settings/catalogues.h"

namespace gpuadvise {

using namespace collect;
using namespace daemon;
namespace {

constexpr UnixSeconds kMonday = 1789948800;  // 2026-09-21 00:00 UTC
constexpr UnixSeconds kDayAndAHalf = 36 * 3600;

const Snapshot& BusyCluster() {
  static const Snapshot snapshot = [] {
    SimWorld world(1, kMonday);
    world.AdvanceTo(kMonday + kDayAndAHalf);
    return world.TakeSnapshot();
  }();
  return snapshot;
}

JobRequest WholeL40sNode() {
  JobRequest request;
  request.partitions = {"gpu_shared"};
  request.cpus = 48;
  request.cpus_per_task = 48;
  request.memory_per_node_mib = 180 * 1024;
  request.gpus_per_node = {{"gpul40s", 6}};
  request.time_limit_seconds = 8 * 3600;
  return request;
}

// REQUIRES: the shipped files are right; ends the program with the sentence when they are not.
template <typename T>
T ValueOrExit(Result<T> result) {
  if (result) return std::move(*result);
  std::cerr << "forecast_bench: " << result.error().message << '\n';
  std::exit(1);
}

void BM_PrepareQueue(benchmark::State& state) {
  const Snapshot& snapshot = BusyCluster();
  for (auto _ : state) benchmark::DoNotOptimize(PrepareQueue(snapshot));
  state.counters["jobs"] = static_cast<double>(snapshot.jobs.size());
}
BENCHMARK(BM_PrepareQueue)->Unit(benchmark::kMicrosecond);

void BM_StartOf(benchmark::State& state) {
  const auto queue = PrepareQueue(BusyCluster());
  const JobRequest request = WholeL40sNode();
  const Submitter caller{1000, "ann", "lab", "normal"};
  for (auto _ : state) benchmark::DoNotOptimize(StartOf(*queue, request, caller));
}
BENCHMARK(BM_StartOf)->Unit(benchmark::kMicrosecond);

void BM_Advise(benchmark::State& state) {
  const auto catalogues = ValueOrExit(LoadCatalogues(Settings{}));
  const auto queue = PrepareQueue(BusyCluster());
  const AdviceContext view{BusyCluster(), *queue, *queue, catalogues->gpus, catalogues->models};
  const nlohmann::json request = {{"spec", ValueOrExit(LoadYamlFile(EXAMPLE_FILE)).root}};
  const Submitter caller{1000, "ann", "lab", "normal"};
  for (auto _ : state) benchmark::DoNotOptimize(ValueOrExit(AnswerAdvise(request, view, caller)));
}
BENCHMARK(BM_Advise)->Unit(benchmark::kMicrosecond);

void BM_AnswerGpus(benchmark::State& state) {
  const auto catalogues = ValueOrExit(LoadCatalogues(Settings{}));
  const auto queue = PrepareQueue(BusyCluster());
  const AdviceContext view{BusyCluster(), *queue, *queue, catalogues->gpus, catalogues->models};
  const Submitter caller{1000, "ann", "lab", "normal"};
  for (auto _ : state) benchmark::DoNotOptimize(AnswerGpus(view, caller));
}
BENCHMARK(BM_AnswerGpus)->Unit(benchmark::kMicrosecond);

constexpr int kSamples = 16;

SimulationOptions SomeSamples() {
  SimulationOptions options;
  options.samples = kSamples;
  options.horizon_seconds = int64_t{7} * 86'400;
  return options;
}

// A snapshot with a history of its users.
struct Site {
  std::shared_ptr<const Snapshot> snapshot;
  ForecastHistory past;
};

Site& SeedSite() {
  static Site site = [] {
    Site made{std::make_shared<const Snapshot>(BusyCluster()), {}};
    // What runs and waits now has been seen before, and ran a third of its limit.
    for (const Job& job : made.snapshot->jobs) {
      JobRecord record = RecordOf(job);
      record.id = -1 - job.id;
      record.submit -= 86'400;
      record.start = record.submit;
      record.end = record.submit + record.limit_seconds.value_or(86'400) / 3;
      made.past.run_times.Ended(record);
      if (job.state == JobState::kPending) {
        made.past.arrivals.Arrived(job, kMonday + kDayAndAHalf - 43'200);
      }
    }
    return made;
  }();
  return site;
}

Site& MadeSite() {
  static Site site = [] {
    Site made{std::make_shared<const Snapshot>(MadeCluster({}, 3)), {}};
    made.past = MadePast(*made.snapshot, 4);
    return made;
  }();
  return site;
}

void PrepareWith(benchmark::State& state, Site& site) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(ObserveAndPrepare(site.snapshot, site.past, SomeSamples()));
  }
  state.counters["jobs"] = static_cast<double>(site.snapshot->jobs.size());
  state.counters["nodes"] = static_cast<double>(site.snapshot->nodes.size());
}

void AskWith(benchmark::State& state, Site& site, const JobRequest& request) {
  const auto queue = PrepareQueue(site.snapshot, site.past, SomeSamples());
  const Submitter caller{1000, "u001", "lab", "normal"};
  for (auto _ : state) {
    benchmark::DoNotOptimize(ValueOrExit(SimulateStart(*queue, request, caller)));
  }
  state.counters["samples"] = kSamples;
}

void BM_PrepareQueueWithPast(benchmark::State& state) { PrepareWith(state, SeedSite()); }
BENCHMARK(BM_PrepareQueueWithPast)->Unit(benchmark::kMicrosecond);

void BM_StartOfSamples(benchmark::State& state) { AskWith(state, SeedSite(), WholeL40sNode()); }
BENCHMARK(BM_StartOfSamples)->Unit(benchmark::kMicrosecond);

void BM_PrepareMadeQueueWithPast(benchmark::State& state) { PrepareWith(state, MadeSite()); }
BENCHMARK(BM_PrepareMadeQueueWithPast)->Unit(benchmark::kMillisecond)->Iterations(1);

JobRequest HalfAMadeNode() {
  JobRequest request;
  request.partitions = {"gpu"};
  request.gpus_per_node = {{"rtx4090", 4}};
  request.cpus = request.cpus_per_task = 16;
  request.time_limit_seconds = 8 * 3600;
  return request;
}

void BM_StartOfSamplesMade(benchmark::State& state) { AskWith(state, MadeSite(), HalfAMadeNode()); }
BENCHMARK(BM_StartOfSamplesMade)->Unit(benchmark::kMillisecond)->Iterations(1);

// As the daemon does it: the queue is played once, then asked.
void AskLive(benchmark::State& state, Site& site, const JobRequest& request) {
  SimulationOptions options = SomeSamples();
  options.simulate_once_from = kLongQueue;
  const auto queue = PrepareQueue(site.snapshot, site.past, options);
  const Submitter caller{1000, "u001", "lab", "normal"};
  for (auto _ : state) {
    benchmark::DoNotOptimize(ValueOrExit(StartOf(*queue, request, caller)));
  }
  state.counters["samples"] = kSamples;
}

void ForecastAll(benchmark::State& state, Site& site) {
  const auto queue = PrepareQueue(site.snapshot, site.past, SomeSamples());
  for (auto _ : state) benchmark::DoNotOptimize(StartsInQueue(*queue));
  state.counters["samples"] = kSamples;
}

void BM_StartOfLiveMade(benchmark::State& state) { AskLive(state, MadeSite(), HalfAMadeNode()); }
BENCHMARK(BM_StartOfLiveMade)->Unit(benchmark::kMillisecond);

void BM_PrepareLiveMade(benchmark::State& state) {
  SimulationOptions options = SomeSamples();
  options.simulate_once_from = kLongQueue;
  Site& site = MadeSite();
  for (auto _ : state) benchmark::DoNotOptimize(PrepareQueue(site.snapshot, site.past, options));
  state.counters["samples"] = kSamples;
}
BENCHMARK(BM_PrepareLiveMade)->Unit(benchmark::kMillisecond)->Iterations(1);

// From a snapshot to a forecast, by nodes, waiting jobs and samples. docs/plots/growth_plot.py
// draws it.
void BM_Growth(benchmark::State& state) {
  const auto snapshot = std::make_shared<const Snapshot>(
      MadeCluster({state.range(0), 2 * state.range(0), state.range(1)}, 3));
  ForecastHistory past = MadePast(*snapshot, 4);
  SimulationOptions options;
  options.samples = static_cast<int>(state.range(2));
  options.simulate_once_from = 1;
  for (auto _ : state) benchmark::DoNotOptimize(PrepareQueue(snapshot, past, options));
}
BENCHMARK(BM_Growth)
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1)
    ->ArgNames({"nodes", "pending", "samples"})
    ->Args({100, 3'000, 16})
    ->Args({300, 3'000, 16})
    ->Args({1'000, 3'000, 16})
    ->Args({3'000, 3'000, 16})
    ->Args({10'000, 3'000, 16})
    ->Args({1'000, 300, 16})
    ->Args({1'000, 1'000, 16})
    ->Args({1'000, 10'000, 16})
    ->Args({1'000, 30'000, 16})
    ->Args({1'000, 3'000, 4})
    ->Args({1'000, 3'000, 8})
    ->Args({1'000, 3'000, 32})
    ->Args({1'000, 3'000, 64});

void BM_StartsInQueue(benchmark::State& state) { ForecastAll(state, SeedSite()); }
BENCHMARK(BM_StartsInQueue)->Unit(benchmark::kMicrosecond);

void BM_StartsInMadeQueue(benchmark::State& state) { ForecastAll(state, MadeSite()); }
BENCHMARK(BM_StartsInMadeQueue)->Unit(benchmark::kMillisecond)->Iterations(1);

}  // namespace
}  // namespace gpuadvise

BENCHMARK_MAIN();
