#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/gpu/gpu_pool.h"
#include "daemon/answers/views.h"
#include "daemon/answers/wait_questions.h"
#include "tests/daemon/answers/answer_world.h"
#include "tests/fakes/seed_cluster.h"

namespace gpuadvise::daemon {
namespace {

using nlohmann::json;

json Ask(const AnswerWorld& world, const Submitter& caller = kNobodyAsks) {
  return AnswerWaits(world.Context(), caller);
}

json WaitFor(const json& answer, const std::string& gpu, const std::string& shape, int64_t limit) {
  const json type = RowWith(answer["gpus"], "gpu", gpu);
  for (const json& wait : type["waits"]) {
    if (wait["shape"] == shape && wait["time_limit_seconds"] == limit) return wait;
  }
  return nullptr;
}

json BestFor(const json& answer, int64_t gpus, int64_t limit) {
  for (const json& best : answer["best"]) {
    if (best["gpus_per_node"] == gpus && best["time_limit_seconds"] == limit) {
      return best["choices"];
    }
  }
  return nullptr;
}

TEST(AnswerWaits, SaysForEachTypeHowLongEachShapeWaits) {
  const AnswerWorld world(std::string(kSeedCluster) +
                          "run 1 classt25 gpu4090:4 cpus 4 ends 1h\n"
                          "pend 2 gpu4090:4 cpus 4 limit 3h\n");
  const json answer = Ask(world);
  const json type = RowWith(answer["gpus"], "gpu", "rtx4090");
  EXPECT_EQ(type["total"], 4);
  EXPECT_EQ(type["usable"], 4);
  EXPECT_EQ(type["free"], 0);
  EXPECT_EQ(type["partitions"], json::array({"gpu_shared"}));
  EXPECT_EQ(type["waits"].size(), 12u);
  const json one = WaitFor(answer, "rtx4090", "one", 3600);
  EXPECT_EQ(one["wait_p50_seconds"], 4 * 3600);
  EXPECT_EQ(one["partition"], "gpu_shared");
  EXPECT_TRUE(one["reason"].is_null());
  EXPECT_EQ(WaitFor(answer, "l40s", "half_node", 28800)["gpus_per_node"], 3);
  EXPECT_EQ(answer["pending"], 1);
  EXPECT_EQ(answer["running"], 1);
  EXPECT_EQ(answer["forecast"]["method"], "limits");
  EXPECT_EQ(answer["forecast"]["samples"], 1);
}

TEST(AnswerWaits, WhatCanNeverRunSaysWhy) {
  const AnswerWorld world("node n1 gpu4090:4 cpus 32\npartition short ALL max 8h default");
  const json answer = Ask(world);
  const json two = WaitFor(answer, "rtx4090", "two_nodes", 3600);
  EXPECT_TRUE(two["wait_p50_seconds"].is_null());
  EXPECT_TRUE(two["partition"].is_null());
  EXPECT_FALSE(two["reason"].get<std::string>().empty());
  EXPECT_NE(
      WaitFor(answer, "rtx4090", "one", 86400)["reason"].get<std::string>().find("time limit"),
      std::string::npos);
  EXPECT_EQ(BestFor(answer, 1, 86400), json::array());
}

TEST(AnswerWaits, EqualShapesAreThereOnce) {
  const json answer = Ask(AnswerWorld("node n[1-2] gpu4090:1 cpus 8\nnode m1 gpul40s:2 cpus 8"));
  EXPECT_EQ(RowWith(answer["gpus"], "gpu", "rtx4090")["waits"].size(), 2u * 3);
  EXPECT_EQ(RowWith(answer["gpus"], "gpu", "l40s")["waits"].size(), 3u * 3);
  EXPECT_TRUE(WaitFor(answer, "l40s", "half_node", 3600).is_null());
}

TEST(AnswerWaits, EachIsThePartitionWhereItStartsFirst) {
  const AnswerWorld world(
      "node n1 gpu4090:4 cpus 32\nnode n2 gpu4090:4 cpus 32\npartition full n1 default\n"
      "partition spare n2\nrun 1 n1 gpu4090:4 cpus 4 ends 5h in full\n");
  EXPECT_EQ(WaitFor(Ask(world), "rtx4090", "node", 3600)["partition"], "spare");
  EXPECT_EQ(WaitFor(Ask(world), "rtx4090", "node", 3600)["wait_p50_seconds"], 0);
}

TEST(AnswerWaits, TheBestPlacesAreThoseThatStartFirst) {
  const AnswerWorld world(
      "node n1 gpu4090:4 cpus 32\nnode n2 gpul40s:4 cpus 32\nnode n3 gpu2080:4 cpus 32\n"
      "node n4 h100_1g.11gb:4 cpus 32\n"
      "run 1 n1 gpu4090:4 cpus 4 ends 5h\nrun 2 n2 gpul40s:4 cpus 4 ends 1h\n");
  const json answer = Ask(world);
  const json choices = BestFor(answer, 4, 3600);
  ASSERT_EQ(choices.size(), 3u);  // slices cannot work together
  EXPECT_EQ(choices[0]["gpu"], "rtx2080ti");
  EXPECT_EQ(choices[1]["gpu"], "l40s");
  EXPECT_EQ(choices[1]["wait_mean_seconds"], 3600);
  EXPECT_EQ(choices[2]["gpu"], "rtx4090");
  EXPECT_TRUE(BestFor(answer, 8, 3600).is_null());  // no node has so many
}

TEST(AnswerWaits, HiddenPartitionsAreNoPlaceToGo) {
  Snapshot snapshot = SnapshotOf(
      "node n1 gpu4090:4 cpus 32\nnode n2 gpu4090:4 cpus 32\npartition open n1 default\n"
      "partition secret n2\nrun 1 n2 gpu4090:4 cpus 4 ends 5h in secret\n");
  snapshot.partitions[1].hidden = true;
  const json answer = Ask(AnswerWorld(std::move(snapshot)));
  EXPECT_EQ(answer.dump().find("secret"), std::string::npos);
  EXPECT_EQ(answer["running"], 0);
  EXPECT_EQ(RowWith(answer["gpus"], "gpu", "rtx4090")["total"], 4);
}

TEST(AnswerWaits, AnEmptyClusterHasNothingToWaitFor) {
  const json answer = Ask(AnswerWorld(Snapshot()));
  EXPECT_EQ(answer["gpus"], json::array());
  EXPECT_EQ(answer["best"], json::array());
}

TEST(WaitQuestions, PartitionsThatDifferOnlyByNameAreAskedOnce) {
  const AnswerWorld world(
      "node n1 gpu4090:4 cpus 32\npartition a n1 default\npartition b n1\n"
      "partition c n1 max 1h\n");
  const auto pools = FindGpuPools(*world.snapshot, ShippedGpus());
  EXPECT_EQ(WaitQuestions(pools, 9).PoolsOf("rtx4090").size(), 2u);
  EXPECT_EQ(WaitQuestions(pools, 1).PoolsOf("rtx4090").size(), 1u);
}

TEST(WaitQuestions, EachIsAskedOnceHoweverOftenItComesUp) {
  const AnswerWorld world("node n1 gpu4090:4 cpus 32");
  const auto pools = FindGpuPools(*world.snapshot, ShippedGpus());
  WaitQuestions questions(pools, 9);
  for (int i = 0; i < 3; ++i) questions.Add(0, {2, 1, 3600});
  questions.Add(0, {4, 1, 3600});
  size_t asked = 0;
  AdviceContext context = world.Context();
  context.for_each = [&](size_t count, const std::function<void(size_t)>& body) {
    asked += count;
    Serial(count, body);
  };
  questions.Ask(context, kNobodyAsks);
  EXPECT_EQ(asked, 2u);
  EXPECT_EQ(questions.WaitOf(0, {2, 1, 3600}).mean, 0);
}

}  // namespace
}  // namespace gpuadvise::daemon
