#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "client/preflight/preflight.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

json Spec() {
  return json::parse(R"({"name": "x", "training": {"max_steps": 10000}, "workdir": "~/{name}",
      "container": "~/a.sif", "setup": ["module load cuda"], "env": {"B": "{nodes}", "A": 1},
      "output": {"dir": "/s/{gpu}", "checkpoint": "7 GB", "keep": 5, "save_steps": 500},
      "command": "cd y\ntrain --batch {micro_batch}"})");
}

JobPlan Read(const json& spec) {
  SbatchOptions options;
  options.Set("output", "logs/%j.out");
  options.Set("job-name", "x");
  options.Set("chdir", "/w");
  api::Strategy strategy;
  strategy.gpu = "l40s";
  strategy.micro_batch = 8;
  strategy.nodes = 2;
  strategy.steps = 9000;
  return ReadJobPlan(spec, strategy, options);
}

TEST(JobPlan, HasTheStrategysFiguresFilledIn) {
  const JobPlan plan = Read(Spec());
  EXPECT_EQ(plan.workdir, "~/x");
  EXPECT_EQ(plan.output_dir, "/s/l40s");
  EXPECT_EQ(plan.command, "cd y\ntrain --batch 8");
  EXPECT_EQ(plan.container, "~/a.sif");
  EXPECT_EQ(plan.chdir, "/w");
  EXPECT_EQ(plan.logs, std::vector<std::string>{"logs/%j.out"});
  EXPECT_EQ(plan.env, (std::vector<std::pair<std::string, std::string>>{{"A", "1"}, {"B", "2"}}));
  EXPECT_TRUE(plan.has_setup);
}

TEST(JobPlan, CheckpointsAreAsWritten) {
  const CheckpointPlan plan = Read(Spec()).checkpoints;
  EXPECT_EQ(plan.bytes, 7'000'000'000);
  EXPECT_EQ(plan.estimated_from, "");
  EXPECT_EQ(plan.keep, 5);
  EXPECT_EQ(plan.save_steps, 500);
  EXPECT_EQ(plan.steps, 9000);
}

TEST(JobPlan, ASizeThatIsNotGivenIsEstimatedFromThePreset) {
  json spec = Spec();
  spec["output"].erase("checkpoint");
  EXPECT_FALSE(Read(spec).checkpoints.bytes);
  spec["model"] = {{"preset", "llama-2-7b"}};
  const CheckpointPlan plan = Read(spec).checkpoints;
  EXPECT_NEAR(static_cast<double>(plan.bytes.value_or(0)) / 1e9, 81, 1);
  EXPECT_NE(plan.estimated_from, "");
}

TEST(JobPlan, StepsOfStagesAddUp) {
  api::Strategy strategy;
  strategy.steps = 100;
  strategy.stages.resize(2);
  strategy.stages[0].steps = 100;
  strategy.stages[1].steps = 50;
  const JobPlan plan = ReadJobPlan(json::object(), strategy, {});
  EXPECT_EQ(plan.checkpoints.steps, 150);
}

TEST(JobPlan, WhatCannotBeReadIsLeftOutAndTheRestStays) {
  const JobPlan plan = ReadJobPlan(
      json::parse(R"({"output": 5, "env": [1], "training": "x", "setup": null, "command": "go"})"),
      api::Strategy(), {});
  EXPECT_EQ(plan.command, "go");
  EXPECT_EQ(plan.output_dir, "");
  EXPECT_TRUE(plan.env.empty());
  EXPECT_FALSE(plan.has_setup);
  EXPECT_EQ(plan.checkpoints.steps, 0);
  EXPECT_FALSE(plan.checkpoints.bytes);
}

TEST(JobPlan, WhatIsNoTextIsTakenAsItsJson) {
  const JobPlan plan = ReadJobPlan(
      json::parse(R"({"command": ["a"], "workdir": {"a": 1}, "container": 5, "setup": ["x"]})"),
      api::Strategy(), {});
  EXPECT_EQ(plan.command, "[\"a\"]");
  EXPECT_EQ(plan.workdir, "{\"a\":1}");
  EXPECT_EQ(plan.container, "5");
  EXPECT_TRUE(plan.has_setup);
}

}  // namespace
}  // namespace gpuadvise::client
