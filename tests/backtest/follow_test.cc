#include "backtest/follow.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "backtest/cluster_file.h"
#include "backtest/workload.h"
#include "common/yaml/yaml_file.h"

namespace gpuadvise::backtest {
namespace {

using nlohmann::json;

Snapshot Lab() { return *ClusterOf(*LoadYamlFile(std::string(TEST_DATA) + "/lab_cluster.yaml")); }

json Followed(const std::string& rows, FollowOptions options) {
  const std::string columns = "t_s,user,gres,nodes,limit_min,runtime_s,training\n";
  const Snapshot cluster = Lab();
  const auto day = ReadWorkload(columns + rows, "made.csv", cluster);
  EXPECT_TRUE(day) << (day ? "" : day.error().message);
  size_t told = 0;
  const auto figures = Follow(*day, cluster, options, [&](size_t done, size_t) { told = done; });
  EXPECT_TRUE(figures) << (figures ? "" : figures.error().message);
  EXPECT_EQ(told, figures->at("trainings"));
  return *figures;
}

// All four RTX 4090 are busy for 3 h; the training runs 1 h there, or 2 h on an RTX 4070.
const std::string kBusy =
    "0,ann,gpu4090:4,1,180,10800,\n"
    "60,bob,gpu4090:4,1,75,3600,a\n"
    "60,bob,gpu4070:4,1,150,7200,a\n";

TEST(Follow, TheFastestWaitsForItsGpusAndAnAdviceGoesElsewhere) {
  const json fastest = Followed(kBusy, {.rule = FollowRule::kFastest});
  EXPECT_EQ(fastest["gpus"], json({{"gpu4090", 1}}));
  EXPECT_NEAR(fastest["result_mean_seconds"], 10800 - 60 + 3600, 90);
  for (const FollowRule rule : {FollowRule::kTestOnly, FollowRule::kAdvise}) {
    const json other = Followed(kBusy, {.rule = rule});
    EXPECT_EQ(other["gpus"], json({{"gpu4070", 1}}));
    EXPECT_NEAR(other["result_mean_seconds"], 7200, 90);
    EXPECT_NEAR(other["gpu_hours"], 8, 0.01);
  }
}

TEST(Follow, WhatWasChosenIsInTheWayOfTheNext) {
  const json figures = Followed(
      "0,ann,gpu4070:1,1,10,60,\n"
      "60,bob,gpu4090:4,1,75,3600,a\n"
      "120,ann,gpu4090:4,1,75,3600,b\n"
      "180,cem,gpu4090:4,1,10,60,\n",
      {.rule = FollowRule::kFastest});
  EXPECT_NEAR(figures["wait_mean_seconds"], 3540 / 2.0, 90);
  EXPECT_EQ(figures["others"], 2);
  EXPECT_NEAR(figures["others_wait_mean_seconds"], (3600 * 2 - 120) / 2.0, 120);
  EXPECT_NEAR(figures["everybody_seconds"],
              2 * figures["result_mean_seconds"].get<double>() +
                  2 * figures["others_wait_mean_seconds"].get<double>(),
              1);
}

TEST(Follow, ADayOfTrainingsAloneIsPlayed) {
  const json figures = Followed("60,bob,gpu4090:4,1,75,3600,a\n90,bob,gpu4090:4,1,75,3600,b\n", {});
  EXPECT_EQ(figures["trainings"], 2);
  EXPECT_NEAR(figures["wait_mean_seconds"], 3570 / 2.0, 90);
}

TEST(Follow, WhatNeverStartsIsCountedApart) {
  const json figures = Followed("0,ann,gpu4090:4,99,10,60,\n60,bob,gpu4090:4,1,75,3600,a\n", {});
  EXPECT_EQ(figures["never_started"], 1);
  EXPECT_EQ(figures["others"], 0);
}

TEST(Follow, ADayWithoutTrainingsIsRefused) {
  const Snapshot cluster = Lab();
  const auto day = ReadWorkload(
      "t_s,user,gres,nodes,limit_min,runtime_s\n0,ann,gpu4090:4,1,600,1000\n", "made.csv", cluster);
  ASSERT_TRUE(day);
  const auto figures = Follow(*day, cluster, {}, [](size_t, size_t) {});
  ASSERT_FALSE(figures);
  EXPECT_NE(figures.error().message.find("no row names a training"), std::string::npos);
}

TEST(Follow, RulesHaveNames) {
  EXPECT_EQ(FollowRuleOf("advise"), FollowRule::kAdvise);
  EXPECT_EQ(FollowRuleOf("row 1"), std::nullopt);
}

}  // namespace
}  // namespace gpuadvise::backtest
