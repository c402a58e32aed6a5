#include "daemon/collect/sim_workload.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "daemon/collect/sim_cluster.h"

namespace gpuadvise::collect {
namespace {

constexpr UnixSeconds kNoon = 1789948800 + 12 * 3600;

const Node& NodeWith(const Snapshot& cluster, const std::string& type) {
  return *std::find_if(cluster.nodes.begin(), cluster.nodes.end(),
                       [&](const Node& node) { return node.gpus.front().type == type; });
}

// Two thousand bursts of every pool.
std::vector<std::vector<SimJob>> ManyBursts() {
  static const Snapshot cluster = SeedCluster();
  const std::vector<SimUser> users = SeedUsers(1);
  Rng rng(1);
  std::vector<std::vector<SimJob>> bursts;
  for (const PoolHabits& habits : SeedHabits()) {
    for (int i = 0; i < 2000; ++i) {
      bursts.push_back(DrawBurst(habits, users, NodeWith(cluster, habits.gpu_type), kNoon, rng));
    }
  }
  return bursts;
}

TEST(SimWorkload, EveryJobCouldRunOnAnIdleCluster) {
  const Snapshot cluster = SeedCluster();
  for (const auto& burst : ManyBursts()) {
    const JobRequest& request = burst.front().job.request;
    const Node& node = NodeWith(cluster, request.gpus_per_node.front().type);
    EXPECT_LE(request.gpus_per_node.front().count, node.gpus.front().count);
    EXPECT_LE(request.cpus, node.cpus * request.nodes_min);
    EXPECT_LE(request.memory_per_node_mib.value(), node.memory_mib);
    EXPECT_LE(request.time_limit_seconds.value(), 48 * 3600);
  }
}

TEST(SimWorkload, NobodyRunsLongerThanTheLimit) {
  for (const auto& burst : ManyBursts()) {
    for (const SimJob& job : burst) {
      EXPECT_GE(job.run_seconds, 15);
      EXPECT_LE(job.run_seconds, job.job.request.time_limit_seconds.value());
    }
  }
}

TEST(SimWorkload, LimitsAreRoundNumbersOfMinutes) {
  std::set<int64_t> minutes;
  for (const auto& burst : ManyBursts()) {
    minutes.insert(burst.front().job.request.time_limit_seconds.value() / 60);
  }
  const std::set<int64_t> round = {10, 30, 60, 120, 240, 360, 720, 1440, 2880};
  EXPECT_TRUE(std::includes(round.begin(), round.end(), minutes.begin(), minutes.end()));
  EXPECT_GE(minutes.size(), 5u);
}

TEST(SimWorkload, MostPeopleAskForMoreThanTheyUse) {
  int64_t half_used = 0;
  int64_t jobs = 0;
  for (const auto& burst : ManyBursts()) {
    for (const SimJob& job : burst) {
      ++jobs;
      half_used += job.run_seconds * 2 < job.job.request.time_limit_seconds.value() ? 1 : 0;
    }
  }
  EXPECT_GT(half_used * 2, jobs);
}

TEST(SimWorkload, ABurstIsOneToFiveJobsOfOneKind) {
  std::set<size_t> sizes;
  for (const auto& burst : ManyBursts()) {
    sizes.insert(burst.size());
    for (const SimJob& job : burst) EXPECT_EQ(job.job, burst.front().job);
  }
  EXPECT_EQ(sizes, (std::set<size_t>{1, 2, 3, 5}));
}

TEST(SimWorkload, OnlyWholeNodeJobsTakeTwoNodes) {
  int64_t two_nodes = 0;
  for (const auto& burst : ManyBursts()) {
    const JobRequest& request = burst.front().job.request;
    if (request.nodes_min == 1) continue;
    ++two_nodes;
    const GpuCount& gpus = request.gpus_per_node.front();
    EXPECT_EQ(gpus.count, gpus.type == "gpul40s" ? 6 : 4);
    EXPECT_EQ(request.tasks, 2);
    EXPECT_EQ(request.cpus, 2 * request.cpus_per_task);
  }
  EXPECT_GT(two_nodes, 0);
}

TEST(SimWorkload, WorkingHoursAreBusierThanTheNight) {
  EXPECT_DOUBLE_EQ(HourFactor(kNoon - 12 * 3600), 0.4);
  EXPECT_DOUBLE_EQ(HourFactor(kNoon + 2 * 3600), 1.0);
  EXPECT_GT(HourFactor(kNoon - 2 * 3600), 0.7);
}

TEST(SimWorkload, UsersHaveNamesAndIdsOfTheirOwn) {
  std::set<std::string> names;
  std::set<int64_t> uids;
  for (const SimUser& user : SeedUsers(4)) {
    names.insert(user.name);
    uids.insert(user.uid);
  }
  EXPECT_EQ(names.size(), 18u);
  EXPECT_EQ(uids.size(), 18u);
}

TEST(SimCluster, HasTheGpusOfTheSeedCluster) {
  std::map<std::string, int64_t> gpus;
  for (const Node& node : SeedCluster().nodes) {
    gpus[node.gpus.front().type] += node.gpus.front().count;
  }
  const std::map<std::string, int64_t> expected = {
      {"gpu2080", 60}, {"gpu4070", 4}, {"gpu4090", 4}, {"gpul40s", 12}, {"h100_1g.11gb", 28}};
  EXPECT_EQ(gpus, expected);
}

TEST(SimCluster, HasOnePartitionOfTwoDaysWithEveryNode) {
  const Snapshot cluster = SeedCluster();
  ASSERT_EQ(cluster.partitions.size(), 1u);
  EXPECT_EQ(cluster.partitions[0].name, "gpu_shared");
  EXPECT_EQ(cluster.partitions[0].max_time_seconds, SlurmNumber(48 * 3600));
  EXPECT_EQ(cluster.partitions[0].nodes.size(), cluster.nodes.size());
  EXPECT_EQ(cluster.nodes.front().name, "classt01");
  EXPECT_EQ(cluster.nodes.back().name, "classt25");
}

TEST(SimRandom, OneSeedIsOneSequence) {
  Rng a(5);
  Rng b(5);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(a.Normal(), b.Normal());
}

TEST(SimRandom, WeightsDecideHowOftenEachIsPicked) {
  Rng rng(5);
  std::vector<int> seen(3);
  for (int i = 0; i < 10000; ++i) ++seen[rng.Weighted({1, 0, 3})];
  EXPECT_EQ(seen[1], 0);
  EXPECT_NEAR(seen[0], 2500, 250);
}

}  // namespace
}  // namespace gpuadvise::collect
