#include "common/advise/sweep_plan.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/advise/advise.h"
#include "common/history/forecast_history.h"
#include "tests/fakes/shipped_catalogues.h"
#include "tests/fakes/snapshot_text.h"

namespace gpuadvise {
namespace {

using nlohmann::json;

constexpr int64_t kHour = 3600;

// A run on one GPU: an hour on an RTX 4090, two on an RTX 2080 Ti.
TrainSpec OneGpuRun(int64_t steps = 3600) {
  json text = json::parse(R"({"model": {"memory": {"base": "1 GB", "per_sample": "1 GB",
      "overhead": "1 GB"}},
      "training": {"effective_batch_size": 4, "start_seconds": 0,
      "measured": [
      {"gpu": "rtx4090", "gpus": 1, "batch": 4, "seconds_per_step": 1},
      {"gpu": "rtx2080ti", "gpus": 1, "batch": 4, "seconds_per_step": 2}]},
      "command": "x"})");
  text["training"]["max_steps"] = steps;
  const Result<TrainSpec> spec = ParseTrainSpec(text, "/spec");
  EXPECT_TRUE(spec) << spec.error().message;
  return *spec;
}

Result<Advice> Ask(const std::string& world, const std::string& array, int64_t steps = 3600,
                   std::vector<WaitingTasks> waiting = {}) {
  const Snapshot snapshot = SnapshotOf(world);
  const auto queue = PrepareQueue(snapshot);
  const AdviceContext context{snapshot, *queue, *queue, ShippedGpus(), ShippedModels()};
  AdviceRequest request{OneGpuRun(steps), {}, {}, {}, false, *ParseArrayTasks(array)};
  request.waiting = std::move(waiting);
  request.constraints.gpus_per_node = 1;
  return Advise(request, context, {1001, "ann", "lab", ""});
}

SweepPlan PlanOf(const std::string& world, const std::string& array) {
  const Result<Advice> advice = Ask(world, array);
  EXPECT_TRUE(advice && advice->sweep) << (advice ? "no plan" : advice.error().message);
  return advice && advice->sweep ? *advice->sweep : SweepPlan();
}

int64_t Members(const SweepPlan& plan) {
  int64_t sum = 0;
  for (const SweepShare& share : plan.shares) sum += share.members;
  return sum;
}

const char* const kTwoTypes =
    "node a[1-2] rtx4090:4 cpus 32 mem 400000\nnode b1 rtx2080ti:4 cpus 32 mem 400000\n";

TEST(PlanSweep, FasterGpusGetMoreRuns) {
  // In four hours eight RTX 4090 do 32 runs and four RTX 2080 Ti eight.
  const SweepPlan plan = PlanOf(kTwoTypes, "1-40");
  ASSERT_EQ(plan.shares.size(), 2u);
  EXPECT_EQ(plan.shares[0].members, 32);
  EXPECT_EQ(plan.shares[0].at_a_time, 8);
  EXPECT_EQ(plan.shares[1].members, 8);
  EXPECT_EQ(plan.shares[1].at_a_time, 4);
  EXPECT_NEAR(plan.makespan.p50, 4 * kHour, 0.2 * kHour);
  EXPECT_NEAR(plan.single_makespan.p50, 5 * kHour, 0.2 * kHour);
  EXPECT_NEAR(plan.gpu_hours, 32 + 16, 3);
}

TEST(PlanSweep, AFewRunsAreNotSentToSlowGpus) {
  const SweepPlan plan = PlanOf(kTwoTypes, "1-8");
  ASSERT_EQ(plan.shares.size(), 1u);
  EXPECT_EQ(plan.shares[0].members, 8);
  EXPECT_NEAR(plan.makespan.p50, kHour, 0.1 * kHour);
}

TEST(PlanSweep, BusyGpusGetFewerRuns) {
  const std::string busy = std::string(kTwoTypes) + "run 1 a[1-2] rtx4090:4 ends 4h\n";
  const SweepPlan plan = PlanOf(busy, "1-8");
  ASSERT_EQ(plan.shares.size(), 1u);
  EXPECT_NEAR(plan.makespan.p50, 4 * kHour, 0.3 * kHour);
}

TEST(PlanSweep, TheThrottleIsDividedAndKept) {
  const SweepPlan plan = PlanOf(kTwoTypes, "1-40%10");
  int64_t at_once = 0;
  int64_t throttles = 0;
  for (const SweepShare& share : plan.shares) {
    at_once += share.at_a_time;
    throttles += share.throttle;
    EXPECT_GT(share.throttle, 0);
  }
  EXPECT_EQ(Members(plan), 40);
  EXPECT_LE(at_once, 10);
  EXPECT_LE(throttles, 10);
}

TEST(PlanSweep, ALimitOfTheUserHoldsForAllPartsTogether) {
  // Four GPUs at a time, wherever they are: the fast ones do everything.
  const SweepPlan plan = PlanOf(std::string(kTwoTypes) +
                                    "config enforce limits\nqos normal\n"
                                    "assoc lab user ann default-qos normal group gres/gpu=4\n",
                                "1-20");
  EXPECT_EQ(Members(plan), 20);
  EXPECT_NEAR(plan.makespan.p50, 5 * kHour, 0.6 * kHour);
}

TEST(PlanSweep, RunsOfASecondUnderAThrottleHaveAPlan) {
  const Result<Advice> advice = Ask(kTwoTypes, "1-20%5", 1);
  ASSERT_TRUE(advice && advice->sweep);
  EXPECT_EQ(Members(*advice->sweep), 20);
  EXPECT_GE(advice->sweep->shares.front().at_a_time, 1);
}

TEST(PlanSweep, AThrottleGivesAFewRunsTheFastGpus) {
  const SweepPlan plan = PlanOf(kTwoTypes, "1-8%4");
  ASSERT_EQ(plan.shares.size(), 1u);
  EXPECT_NEAR(plan.makespan.p50, 2 * kHour, 0.2 * kHour);
}

TEST(PlanSweep, SaysWhenRunsAreDoneWhereTheyWait) {
  const auto plan = [](std::vector<WaitingTasks> waiting) {
    return Ask(kTwoTypes, "1-16", 3600, std::move(waiting))->sweep;
  };
  EXPECT_FALSE(plan({})->as_it_waits);
  const auto slow = plan({{"rtx2080ti", "main", 1, 1, 16}});
  ASSERT_TRUE(slow->as_it_waits);
  EXPECT_NEAR(slow->as_it_waits->p50, 8 * kHour, 0.4 * kHour);  // four at a time, two hours each
  EXPECT_NEAR(slow->makespan.p50, 2 * kHour, 0.2 * kHour);
  EXPECT_FALSE(plan({{"rtx2080ti", "main", 1, 1, 9}})->as_it_waits);  // of some nothing is known
  const auto nowhere = plan({{"a100", "main", 1, 1, 16}});
  EXPECT_GT(nowhere->as_it_waits->p50, 24 * kHour);
}

TEST(PlanSweep, RunsThatStayKeepTheirPlaceInTheQueue) {
  // Jobs of others, behind the runs and before a new array, fill all GPUs for ten hours.
  const std::string world = std::string(kTwoTypes) +
                            "run 1 a[1-2] rtx4090:4 ends 1h user bob\n"
                            "run 2 b1 rtx2080ti:4 ends 1h user bob\n"
                            "pend 3 rtx4090:4 nodes 2 limit 10h priority 500 user bob\n"
                            "pend 4 rtx2080ti:4 limit 10h priority 500 user bob\n";
  const auto plan = [&](int64_t priority) {
    return *Ask(world, "1-12", 3600,
                {{"rtx4090", "main", 1, 1, 8, priority}, {"rtx2080ti", "main", 1, 1, 4, priority}})
                ->sweep;
  };
  const SweepPlan stays = plan(900);
  ASSERT_EQ(stays.shares.size(), 2u);
  EXPECT_EQ(stays.shares[0].members, 8);
  EXPECT_NEAR(stays.makespan.p50, 3 * kHour, 0.2 * kHour);  // two of them on the slow GPUs
  EXPECT_EQ(stays.makespan.p50, stays.as_it_waits->p50);
  EXPECT_GT(plan(100).makespan.p50, 11 * kHour);
}

// With a history, which is empty: run times are drawn, so that delays can be told.
SweepPlan PlanWithHistory(const std::string& world, const std::string& array, double courtesy = 0) {
  static ForecastHistory* const past = new ForecastHistory;
  const Snapshot snapshot = SnapshotOf(world);
  const auto queue = PrepareQueue(std::make_shared<const Snapshot>(snapshot), *past);
  const auto limits = PrepareQueue(snapshot);
  AdviceContext context{snapshot, *queue, *limits, ShippedGpus(), ShippedModels()};
  context.courtesy = courtesy;
  AdviceRequest request{OneGpuRun(), {}, {}, {}, false, *ParseArrayTasks(array)};
  request.constraints.gpus_per_node = 1;
  const auto advice = Advise(request, context, {1001, "ann", "lab", ""});
  EXPECT_TRUE(advice && advice->sweep) << (advice ? "no plan" : advice.error().message);
  return advice && advice->sweep ? *advice->sweep : SweepPlan();
}

TEST(PlanSweep, DelaysNobodyOnAnIdleCluster) {
  const SweepPlan plan = PlanWithHistory(kTwoTypes, "1-40");
  ASSERT_TRUE(plan.delay);
  EXPECT_EQ(plan.delay->seconds, 0);
}

TEST(PlanSweep, HalfOfTheRunsAreNotDoneLaterThanAll) {
  const SweepPlan plan = PlanWithHistory(kTwoTypes, "1-4");  // all at once
  EXPECT_LE(plan.half_done, plan.makespan.p50);
}

TEST(PlanSweep, SaysNothingOfOthersWhereAllRunToTheirLimits) {
  EXPECT_FALSE(PlanOf(kTwoTypes, "1-40").delay);
}

// The nodes of RTX 4090 are about to be free. Bob's jobs, a node each, stand behind the sweep.
std::string OthersBehind(int jobs) {
  std::string world =
      "config priority multifactor qos 1000\nqos normal priority 10\nqos low priority 1\n"
      "node a[1-2] rtx4090:4 cpus 32 mem 400000\nnode b1 rtx2080ti:4 cpus 32 mem 400000\n"
      "run 1 a[1-2] rtx4090:4 ends 1m user carl\n";
  for (int i = 0; i < jobs; ++i) {
    world +=
        "pend " + std::to_string(2 + i) + " rtx4090:4 limit 4h priority 100 qos low user bob\n";
  }
  return world;
}

TEST(PlanSweep, CountsWhatOthersWaitForIt) {
  const SweepPlan plan = PlanWithHistory(OthersBehind(2), "1-40");
  ASSERT_TRUE(plan.delay);
  EXPECT_GT(plan.delay->seconds, 2 * kHour) << "two jobs wait for two hours or more";
  EXPECT_GT(plan.delay->jobs, 1);
}

// Four runs end an hour later for it, and the jobs of others start nine hours sooner, together.
TEST(PlanSweep, LeavesTheGpusToOthersWhereTheSiteIsCourteous) {
  const std::string world = OthersBehind(24);
  const SweepPlan own = PlanWithHistory(world, "1-4");
  const SweepPlan courteous = PlanWithHistory(world, "1-4", 1);
  ASSERT_TRUE(own.delay && courteous.delay);
  EXPECT_EQ(Members(courteous), 4);
  EXPECT_LT(courteous.delay->seconds, own.delay->seconds);
  EXPECT_LE(courteous.makespan.p50 + courteous.delay->seconds / 4,
            own.makespan.p50 + own.delay->seconds / 4);
}

TEST(Advise, AnArrayOfMoreTasksThanArePlannedSaysSo) {
  const Result<Advice> advice = Ask(kTwoTypes, "1-5000");
  ASSERT_TRUE(advice);
  EXPECT_FALSE(advice->sweep);
  EXPECT_TRUE(std::any_of(advice->tips.begin(), advice->tips.end(), [](const std::string& tip) {
    return tip.find("5000 tasks is not planned") != std::string::npos;
  }));
}

TEST(Advise, RunsThatMostlyStartAreBetterMadeTogether) {
  const auto tips = [](const json& start) {
    json text = json::parse(R"({"model": {"memory": {"base": "1 GB", "per_sample": "1 GB",
        "overhead": "1 GB"}}, "training": {"effective_batch_size": 4, "max_steps": 100, "measured":
        [{"gpu": "rtx4090", "gpus": 1, "batch": 4, "seconds_per_step": 1}]}, "command": "x"})");
    if (!start.is_null()) text["training"]["start_seconds"] = start;
    const Snapshot snapshot = SnapshotOf(kTwoTypes);
    const auto queue = PrepareQueue(snapshot);
    const AdviceContext context{snapshot, *queue, *queue, ShippedGpus(), ShippedModels()};
    const AdviceRequest request{*ParseTrainSpec(text, "/spec"), {}, {}, {}, false,
                                *ParseArrayTasks("1-9")};
    const auto advice = Advise(request, context, {1001, "ann", "lab", ""});
    return std::count_if(advice->tips.begin(), advice->tips.end(), [](const std::string& tip) {
      return tip.find("makes several runs after one start") != std::string::npos;
    });
  };
  EXPECT_EQ(tips(300), 1);  // of 400 s
  EXPECT_EQ(tips(30), 0);
  EXPECT_EQ(tips(nullptr), 0) << "the start is not known";
}

TEST(Advise, RunsThatLosePriorityWhileTheyWaitAreToBeKept) {
  const auto tips = [](const std::string& config, const std::string& array) {
    const auto advice = Ask(std::string(kTwoTypes) + config, array);
    return std::count_if(advice->tips.begin(), advice->tips.end(), [](const std::string& tip) {
      return tip.find("--keep") != std::string::npos;
    });
  };
  const std::string multifactor = "config priority multifactor fairshare 1000\n";
  EXPECT_EQ(tips(multifactor, "1-40"), 1);
  EXPECT_EQ(tips(multifactor, "1-8"), 0) << "all start at once";
  EXPECT_EQ(tips("config priority multifactor fairshare 0\n", "1-40"), 0);
  EXPECT_EQ(tips("", "1-40"), 0);
}

TEST(Advise, ASingleTaskIsNoSweep) { EXPECT_FALSE(Ask(kTwoTypes, "7")->sweep); }

RC_GTEST_PROP(PlanSweep, IsNeverLaterThanTheBestTypeAlone, ()) {
  const auto fast = *rc::gen::inRange(1, 5), slow = *rc::gen::inRange(1, 5);
  const auto busy = *rc::gen::inRange(0, 6), runs = *rc::gen::inRange(2, 40);
  std::string world = "node a[1-" + std::to_string(fast) + "] rtx4090:2 cpus 32 mem 400000\n" +
                      "node b[1-" + std::to_string(slow) + "] rtx2080ti:2 cpus 32 mem 400000\n";
  if (busy > 0) world += "run 1 a1 rtx4090:2 ends " + std::to_string(busy) + "h\n";
  const SweepPlan plan = PlanOf(world, "1-" + std::to_string(runs));
  RC_ASSERT(Members(plan) == runs);
  RC_ASSERT(plan.makespan.p50 <= plan.single_makespan.p50 + 1);
}

}  // namespace
}  // namespace gpuadvise
