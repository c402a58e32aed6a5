#include "daemon/answers/answers.h"

#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "common/base/work_budget.h"
#include "tests/fakes/seed_cluster.h"
#include "tests/fakes/shipped_catalogues.h"
#include "tests/fakes/snapshot_text.h"

namespace gpuadvise::daemon {
namespace {

using nlohmann::json;

const Submitter kAnn{1001, "ann", "", ""};

struct World {
  explicit World(const std::string& lines)
      : snapshot(SnapshotOf(kSeedCluster + lines)), queue(PrepareQueue(snapshot)) {}
  Snapshot snapshot;
  std::shared_ptr<const QueueModel> queue;
  AdviceContext Context() const {
    return {snapshot, *queue, *queue, ShippedGpus(), ShippedModels()};
  }
  json When(const json& job) const {
    Result<json> answer = AnswerWhen({{"jobs", {job}}}, Context(), kAnn);
    return answer ? (*answer)["answers"][0]
                  : json{{"error", {{"message", answer.error().message}}}};
  }
};

json GpuRow(const World& world, const std::string& gpu) {
  const json answer = AnswerGpus(world.Context(), kAnn);
  for (const json& row : answer["gpus"]) {
    if (row["gpu"] == gpu) return row;
  }
  return {};
}

TEST(AnswerWhen, CountsRunningAndPendingJobsWhereTestOnlySeesTheRunningOne) {
  World world("run 1 classt25 gpu4090:4 cpus 32 ends 1h\npend 2 gpu4090:4 cpus 32 limit 3h\n");
  json answer = world.When({{"gres", "gpu:gpu4090:4"}, {"time_limit_seconds", 3600}});
  EXPECT_EQ(answer["wait_p50_seconds"], 4 * 3600);
  EXPECT_EQ(answer["start_p50"], kSnapshotTime + 4 * 3600);
}

TEST(AnswerWhen, SaysWhichGpusAJobGetsThatNamesNone) {
  const World world("run 1 classt25 gpu4090:4 cpus 32 ends 1h\n");
  const json reasons = world.When({{"gpus", "1"}})["reasons"];
  EXPECT_EQ(reasons[0].get<std::string>().find("fits now on "), 0u) << reasons;
  EXPECT_NE(reasons.dump().find("L40S"), std::string::npos) << reasons;
  EXPECT_EQ(reasons.dump().find("RTX 4090"), std::string::npos) << reasons;
  EXPECT_EQ(world.When({{"gres", "gpu:gpul40s:1"}})["reasons"], json({"fits now"}));
}

TEST(AnswerWhen, CountsLicences) {
  const World world(
      "licence matlab 4 used 3\nrun 90 classt25 gpu4090:1 ends 2h licenses matlab=3\n");
  const auto wait = [&](const char* licences) {
    return world.When({{"gres", "gpu:gpu4090:1"}, {"licenses", licences}})["wait_p50_seconds"];
  };
  EXPECT_EQ(wait("matlab"), 0);
  EXPECT_EQ(wait("matlab:2"), 7200);
}

TEST(AnswerWhen, SaysWhatItDoesNotLookAt) {
  const json doubts =
      World("").When({{"gres", "gpu:l40s:6"}, {"nodes", 2}, {"switches", 1}})["doubts"];
  EXPECT_EQ(doubts, json({"--switches is not simulated: it may wait longer"}));
  EXPECT_EQ(World("").When({{"gres", "gpu:l40s:6"}})["doubts"], json::array());
}

TEST(AnswerWhen, WaitsForWhatItDependsOnAndSaysSo) {
  const World world("run 90 classt25 gpu4090:1 ends 2h\n");
  json job = {{"gres", "gpu:gpu4090:1"}, {"dependency", "afterok:90"}};
  const json answer = world.When(job);
  EXPECT_EQ(answer["wait_p50_seconds"], 7200);
  EXPECT_EQ(answer["doubts"], json({"--dependency: never starts if job 90 fails"}));
  job["dependency"] = "after 90";
  const auto refused = AnswerWhen({{"jobs", {job}}}, world.Context(), kAnn);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().pointer, "/jobs/0/dependency");
}

TEST(AnswerWhen, AHoldIsSaid) {
  const json answer = World("").When({{"gres", "gpu:gpu4090:1"}, {"hold", true}});
  EXPECT_NE(answer["doubts"][0].get<std::string>().find("scontrol release"), std::string::npos);
}

TEST(AnswerWhen, TakesTheNamesThatPeopleType) {
  json answer = World("").When({{"gres", "gpu:l40s:6"}, {"time_limit_seconds", 36000}});
  EXPECT_EQ(answer["gres"], "gpu:gpul40s:6");
  EXPECT_EQ(answer["wait_p50_seconds"], 0);
  EXPECT_EQ(answer["partition"], "gpu_shared");
}

TEST(AnswerWhen, AnUnknownNameIsAnsweredWithThoseThereAre) {
  json answer = World("").When({{"gres", "gpu:a100:1"}});
  EXPECT_NE(answer["error"]["message"].get<std::string>().find("gpul40s"), std::string::npos)
      << answer;
}

TEST(AnswerWhen, AnUnknownPartitionIsAnsweredWithThoseThereAreBeforeItsGpu) {
  json answer = World("").When({{"partition", "nosuch"}, {"gres", "gpu:b200:1"}});
  const std::string message = answer["error"]["message"];
  EXPECT_NE(message.find("nosuch"), std::string::npos) << message;
  EXPECT_NE(message.find("gpu_shared"), std::string::npos) << message;
}

TEST(AnswerWhen, WithoutALimitThePartitionsCounts) {
  json answer = World("").When({{"gres", "gpu:gpu4090:1"}});
  EXPECT_EQ(answer["time_limit_seconds"], 2 * 86400);
}

TEST(AnswerWhen, OneImpossibleJobDoesNotSpoilTheOthers) {
  World world("");
  Result<json> answer =
      AnswerWhen({{"jobs", {{{"gres", "gpu:gpu4090:9"}}, {{"gres", "gpu:gpu4090:1"}}}}},
                 world.Context(), kAnn);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_FALSE((*answer)["answers"][0]["error"].is_null());
  EXPECT_EQ((*answer)["answers"][1]["wait_p50_seconds"], 0);
}

TEST(AnswerWhen, AnArrayIsAnsweredToItsLastTask) {
  const World world("");
  const json job = {{"gres", "gpu:gpu4090:4"}, {"time_limit_seconds", 3600}};
  json array = job;
  array.update({{"array_tasks", 3}, {"array_throttle", 1}});
  const auto answer = AnswerWhen({{"jobs", {job, array}}}, world.Context(), kAnn);
  ASSERT_TRUE(answer);
  const json& answers = (*answer)["answers"];
  EXPECT_FALSE(answers[0].contains("array"));
  EXPECT_EQ(answers[1]["wait_p50_seconds"], 0);
  EXPECT_EQ(answers[1]["array"]["tasks"], 3);
  EXPECT_EQ(answers[1]["array"]["throttle"], 1);
  EXPECT_NEAR(answers[1]["array"]["wait_p50_seconds"].get<double>(), 7200, 300);
  EXPECT_NEAR(answers[1]["array"]["wait_at_limits_seconds"].get<double>(), 7200, 300);
  const json many = json(std::vector<json>(9, array));
  EXPECT_EQ(AnswerWhen({{"jobs", many}}, world.Context(), kAnn).error().pointer,
            "/jobs/8/array_tasks");
}

TEST(AnswerWhen, AFormsAlternativesAreTheSameAnswersWithoutRemedies) {
  const World world("");
  json jobs = json::array();
  for (int i = 0; i < 20; ++i) {
    const std::string gres = "gpu:gpu4090:" + std::to_string(1 + i % 5);
    jobs.push_back({{"gres", gres}, {"time_limit_seconds", 3600 * (1 + i / 5)}});
  }
  const auto whole = AnswerWhen({{"jobs", jobs}}, world.Context(), kAnn);
  AdviceContext context = world.Context();
  size_t lent = 0;
  context.for_each = [&](size_t count, const std::function<void(size_t)>& body) {
    lent += count;
    for (size_t i = count; i > 0; --i) body(i - 1);  // in any order
  };
  const auto form = AnswerWhen({{"jobs", jobs}, {"cheaper", false}}, context, kAnn);
  ASSERT_TRUE(whole && form);
  ASSERT_EQ((*form)["answers"].size(), jobs.size());
  EXPECT_EQ(lent, jobs.size());
  for (size_t i = 0; i < jobs.size(); ++i) {
    json expected = (*whole)["answers"][i];
    if (expected.contains("cheaper")) expected["cheaper"] = json::array();
    EXPECT_EQ((*form)["answers"][i], expected) << jobs[i];
  }
  EXPECT_FALSE(AnswerWhen({{"jobs", jobs}, {"cheaper", "no"}}, context, kAnn));
}

TEST(AnswerWhen, OneJobIsAnsweredHoweverLongItsStartTook) {
  const World world("run 1 classt25 gpu4090:4 cpus 32 ends 1h\n");
  using std::chrono::milliseconds;
  milliseconds clock(0);
  WorkBudget budget(milliseconds(10), [&] { return clock; });
  const WorkBudget::Share own(budget);
  AdviceContext context = world.Context();
  context.budget = &budget;
  context.for_each = [&](size_t count, const std::function<void(size_t)>& body) {
    for (size_t i = 0; i < count; ++i) body(i);
    clock += milliseconds(120);
  };
  const json job = {{"gres", "gpu:gpu4090:4"}, {"time_limit_seconds", 3600}};
  const auto one = AnswerWhen({{"jobs", {job}}}, context, kAnn);
  ASSERT_TRUE(one) << one.error().message;
  EXPECT_EQ((*one)["answers"].size(), 1u);
  EXPECT_TRUE(budget.gave_up()) << "what would start it earlier is left out";
  EXPECT_FALSE(AnswerWhen({{"jobs", {job, job}}}, context, kAnn));
}

TEST(AnswerWhen, ListsOfJobsAreBounded) {
  json jobs = json::array();
  for (int i = 0; i < 65; ++i) jobs.push_back(json::object());
  EXPECT_FALSE(AnswerWhen({{"jobs", jobs}}, World("").Context(), kAnn));
  EXPECT_FALSE(AnswerWhen(json::object(), World("").Context(), kAnn));
  EXPECT_FALSE(AnswerWhen(json(7), World("").Context(), kAnn));
}

TEST(AnswerGpus, CountsTotalUsableAndFree) {
  World world("run 1 classt[21] gpul40s:2 cpus 16 ends 1h\n");
  json row = GpuRow(world, "l40s");
  EXPECT_EQ(row["total"], 12);
  EXPECT_EQ(row["usable"], 12);
  EXPECT_EQ(row["free"], 10);
  EXPECT_EQ(row["wait_node_seconds"], 0);
  EXPECT_EQ(row["wait_two_nodes_seconds"], 3600);
}

TEST(AnswerGpus, ANodeWithoutAFreeCpuHasNoFreeGpu) {
  World world("run 1 classt25 gpu4090:1 cpus 32 ends 1h\n");
  EXPECT_EQ(GpuRow(world, "rtx4090")["free"], 0);
  EXPECT_EQ(GpuRow(world, "rtx4090")["wait_one_seconds"], 3600);
}

TEST(AnswerGpus, ANodeInTwoPartitionsCountsOnce) {
  World world("partition short classt25 max 1h\n");
  json row = GpuRow(world, "rtx4090");
  EXPECT_EQ(row["total"], 4);
  EXPECT_EQ(row["partitions"].size(), 2u);
}

TEST(AnswerGpus, DrainedNodesAreConfiguredButNotUsable) {
  World world("node extra gpul40s:6 state DRAIN\n");
  json row = GpuRow(world, "l40s");
  EXPECT_EQ(row["total"], 18);
  EXPECT_EQ(row["usable"], 12);
}

}  // namespace
}  // namespace gpuadvise::daemon
