// What one question costs, on the simulated seed cluster as it looks after a day of life.
//
// The snapshot is the same in every run (seed 1, one moment), so that figures of two builds can be
// compared: preparing the queue (once a snapshot), one StartOf, and a whole advice.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>

#include "common/answers.h"
#include "common/start_of.h"
#include "daemon/collect/sim_world.h"
#include "daemon/knowledge.h"
#include "yaml/yaml_file.h"

namespace gpuadvise {
namespace {

constexpr UnixSeconds kMonday = 1789948800;  // 2026-09-21 00:00 UTC
constexpr UnixSeconds kDayAndAHalf = 36 * 3600;

const Snapshot& BusyCluster() {
  static const Snapshot snapshot = [] {
    SimWorld world(1, kMonday);
    world.AdvanceTo(kMonday + kDayAndAHalf);
    return world.Look();
  }();
  return snapshot;
}

JobRequest WholeL40sNode() {
  JobRequest request;
  request.partitions = {"markov_gpu"};
  request.cpus = 48;
  request.cpus_per_task = 48;
  request.memory_per_node_mib = 180 * 1024;
  request.gpus_per_node = {{"gpul40s", 6}};
  request.time_limit_seconds = 8 * 3600;
  return request;
}

/// REQUIRES: the shipped files are right; ends the program with the sentence when they are not.
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
  const auto knowledge = ValueOrExit(LoadKnowledge(Settings{}));
  const auto queue = PrepareQueue(BusyCluster());
  const ClusterView view{BusyCluster(), *queue, knowledge->gpus, knowledge->models};
  const nlohmann::json request = {{"spec", ValueOrExit(LoadYamlFile(EXAMPLE_FILE)).root}};
  const Submitter caller{1000, "ann", "lab", "normal"};
  for (auto _ : state) benchmark::DoNotOptimize(ValueOrExit(AnswerAdvise(request, view, caller)));
}
BENCHMARK(BM_Advise)->Unit(benchmark::kMicrosecond);

void BM_AnswerGpus(benchmark::State& state) {
  const auto knowledge = ValueOrExit(LoadKnowledge(Settings{}));
  const auto queue = PrepareQueue(BusyCluster());
  const ClusterView view{BusyCluster(), *queue, knowledge->gpus, knowledge->models};
  const Submitter caller{1000, "ann", "lab", "normal"};
  for (auto _ : state) benchmark::DoNotOptimize(AnswerGpus(view, caller));
}
BENCHMARK(BM_AnswerGpus)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace gpuadvise

BENCHMARK_MAIN();
