// One way to run a training: its time limit, its request, its wait, its total and its cost.
#include "common/advise/strategy.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/fakes/shipped_catalogues.h"
#include "tests/fakes/snapshot_text.h"

namespace gpuadvise {
namespace {

using nlohmann::json;

constexpr int64_t kHour = 3600;

// Ten hours on four RTX 4090, start-up beside.
TrainSpec TenHours() {
  const Result<TrainSpec> spec = ParseTrainSpec(json::parse(R"({"model": {"memory":
      {"base": "5 GB", "per_sample": "1.2 GB", "overhead": "2 GB"}}, "training": {"max_steps": 9000,
      "effective_batch_size": 120, "measured": [{"gpu": "rtx4090", "gpus": 4, "batch": 10,
      "seconds_per_step": 4}]}, "command": "x"})"),
                                                "/spec");
  EXPECT_TRUE(spec);
  return *spec;
}

// A cluster of RTX 4090, asked for four of them unless a test says otherwise.
struct Site {
  explicit Site(const std::string& world)
      : snapshot(SnapshotOf(world)),
        queue(PrepareQueue(snapshot)),
        pools(FindGpuPools(snapshot, ShippedGpus())) {
    constraints.gpus_per_node = 4;
  }
  AdviceContext Context() const { return {snapshot, *queue, *queue, ShippedGpus(), models}; }
  Strategy Placed() const {
    const Result<Placements> found =
        FindPlacements(spec, constraints, snapshot, pools, ShippedGpus().catalogue(), caller);
    Strategy strategy;
    if (found && !found->possible.empty()) strategy.placement = found->possible.front();
    EXPECT_NE(strategy.placement.pool, nullptr);
    return strategy;
  }
  Result<Strategy> Fit() const {
    Strategy strategy = Placed();
    if (auto done = FitAndEstimate(spec, constraints, Context(), strategy); !done)
      return tl::unexpected(done.error());
    return strategy;
  }
  Result<Strategy> Predict() const {
    Result<Strategy> strategy = Fit();
    if (!strategy) return strategy;
    if (auto done = PredictStart(constraints, Context(), caller, *strategy); !done)
      return tl::unexpected(done.error());
    return strategy;
  }

  Snapshot snapshot;
  std::shared_ptr<const QueueModel> queue;
  std::vector<GpuPool> pools;
  TrainSpec spec = TenHours();
  Constraints constraints;
  const ModelPresets& models = ShippedModels();
  Submitter caller{1001, "ann", "lab", ""};
};

const char* const kOneNode = "node n1 rtx4090:4 cpus 32 mem 100000\n";

bool Notes(const Strategy& strategy, const std::string& word) {
  return std::any_of(strategy.notes.begin(), strategy.notes.end(),
                     [&](const std::string& note) { return note.find(word) != std::string::npos; });
}

TEST(Strategy, TheTimeLimitIsWhatMostRunsNeedInQuarterHours) {
  const Result<Strategy> strategy = Site(kOneNode).Fit();
  ASSERT_TRUE(strategy);
  EXPECT_NEAR(strategy->run.p50, 36'000 + kStartUpSeconds, 1e-6);
  EXPECT_EQ(strategy->time_limit_seconds % 900, 0);
  EXPECT_GE(strategy->time_limit_seconds, 1.1 * strategy->run.p90);
  EXPECT_LT(strategy->time_limit_seconds, 1.1 * strategy->run.p90 + 900);
  EXPECT_FALSE(strategy->limit_is_capped);
}

TEST(Strategy, TheRunIsLogNormalAroundItsMedian) {
  const Result<Strategy> strategy = Site(kOneNode).Fit();
  const Spread& run = strategy->run;
  EXPECT_NEAR(run.p10 * run.p90, run.p50 * run.p50, 1e-6 * run.p50 * run.p50);
  EXPECT_LT(run.p10, run.p50);
  EXPECT_GT(run.mean, run.p50);
  EXPECT_LT(run.mean, run.p90);
}

TEST(Strategy, AFixedMicroBatchOfAModelThatNobodyDescribedIsSaidToBeUnchecked) {
  Site site("node n1 rtx3090:4 cpus 32 mem 100000\n");
  EXPECT_TRUE(site.Fit()->MemoryChecked());
  Stage& stage = site.spec.stages[0];
  stage.model = {};
  stage.training.micro_batch = 10;
  EXPECT_TRUE(site.Fit()->MemoryChecked());  // it ran on a 4090, which has no more memory
  stage.training.micro_batch = 15;
  const Result<Strategy> unchecked = site.Fit();
  ASSERT_TRUE(unchecked);
  EXPECT_FALSE(unchecked->MemoryChecked());
  EXPECT_TRUE(Notes(*unchecked, "memory not checked: micro-batch 15 may not fit 24 GiB"));
}

TEST(Strategy, StagesAddUpAndStartOnce) {
  Site site(kOneNode);
  site.spec.stages.push_back(site.spec.stages.front());
  const Result<Strategy> strategy = site.Fit();
  EXPECT_EQ(strategy->stages.size(), 2u);
  EXPECT_NEAR(strategy->run.p50, 2 * 36'000 + kStartUpSeconds, 1e-6);
}

TEST(Strategy, ThePartitionsMaximumCapsTheLimit) {
  const Result<Strategy> strategy = Site(std::string(kOneNode) + "partition p ALL max 11h").Fit();
  ASSERT_TRUE(strategy);
  EXPECT_EQ(strategy->time_limit_seconds, 11 * kHour);
  EXPECT_TRUE(strategy->limit_is_capped);
  EXPECT_TRUE(Notes(*strategy, "may reach its time limit"));
  EXPECT_EQ(
      Site(std::string(kOneNode) + "partition p ALL max 9h").Fit().error().message,
      "would take 10 h 15, more than the partition's 9 h; training.resume: true makes it a chain "
      "of jobs");
}

TEST(Strategy, TheCallersLimitIsKeptWhereTheRunFits) {
  Site site(std::string(kOneNode) + "partition p ALL max 40h");
  site.constraints.time_limit_seconds = 30 * kHour;
  EXPECT_EQ(site.Fit()->time_limit_seconds, 30 * kHour);
  site.constraints.time_limit_seconds = 11 * kHour;
  EXPECT_TRUE(site.Fit()->limit_is_capped);
  site.constraints.time_limit_seconds = 9 * kHour;
  EXPECT_EQ(site.Fit().error().message, "would take 10 h 15, more than your time limit of 9 h");
  site.constraints.time_limit_seconds = 41 * kHour;
  EXPECT_EQ(site.Fit().error().pointer, "/time");
}

TEST(Strategy, ATrainingThatResumesBecomesAChainOfJobs) {
  Site site(std::string(kOneNode) + "partition p ALL max 4h");
  site.spec.stages[0].training.resume = true;
  const Result<Strategy> strategy = site.Predict();
  ASSERT_TRUE(strategy);
  EXPECT_EQ(strategy->time_limit_seconds, 4 * kHour);
  EXPECT_GE(strategy->segments, 3);
  EXPECT_GT(strategy->run.p50, 36'000 + kStartUpSeconds);
  EXPECT_TRUE(Notes(*strategy, "in sequence"));
  site.constraints.time_limit_seconds = 10 * 60;
  EXPECT_NE(site.Fit().error().message.find("resuming does not help"), std::string::npos);
}

TEST(Strategy, EachJobOfAChainWaitsAgain) {
  Site site(std::string(kOneNode) + "partition p ALL max 4h\nrun 1 n1 rtx4090:4 ends 3h");
  site.spec.stages[0].training.resume = true;
  const Result<Strategy> strategy = site.Predict();
  ASSERT_TRUE(strategy);
  const double waits = 3.0 * kHour * static_cast<double>(strategy->segments);
  EXPECT_DOUBLE_EQ(strategy->total.mean, waits + strategy->run.mean);
  EXPECT_NEAR(strategy->total.p50, waits + strategy->run.p50, 60);
}

TEST(Strategy, RareCheckpointsCostAChainMoreWork) {
  Site site(std::string(kOneNode) + "partition p ALL max 4h");
  site.spec.stages[0].training.resume = true;
  site.spec.output.save_steps = 10;
  const double often = site.Fit()->run.p50;
  site.spec.output.save_steps = 1000;  // more than an hour of steps
  EXPECT_GT(site.Fit()->run.p50, often + kHour);
}

TEST(Strategy, WritingCheckpointsIsPartOfTheRun) {
  Site site(kOneNode);
  const double without = site.Fit()->run.p50;
  site.spec.output.checkpoint_bytes = 100'000'000'000;
  site.spec.output.save_steps = 1000;
  EXPECT_NEAR(site.Fit()->run.p50, without + 9 * 100, 1e-6);
}

TEST(Strategy, TheCallersConstraintAndThePoolsOwnBothHold) {
  Site site(kOneNode);
  site.constraints.constraint = "x|y";
  site.constraints.exclude = "n8";
  Strategy strategy = site.Placed();
  strategy.placement.selector = {"ada", {"n9"}};
  ASSERT_TRUE(FitAndEstimate(site.spec, site.constraints, site.Context(), strategy));
  EXPECT_EQ(strategy.request.features, "(x|y)&ada");
  EXPECT_EQ(strategy.request.excluded_nodes, (std::vector<std::string>{"n8", "n9"}));
}

TEST(Strategy, TheRequestIsThePlacementInSlurmsWords) {
  Site site(
      "node n1 rtx4090:8 cpus 32 mem 100000 features x\nnode n2 rtx4090:8 cpus 32 mem 100000");
  site.constraints.constraint = "x";
  site.constraints.exclude = "n2";
  site.constraints.nodelist = "n1";
  const JobRequest request = site.Fit()->request;
  EXPECT_EQ(request.partitions, std::vector<std::string>{"main"});
  EXPECT_EQ(request.gpus_per_node, (GpuCounts{{"rtx4090", 4}}));
  EXPECT_EQ(request.cpus, 16);
  EXPECT_EQ(request.memory_per_node_mib, 50'000);
  EXPECT_EQ(request.features, "x");
  EXPECT_EQ(request.required_nodes, std::vector<std::string>{"n1"});
  EXPECT_EQ(request.excluded_nodes, std::vector<std::string>{"n2"});
  EXPECT_EQ(request.time_limit_seconds, site.Fit()->time_limit_seconds);
}

TEST(Strategy, CostIsThePartitionsBillingWhereTheCardHasNoPrice) {
  Site site(kOneNode);
  EXPECT_FALSE(site.Fit()->cost);
  site.snapshot.partitions[0].billing_weights = "GRES/gpu=2";
  const Result<Strategy> strategy = site.Fit();
  EXPECT_TRUE(strategy->cost_is_billing);
  EXPECT_DOUBLE_EQ(*strategy->cost, 8 * strategy->run.mean / 3600);
  EXPECT_DOUBLE_EQ(strategy->gpu_hours, 4 * strategy->run.mean / 3600);
  EXPECT_DOUBLE_EQ(*strategy->kilowatt_hours, strategy->gpu_hours * 0.450);
}

TEST(Strategy, ThePriceOfTheCardComesBeforeBilling) {
  Site site(kOneNode);
  site.snapshot.partitions[0].billing_weights = "GRES/gpu=2";
  GpuModel priced = *site.pools[0].model;
  priced.price_per_gpu_hour = 3;
  site.pools[0].model = &priced;
  const Result<Strategy> strategy = site.Fit();
  ASSERT_TRUE(strategy);
  EXPECT_FALSE(strategy->cost_is_billing);
  EXPECT_DOUBLE_EQ(*strategy->cost, 3 * strategy->gpu_hours);
}

TEST(Strategy, NodesWhoseNetworkIsNotKnownLowerTheConfidence) {
  Site site("node n[1-2] rtx4090:4 cpus 32 mem 100000");
  EXPECT_FALSE(Notes(*site.Fit(), "network"));
  site.constraints.nodes = 2;
  EXPECT_TRUE(Notes(*site.Fit(), "low confidence: the network between nodes is not known"));
}

TEST(Strategy, TheTotalIsTheWaitAndTheRun) {
  const Result<Strategy> strategy =
      Site(std::string(kOneNode) + "run 1 n1 rtx4090:4 ends 5h").Predict();
  ASSERT_TRUE(strategy);
  EXPECT_EQ(strategy->wait.p50, 5 * kHour);
  EXPECT_EQ(strategy->wait_at_limits_seconds, 5 * kHour);
  EXPECT_TRUE(std::is_sorted(strategy->total_samples.begin(), strategy->total_samples.end()));
  EXPECT_NEAR(strategy->total.p50, 5 * kHour + strategy->run.p50, 60);
  EXPECT_DOUBLE_EQ(strategy->total.mean, 5 * kHour + strategy->run.mean);
}

// Two QOS, of which `limited` ("normal" or "high") may use no GPU before 5 h are over.
std::string TwoQos(const std::string& limited) {
  return "config enforce limits,qos\nnode n[1-2] rtx4090:4 cpus 32 mem 100000\n"
         "qos normal\nqos high\nqos " +
         limited + "2 per-user gres/gpu=4\n" +
         "assoc lab user ann qos normal,high,normal2,high2 default-qos " + limited +
         "2 default\nrun 1 n1 rtx4090:4 ends 5h qos " + limited + "2\n";
}

TEST(PredictStart, AnotherQosIsTakenWhereItStartsTheJobMuchEarlier) {
  const Result<Strategy> strategy = Site(TwoQos("normal")).Predict();
  ASSERT_TRUE(strategy) << strategy.error().message;
  EXPECT_EQ(strategy->qos, "normal");
  EXPECT_EQ(strategy->wait.p50, 0);
  EXPECT_EQ(strategy->reasons.back(), "QOS normal starts it 5 h earlier than your default");
}

TEST(PredictStart, WhereAllStartAlikeTheDefaultStays) {
  const Result<Strategy> strategy =
      Site(
          "config enforce qos\nqos normal\nqos high\n"
          "assoc lab user ann qos normal,high default-qos normal default\n" +
          std::string(kOneNode))
          .Predict();
  ASSERT_TRUE(strategy);
  EXPECT_EQ(strategy->qos, "");
  EXPECT_TRUE(strategy->reasons.empty());
}

TEST(PredictStart, WhereNoQosMayStartItTheFirstReasonIsTheError) {
  Site site(std::string(kOneNode) + "partition p ALL allow-accounts other");
  site.constraints.account = "lab";
  const Result<Strategy> strategy = site.Predict();
  ASSERT_FALSE(strategy);
  EXPECT_EQ(strategy.error().message, "partition p is for the accounts other, not lab");
}

TEST(PredictStart, WhatAPreemptedJobLosesIsPartOfTheTotal) {
  Site site("config preempt qos preempt-mode REQUEUE\nqos normal\nqos high preempts normal\n" +
            std::string(kOneNode) +
            "pend 2 rtx4090:4 cpus 4 mem 1000 qos high begin 1h limit 2h reason BeginTime");
  site.constraints.qos = "normal";
  const Result<Strategy> strategy = site.Predict();
  ASSERT_TRUE(strategy);
  EXPECT_EQ(strategy->wait.p50, 0);
  EXPECT_GE(strategy->start.MeanLost(), 3 * kHour);  // an hour's work and two of waiting
  EXPECT_DOUBLE_EQ(strategy->total.mean, strategy->run.mean + strategy->start.MeanLost());
  EXPECT_TRUE(Notes(*strategy, "preempted in"));
}

TEST(ShorterLimit, IsGivenWhereMostRunsNeedLessAndWouldBeDoneEarlier) {
  Site site(
      "node n[1-2] rtx4090:4 cpus 32 mem 100000\nrun 1 n1 rtx4090:4 ends 20h\n"
      "pend 2 rtx4090:4 nodes 2 cpus 8 mem 1000 priority 9000 limit 20h\n");
  site.constraints.time_limit_seconds = 30 * kHour;
  const Result<Strategy> strategy = site.Predict();
  EXPECT_EQ(strategy->wait.p50, 40 * kHour);
  const auto shorter = ShorterLimitFor(site.Context(), site.caller, {*strategy}, false);
  ASSERT_TRUE(shorter);
  EXPECT_EQ(shorter->place, 0U);
  EXPECT_LT(shorter->limit_seconds, 30 * kHour);
  EXPECT_TRUE(shorter->words.starts_with("RTX 4090 × 4: -t ")) << shorter->words;
  EXPECT_TRUE(shorter->words.ends_with(
      " instead of 1-06:00:00: starts 40 h sooner, now; 0.6 % of such runs would be cut off"))
      << shorter->words;
  const int64_t floor = shorter->limit_seconds + 2 * kHour;
  const auto above = ShorterLimitFor(site.Context(), site.caller, {*strategy}, false, floor);
  ASSERT_TRUE(above);
  EXPECT_EQ(above->limit_seconds, floor);
  EXPECT_FALSE(ShorterLimitFor(site.Context(), site.caller, {*strategy}, false, 30 * kHour));
  site.constraints.time_limit_seconds = {};
  EXPECT_FALSE(ShorterLimitFor(site.Context(), site.caller, {*site.Predict()}, false));
}

TEST(ShorterLimit, IsNotGivenWhereItWouldCutMoreRunsThanMayBe) {
  Site site(
      "node n[1-2] rtx4090:4 cpus 32 mem 100000\nrun 1 n1 rtx4090:4 ends 20h\n"
      "pend 2 rtx4090:4 nodes 2 cpus 8 mem 1000 priority 9000 limit 20h\n");
  site.constraints.time_limit_seconds = 30 * kHour;
  Strategy unsure = *site.Predict();
  unsure.run_sigma = 1;  // the limit is still that of most runs: p90 and a tenth
  unsure.run.p90 = unsure.run.p50 * 1.4;
  EXPECT_FALSE(ShorterLimitFor(site.Context(), site.caller, {unsure}, false));
  EXPECT_TRUE(ShorterLimitFor(site.Context(), site.caller, {unsure}, true));
}

RC_GTEST_PROP(Strategy, ALongerRunIsGivenNoShorterLimitAndAlwaysOneThatItsMedianFits, ()) {
  Site site(kOneNode);
  site.spec.stages[0].training.max_steps = *rc::gen::inRange(1, 100'000);
  const Result<Strategy> one = site.Fit();
  site.spec.stages[0].training.max_steps = *site.spec.stages[0].training.max_steps + 1000;
  const Result<Strategy> longer = site.Fit();
  RC_ASSERT(one && longer);
  RC_ASSERT(longer->time_limit_seconds >= one->time_limit_seconds);
  RC_ASSERT(static_cast<double>(one->time_limit_seconds) > one->run.p90);
}

}  // namespace
}  // namespace gpuadvise
