#include "daemon/collect/sim_cluster.h"

#include <fmt/format.h>

namespace gpuadvise::collect {
namespace {

constexpr int64_t kMaxTimeSeconds = 2 * 24 * 3600;

Node IdleNode(int number, const std::string& gpu_type, int64_t gpus, int64_t cpus,
              int64_t memory_mib) {
  Node node;
  node.name = fmt::format("classt{:02}", number);
  node.state.base = NodeBase::kIdle;
  node.cpus = cpus;
  node.memory_mib = memory_mib;
  node.gpus = {{gpu_type, gpus}};
  return node;
}

Node SeedNode(int number) {
  switch (number) {
    case 6:
      return IdleNode(number, "gpu4070", 4, 32, 128000);
    case 21:
    case 22:
      return IdleNode(number, "gpul40s", 6, 64, 512000);
    case 23:
    case 24:
      return IdleNode(number, "h100_1g.11gb", 14, 64, 512000);
    case 25:
      return IdleNode(number, "gpu4090", 4, 32, 128000);
    default:
      return IdleNode(number, "gpu2080", 4, 32, 128000);
  }
}

SchedulerConfig SeedConfig() {
  SchedulerConfig config;
  config.slurm_version = "22.05.8";
  config.scheduler_type = "sched/backfill";
  config.select_type_parameters = "CR_CORE_MEMORY";
  config.priority_type = "priority/basic";
  config.preempt_type = "preempt/none";
  config.preempt_mode = "OFF";
  config.default_memory_per_cpu_mib = 2000;
  config.kill_wait_seconds = 30;
  config.min_job_age_seconds = 300;
  return config;
}

}  // namespace

Snapshot SeedCluster() {
  Snapshot cluster;
  cluster.cluster = "seed";
  cluster.source = "sim";
  Partition partition;
  partition.name = "gpu_shared";
  partition.is_default = true;
  partition.max_time_seconds = kMaxTimeSeconds;
  partition.max_nodes = SlurmNumber::Infinite();
  partition.over_subscribe = "NO";
  partition.preempt_mode = "OFF";
  for (int number = 1; number <= 25; ++number) {
    if (number >= 17 && number <= 20) continue;
    cluster.nodes.push_back(SeedNode(number));
    partition.nodes.push_back(cluster.nodes.back().name);
  }
  cluster.partitions = {partition};
  cluster.config = SeedConfig();
  Qos normal;
  normal.name = "normal";
  cluster.qos = {normal};
  return cluster;
}

}  // namespace gpuadvise::collect
