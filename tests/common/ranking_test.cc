#include "common/ranking.h"

#include <gtest/gtest.h>

namespace gpuadvise {
namespace {

struct Pools {
  GpuModel fast, slow;
  GpuPool fast_pool, slow_pool;
  Pools() {
    fast.display_name = "Fast";
    slow.display_name = "Slow";
    fast_pool.model = &fast;
    slow_pool.model = &slow;
  }
};

Strategy Make(const GpuPool& pool, double wait, double run, double gpu_hours) {
  Strategy strategy;
  strategy.placement.pool = &pool;
  strategy.wait = {wait, wait, wait, wait};
  strategy.run = {run, run, run, run};
  strategy.total = {wait + run, wait + run, wait + run, wait + run};
  strategy.total_samples = {wait + run};
  strategy.gpu_hours = gpu_hours;
  strategy.stages.push_back({});
  strategy.stages.front().basis = "timed";
  return strategy;
}

TEST(Rank, FinishIsByWaitAndRunTogether) {
  Pools pools;
  std::vector<Strategy> strategies = {Make(pools.fast_pool, 9000, 1000, 1),
                                      Make(pools.slow_pool, 0, 5000, 9)};
  Rank(strategies, {});
  EXPECT_EQ(strategies[0].placement.pool, &pools.slow_pool);
}

TEST(Rank, StartIsByWaitAndThenByTheEnd) {
  Pools pools;
  std::vector<Strategy> strategies = {Make(pools.slow_pool, 0, 5000, 1),
                                      Make(pools.fast_pool, 0, 1000, 9)};
  Rank(strategies, {Objective::kStart, 0});
  EXPECT_EQ(strategies[0].placement.pool, &pools.fast_pool);
}

TEST(Rank, CostIsGpuHoursWherePricesAreUnknown) {
  Pools pools;
  std::vector<Strategy> strategies = {Make(pools.slow_pool, 0, 100, 9),
                                      Make(pools.fast_pool, 50, 1000, 1)};
  strategies[0].cost = 0.1;  // only one has a price: it cannot decide
  Rank(strategies, {Objective::kCost, 0});
  EXPECT_EQ(strategies[0].gpu_hours, 1);
}

TEST(Rank, DeadlineTakesTheCheapestOfThoseThatMakeIt) {
  Pools pools;
  std::vector<Strategy> strategies = {Make(pools.fast_pool, 0, 1000, 9),
                                      Make(pools.slow_pool, 0, 5000, 1)};
  Rank(strategies, {Objective::kDeadline, 6000});
  EXPECT_EQ(strategies[0].gpu_hours, 1);
  Rank(strategies, {Objective::kDeadline, 2000});
  EXPECT_EQ(strategies[0].gpu_hours, 9);
}

TEST(Rank, TiesGoToFewerGpus) {
  Pools pools;
  std::vector<Strategy> strategies = {Make(pools.fast_pool, 0, 1000, 1),
                                      Make(pools.fast_pool, 0, 1000, 1)};
  strategies[0].placement.gpus_per_node = 4;
  strategies[1].placement.gpus_per_node = 2;
  Rank(strategies, {});
  EXPECT_EQ(strategies[0].placement.gpus_per_node, 2);
}

TEST(ExplainRanks, SaysWhatTheFirstGainsAndTheOthersLose) {
  Pools pools;
  std::vector<Strategy> strategies = {Make(pools.slow_pool, 0, 7200, 1),
                                      Make(pools.fast_pool, 7200, 3600, 1)};
  ExplainRanks(strategies, {});
  EXPECT_EQ(strategies[0].reasons.front(),
            "done 1 h before Fast × 1: waits 2 h less and runs 1 h longer");
  EXPECT_EQ(strategies[1].reasons.front(), "waits 2 h longer and runs 1 h less than Slow × 1");
}

TEST(ExplainRanks, BearsAnEmptyAndASingleRanking) {
  Pools pools;
  std::vector<Strategy> none;
  ExplainRanks(none, {});
  std::vector<Strategy> one = {Make(pools.fast_pool, 0, 1, 1)};
  ExplainRanks(one, {});
  EXPECT_EQ(one[0].reasons.front(), "the only way that is possible");
}

TEST(ChanceToFinishBy, IsTheShareOfSamples) {
  Pools pools;
  Strategy strategy = Make(pools.fast_pool, 0, 0, 0);
  strategy.total_samples = {1, 2, 3, 4};
  EXPECT_DOUBLE_EQ(ChanceToFinishBy(strategy, 0), 0);
  EXPECT_DOUBLE_EQ(ChanceToFinishBy(strategy, 2), 0.5);
  EXPECT_DOUBLE_EQ(ChanceToFinishBy(strategy, 9), 1);
}

}  // namespace
}  // namespace gpuadvise
