#include "common/advise/ranking.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

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
  RankStrategies(strategies, {});
  EXPECT_EQ(strategies[0].placement.pool, &pools.slow_pool);
}

TEST(Rank, OfEqualRowsThePartitionOfTheShortestLimitIsFirst) {
  Pools pools;
  Partition standard, for_long;
  standard.max_time_seconds = 7'200;
  for_long.max_time_seconds = SlurmNumber::Infinite();
  GpuPool long_pool = pools.fast_pool;
  pools.fast_pool.partition = &standard;
  long_pool.partition = &for_long;
  std::vector<Strategy> strategies = {Make(long_pool, 0, 1000, 1),
                                      Make(pools.fast_pool, 0, 1000, 1)};
  RankStrategies(strategies, {});
  EXPECT_EQ(strategies[0].placement.pool, &pools.fast_pool);
}

// One that is done early in the median and very late in a few cases, and one that is certain.
std::vector<Strategy> EarlyAndCertain(const Pools& pools) {
  std::vector<Strategy> strategies = {Make(pools.slow_pool, 0, 5000, 1),
                                      Make(pools.fast_pool, 600, 1000, 1)};
  strategies[1].wait = {0, 600, 20000, 9000};
  strategies[1].total = {1000, 1600, 21000, 10000};
  return strategies;
}

TEST(Rank, FinishIsHalfWayBetweenTheMedianAndTheNinetiethPercentile) {
  Pools pools;
  std::vector<Strategy> strategies = EarlyAndCertain(pools);
  RankStrategies(strategies, {});
  EXPECT_EQ(strategies[0].placement.pool, &pools.slow_pool);
  ExplainRanks(strategies, {});
  EXPECT_EQ(strategies[0].reasons.front(),
            "surer than Fast × 1: 9 in 10 such runs are done within 1 h 23, there within 5 h 50");
  strategies[1].gpu_hours = 9;  // more on the row with the earlier median: still no tie
  ExplainRanks(strategies, {});
  EXPECT_NE(strategies[0].reasons.front().find("surer than"), std::string::npos);
  strategies[1].gpu_hours = 1;
  strategies[1].total.p90 = 8000;  // 4,800 with its median: a little earlier
  RankStrategies(strategies, {});
  EXPECT_EQ(strategies[0].placement.pool, &pools.fast_pool);
  ExplainRanks(strategies, {});
  EXPECT_EQ(strategies[0].reasons.front(),
            "done 57 m before Slow × 1: waits 10 m longer and runs 1 h 07 less");
}

TEST(Rank, StartIsByTheMedianWaitAndThenTheRarerOne) {
  Pools pools;
  std::vector<Strategy> strategies = EarlyAndCertain(pools);
  for (Strategy& each : strategies) each.wait.p50 = 0;
  RankStrategies(strategies, {Objective::kStart, {}});
  EXPECT_EQ(strategies[0].placement.pool, &pools.slow_pool);
}

TEST(Rank, OfEqualEndsTheOneThatDelaysOthersLeastIsFirst) {
  Pools pools;
  std::vector<Strategy> strategies = {Make(pools.fast_pool, 0, 10000, 2),
                                      Make(pools.slow_pool, 0, 10200, 9)};
  strategies[0].delay = {7200, 3};
  strategies[1].delay = {600, 1};
  EXPECT_EQ(CountAlike(strategies, {}), 2U);
  RankStrategies(strategies, {});
  EXPECT_EQ(strategies[0].placement.pool, &pools.slow_pool) << "though it takes more GPU-hours";
  ExplainRanks(strategies, {});
  EXPECT_EQ(strategies[0].reasons.front(),
            "done 3 m after Fast × 1, and delays 1 job of others by 10 m instead of 2 h");
  strategies[0].total = {10400, 10400, 10400, 10400};  // 4 % later
  RankStrategies(strategies, {});
  EXPECT_EQ(strategies[0].placement.pool, &pools.fast_pool);
}

TEST(Rank, CourtesyWeighsWhatOthersWait) {
  Pools pools;
  std::vector<Strategy> strategies = {Make(pools.fast_pool, 0, 10000, 2),
                                      Make(pools.slow_pool, 0, 15000, 9)};
  strategies[0].delay = {20000, 3};
  strategies[1].delay = {0, 0};
  RankStrategies(strategies, {Objective::kFinish, {}, 0.2});
  EXPECT_EQ(strategies[0].placement.pool, &pools.fast_pool);
  RankStrategies(strategies, {Objective::kFinish, {}, 0.5});
  EXPECT_EQ(strategies[0].placement.pool, &pools.slow_pool);
}

TEST(Rank, WhatMayNotFitComesAfterWhatDoes) {
  Pools pools;
  for (const Objective objective : {Objective::kFinish, Objective::kStart, Objective::kCost}) {
    std::vector<Strategy> strategies = {Make(pools.fast_pool, 0, 1000, 1),
                                        Make(pools.slow_pool, 9000, 5000, 9)};
    strategies[0].stages[0].memory_checked = false;
    RankStrategies(strategies, {objective, 0});
    EXPECT_EQ(strategies[0].placement.pool, &pools.slow_pool);
    ExplainRanks(strategies, {objective, 0});
    EXPECT_EQ(strategies[0].reasons.front(),
              "it fits the GPU; whether the job fits Fast × 1 is not known");
  }
}

TEST(Rank, StartIsByWaitAndThenByTheEnd) {
  Pools pools;
  std::vector<Strategy> strategies = {Make(pools.slow_pool, 0, 5000, 1),
                                      Make(pools.fast_pool, 0, 1000, 9)};
  RankStrategies(strategies, {Objective::kStart, 0});
  EXPECT_EQ(strategies[0].placement.pool, &pools.fast_pool);
}

TEST(Rank, CostIsGpuHoursWherePricesAreUnknown) {
  Pools pools;
  std::vector<Strategy> strategies = {Make(pools.slow_pool, 0, 100, 9),
                                      Make(pools.fast_pool, 50, 1000, 1)};
  strategies[0].cost = 0.1;  // only one has a price: it cannot decide
  RankStrategies(strategies, {Objective::kCost, 0});
  EXPECT_EQ(strategies[0].gpu_hours, 1);
}

TEST(Rank, DeadlineTakesTheCheapestOfThoseThatMakeIt) {
  Pools pools;
  std::vector<Strategy> strategies = {Make(pools.fast_pool, 0, 1000, 9),
                                      Make(pools.slow_pool, 0, 5000, 1)};
  RankStrategies(strategies, {Objective::kDeadline, 6000});
  EXPECT_EQ(strategies[0].gpu_hours, 1);
  RankStrategies(strategies, {Objective::kDeadline, 2000});
  EXPECT_EQ(strategies[0].gpu_hours, 9);
}

TEST(Rank, OfEqualEndsTheOneWithClearlyFewerGpuHoursIsFirst) {
  Pools pools;
  std::vector<Strategy> strategies = {Make(pools.fast_pool, 0, 910, 1.01),
                                      Make(pools.slow_pool, 0, 927, 0.26),
                                      Make(pools.slow_pool, 0, 2000, 0.1)};
  RankStrategies(strategies, {});
  EXPECT_EQ(strategies.front().gpu_hours, 0.26);
  EXPECT_EQ(strategies.back().gpu_hours, 0.1);
  ExplainRanks(strategies, {});
  EXPECT_NE(strategies.front().reasons.front().find("0.3 instead of 1.0 GPU-hours"),
            std::string::npos)
      << strategies.front().reasons.front();
  strategies = {Make(pools.fast_pool, 0, 910, 1.01), Make(pools.slow_pool, 0, 927, 0.95)};
  RankStrategies(strategies, {});
  EXPECT_EQ(strategies.front().gpu_hours, 1.01);
}

TEST(Rank, TiesGoToFewerGpus) {
  Pools pools;
  std::vector<Strategy> strategies = {Make(pools.fast_pool, 0, 1000, 1),
                                      Make(pools.fast_pool, 0, 1000, 1)};
  strategies[0].placement.gpus_per_node = 4;
  strategies[1].placement.gpus_per_node = 2;
  RankStrategies(strategies, {});
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

TEST(Rank, PricesAndBillingHoursAreNotComparedWithEachOther) {
  Pools pools;
  std::vector<Strategy> strategies = {Make(pools.slow_pool, 0, 100, 9),
                                      Make(pools.fast_pool, 0, 100, 1)};
  strategies[0].cost = 1;
  strategies[1].cost = 500;
  strategies[1].cost_is_billing = true;
  RankStrategies(strategies, {Objective::kCost, 0});
  EXPECT_EQ(strategies[0].gpu_hours, 1);
  for (Strategy& strategy : strategies) strategy.cost_is_billing = false;
  RankStrategies(strategies, {Objective::kCost, 0});
  EXPECT_EQ(strategies[0].cost, 1);
}

TEST(Rank, OfThoseThatMissTheDeadlineTheLikeliestIsFirst) {
  Pools pools;
  std::vector<Strategy> strategies = {Make(pools.fast_pool, 0, 100, 1),
                                      Make(pools.slow_pool, 0, 100, 9)};
  strategies[0].total_samples = {10, 20, 300, 400};
  strategies[1].total_samples = {10, 20, 30, 400};
  RankStrategies(strategies, {Objective::kDeadline, 100});
  EXPECT_EQ(strategies[0].gpu_hours, 9);
}

TEST(ExplainRanks, EveryObjectiveHasItsOwnReasonForTheFirst) {
  Pools pools;
  const auto why = [&](const RankBy& by) {
    std::vector<Strategy> strategies = {Make(pools.slow_pool, 60, 7200, 2),
                                        Make(pools.fast_pool, 7260, 3600, 8)};
    strategies[0].total_samples = {7000, 7260};
    ExplainRanks(strategies, by);
    return strategies[0].reasons.front();
  };
  EXPECT_EQ(why({Objective::kStart, 0}),
            "starts first, compared with Fast × 1: waits 2 h less and runs 1 h longer");
  EXPECT_EQ(why({Objective::kCost, 0}), "2.0 GPU-hours, 8.0 on Fast × 1");
  EXPECT_EQ(why({Objective::kDeadline, 7200}), "50 % chance to be done in time, Fast × 1 0 %");
}

TEST(ExplainRanks, TheFirstIsComparedWithOtherHardwareWhereThereIsSome) {
  Pools pools;
  std::vector<Strategy> strategies = {Make(pools.fast_pool, 0, 3600, 1),
                                      Make(pools.fast_pool, 0, 4000, 1),
                                      Make(pools.slow_pool, 0, 7200, 1)};
  strategies[1].placement.nodes = 2;
  ExplainRanks(strategies, {});
  EXPECT_EQ(strategies[0].reasons.front(), "done 1 h before Slow × 1: runs 1 h less");
  strategies.pop_back();
  strategies[0].reasons.clear();
  ExplainRanks(strategies, {});
  EXPECT_TRUE(strategies[0].reasons.front().ends_with("before Fast × 1 on 2 nodes: runs 7 m less"))
      << strategies[0].reasons.front();
}

TEST(ExplainRanks, WhoWaitsBeforeItAndWhatTheRunTimeRestsOnAreSaid) {
  Pools pools;
  std::vector<Strategy> strategies = {Make(pools.fast_pool, 0, 3600, 1)};
  strategies[0].start.jobs_before = 3;
  ExplainRanks(strategies, {});
  EXPECT_EQ(strategies[0].reasons,
            (std::vector<std::string>{"the only possible strategy", "3 waiting jobs before it",
                                      "run time timed"}));
}

TEST(ExplainRanks, WhatIsAboutTheSameIsNotSaid) {
  Pools pools;
  std::vector<Strategy> strategies = {Make(pools.fast_pool, 0, 3600, 1),
                                      Make(pools.slow_pool, 20, 3610, 1)};
  ExplainRanks(strategies, {});
  EXPECT_EQ(strategies[1].reasons, std::vector<std::string>{"run time timed"});
}

TEST(ExplainRanks, BearsAnEmptyAndASingleRanking) {
  Pools pools;
  std::vector<Strategy> none;
  ExplainRanks(none, {});
  std::vector<Strategy> one = {Make(pools.fast_pool, 0, 1, 1)};
  ExplainRanks(one, {});
  EXPECT_EQ(one[0].reasons.front(), "the only possible strategy");
}

TEST(ChanceToFinishBy, IsTheShareOfSamples) {
  Pools pools;
  Strategy strategy = Make(pools.fast_pool, 0, 0, 0);
  strategy.total_samples = {1, 2, 3, 4};
  EXPECT_DOUBLE_EQ(ChanceToFinishBy(strategy, 0), 0);
  EXPECT_DOUBLE_EQ(ChanceToFinishBy(strategy, 2), 0.5);
  EXPECT_DOUBLE_EQ(ChanceToFinishBy(strategy, 9), 1);
}

// ---- whatever the strategies --------------------------------------------------------------------

std::vector<Strategy> DrawStrategies(const Pools& pools) {
  const auto draw = [](int low, int high) { return *rc::gen::inRange(low, high + 1); };
  std::vector<Strategy> strategies;
  for (int i = draw(1, 8); i > 0; --i) {
    strategies.push_back(Make(draw(0, 1) == 0 ? pools.fast_pool : pools.slow_pool,
                              60.0 * draw(0, 3), 60.0 * draw(1, 4), draw(1, 4)));
    strategies.back().placement.gpus_per_node = draw(1, 4);
    if (draw(0, 2) > 0) strategies.back().cost = draw(1, 4);
  }
  return strategies;
}

// No two neighbours stand in the wrong order, by a plain comparison of what the objective asks for.
RC_GTEST_PROP(Rank, NobodyStandsBehindOneThatIsWorse, ()) {
  const Pools pools;
  std::vector<Strategy> strategies = DrawStrategies(pools);
  const auto objective = *rc::gen::element(Objective::kFinish, Objective::kStart, Objective::kCost,
                                           Objective::kDeadline);
  const double deadline = 60.0 * *rc::gen::inRange(0, 8);
  RankStrategies(strategies, {objective, deadline});
  const bool priced = std::all_of(strategies.begin(), strategies.end(),
                                  [](const Strategy& s) { return s.cost.has_value(); });
  const auto price = [&](const Strategy& s) { return priced ? *s.cost : s.gpu_hours; };
  for (size_t i = 1; i < strategies.size(); ++i) {
    const Strategy &a = strategies[i - 1], &b = strategies[i];
    const bool a_makes_it = a.total.mean <= deadline, b_makes_it = b.total.mean <= deadline;
    // The first may end a minute later for fewer GPU-hours.
    const double later = i == 1 ? 60 : 0;
    if (objective == Objective::kFinish) RC_ASSERT(a.total.mean <= b.total.mean + later);
    if (objective == Objective::kStart) RC_ASSERT(a.wait.mean <= b.wait.mean);
    if (objective == Objective::kCost) RC_ASSERT(price(a) <= price(b));
    if (objective != Objective::kDeadline) continue;
    RC_ASSERT(a_makes_it || !b_makes_it);
    if (a_makes_it && b_makes_it) RC_ASSERT(price(a) <= price(b));
  }
}

RC_GTEST_PROP(Rank, RankingAgainChangesNothingAndLosesNobody, ()) {
  const Pools pools;
  std::vector<Strategy> strategies = DrawStrategies(pools);
  const size_t count = strategies.size();
  const auto order = [&] {
    std::vector<double> keys;
    for (const Strategy& s : strategies) {
      keys.insert(keys.end(), {s.total.mean, s.wait.mean, s.gpu_hours});
    }
    return keys;
  };
  RankStrategies(strategies, {});
  const std::vector<double> once = order();
  RankStrategies(strategies, {});
  RC_ASSERT(order() == once);
  RC_ASSERT(strategies.size() == count);
}

}  // namespace
}  // namespace gpuadvise
