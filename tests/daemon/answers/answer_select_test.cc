#include "daemon/answers/answer_select.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "common/history/forecast_history.h"
#include "common/slurm/feature_expression.h"
#include "common/slurm/gres.h"
#include "tests/fakes/shipped_catalogues.h"
#include "tests/fakes/snapshot_text.h"

namespace gpuadvise::daemon {
namespace {

using nlohmann::json;

const Submitter kAnn{1001, "ann", "", ""};

// Two kinds of GPU in two partitions; "old" is where jobs go that say nothing.
constexpr const char* kTwoKinds =
    "node a[1-2] a100:4 features ampere,ib\n"
    "node l1 l40s:4 features ada,ib\n"
    "partition old a[1-2] max 2d default mem-per-cpu 1000\n"
    "partition new l1 max 2d mem-per-cpu 1000\n";
constexpr const char* kOneRoof =
    "node a[1-2] a100:4 features ampere,ib\n"
    "node l1 l40s:4 features ada,ib\n"
    "partition all ALL max 2d default mem-per-cpu 1000\n";
constexpr const char* kAllBusy =
    "run 1 a[1-2] a100:4 ends 2h\n"
    "run 2 l1 l40s:4 ends 2h\n";

struct World {
  explicit World(const std::string& lines) : World(SnapshotOf(lines)) {}
  explicit World(Snapshot given) : snapshot(std::move(given)), queue(PrepareQueue(snapshot)) {}
  json Ask(const json& body) const {
    const AdviceContext view{snapshot, *queue, *queue, ShippedGpus(), ShippedModels()};
    const Result<json> answer = AnswerSelect(body, view, kAnn);
    return answer ? *answer : json{{"error", answer.error().message}};
  }
  // The answer for a job of one hour.
  json Select(json job, json more = json::object()) const {
    job.emplace("time_limit_seconds", 3600);
    more["job"] = std::move(job);
    return Ask(more);
  }
  Snapshot snapshot;
  std::shared_ptr<const QueueModel> queue;
};

// "partition/gres/constraint" of the job to submit.
std::string Chosen(const json& answer) {
  const json& job = answer.value("job", json::object());
  return job.value("partition", "-") + "/" + job.value("gres", "-") + "/" +
         job.value("constraint", "-");
}

std::string ReasonOf(const json& answer) {
  EXPECT_TRUE(answer.value("job", json(1)).empty()) << answer;
  return answer.value("reason", "");
}

bool Says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Select, TheKindThatStartsFirstIsChosenInAnyPartition) {
  const World world(std::string(kTwoKinds) + "run 1 a[1-2] a100:4 ends 5h\n");
  const json answer = world.Select({{"gres", "gpu:4"}});
  EXPECT_EQ(Chosen(answer), "new/gpu:l40s:4/-");
  EXPECT_EQ(answer["job"]["wait_p50_seconds"], 0);
  ASSERT_EQ(answer["alternatives"].size(), 2u);
  EXPECT_EQ(answer["alternatives"][1]["gpu"], "a100-40gb-sxm");
  EXPECT_EQ(answer["alternatives"][1]["wait_p50_seconds"], 5 * 3600);
  EXPECT_EQ(answer["alternatives"][1]["in_job"], false);
}

TEST(Select, EveryWayToAskForGpusGetsTheTypeInItsOwnWords) {
  const World world(std::string(kTwoKinds) + "run 1 a[1-2] a100:4 ends 5h\n");
  EXPECT_EQ(world.Select({{"gpus", "2"}})["job"]["gpus"], "l40s:2");
  EXPECT_EQ(world.Select({{"gpus_per_node", "2"}})["job"]["gpus_per_node"], "l40s:2");
  const json both = world.Select({{"gres", "gpu"}, {"gpus", "1"}})["job"];
  EXPECT_EQ(both["gres"], "gpu:l40s:1");
  EXPECT_EQ(both["gpus"], "l40s:1");
}

TEST(Select, OneKindInTwoPartitionsIsOneJobForBoth) {
  const World world(std::string(kTwoKinds) + "partition short a[1-2] max 1d mem-per-cpu 1000\n" +
                    "run 2 l1 l40s:4 ends 5h\n");
  EXPECT_EQ(Chosen(world.Select({{"gres", "gpu:4"}})), "old,short/gpu:a100:4/-");
}

TEST(Select, KindsThatTieAreOneUntypedJobWhereNothingElseIsThere) {
  const json answer = World(std::string(kTwoKinds) + kAllBusy).Select({{"gres", "gpu:4"}});
  EXPECT_EQ(Chosen(answer), "new,old/-/-");
  EXPECT_EQ(answer["job"]["wait_p50_seconds"], 7200);
  EXPECT_EQ(answer["alternatives"][1]["in_job"], true);
}

TEST(Select, FeaturesKeepAThirdKindOut) {
  const std::string third = "node t1 rtx2080ti:4 features turing,ib\n";
  const World world(third + kOneRoof + kAllBusy + "run 3 t1 rtx2080ti:4 ends 9h\n");
  EXPECT_EQ(Chosen(world.Select({{"gres", "gpu:4"}})), "all/-/ada|ampere");
}

TEST(Select, AKindTooSmallForTheJobNeedsNoFeature) {
  const World world(std::string("node t1 rtx2080ti:2\n") + kOneRoof + kAllBusy +
                    "run 3 t1 rtx2080ti:2 ends 9h\n");
  EXPECT_EQ(Chosen(world.Select({{"gres", "gpu:4"}})), "all/-/-");
}

TEST(Select, WhereNoFeatureTellsThemApartOneKindIsNamed) {
  const World world(std::string("node t1 rtx2080ti:4 features ada,ampere,ib\n") + kOneRoof +
                    kAllBusy + "run 3 t1 rtx2080ti:4 ends 9h\n");
  EXPECT_EQ(Chosen(world.Select({{"gres", "gpu:4"}})), "all/gpu:l40s:4/-");
}

TEST(Select, ANodeWithTwoKindsIsNeverAskedUntyped) {
  const World world(
      "node m1 a100:4 l40s:4\nnode a1 a100:4\npartition all ALL max 2d default\n"
      "run 1 m1 a100:4 l40s:4 cpus 8 mem 8G ends 2h\nrun 2 a1 a100:4 ends 2h\n");
  EXPECT_EQ(Chosen(world.Select({{"gres", "gpu:4"}, {"mem_mib", 1000}})), "all/gpu:l40s:4/-");
}

TEST(Select, AJobOfSeveralNodesGetsOneKind) {
  const World world(std::string(kTwoKinds) + "node l2 l40s:4\npartition new2 l[1-2] max 2d\n" +
                    kAllBusy + "run 3 l2 l40s:4 ends 2h\n");
  const json answer = world.Select({{"gres", "gpu:4"}, {"nodes", 2}, {"mem_mib", 1000}});
  EXPECT_EQ(Chosen(answer), "new2/gpu:l40s:4/-") << answer;
  EXPECT_FALSE(answer["job"]["gres_type"].get<std::string>().empty());
}

TEST(Select, WhereTheBestStartsAtOnceOtherKindsAreNotAdded) {
  EXPECT_EQ(Chosen(World(kTwoKinds).Select({{"gres", "gpu:4"}})), "new/gpu:l40s:4/-");
}

TEST(Select, WaitsTieWithinTenMinutesOrATenth) {
  const auto chosen = [](const std::string& l40s_ends) {
    return Chosen(World(std::string(kTwoKinds) +
                        "run 1 a[1-2] a100:4 ends 10h\nrun 2 l1 l40s:4 ends " + l40s_ends + "\n")
                      .Select({{"gres", "gpu:4"}}));
  };
  EXPECT_EQ(chosen("9h30m"), "new,old/-/-");
  EXPECT_EQ(chosen("8h"), "new/gpu:l40s:4/-");
}

TEST(Select, AFixedPartitionStays) {
  const World world(std::string(kTwoKinds) + "run 1 a[1-2] a100:4 ends 5h\n");
  EXPECT_EQ(Chosen(world.Select({{"gres", "gpu:4"}, {"partition", "old"}})), "-/gpu:a100:4/-");
  EXPECT_EQ(Chosen(world.Select({{"gres", "gpu:4"}, {"partition", "old,new"}})), "-/gpu:l40s:4/-");
}

TEST(Select, AFixedTypeStays) {
  const World world(std::string(kTwoKinds) + "partition short a[1-2] max 1d mem-per-cpu 1000\n");
  const json answer = world.Select({{"gres", "gpu:a100:4"}});
  EXPECT_EQ(Chosen(answer), "old,short/-/-");
  EXPECT_FALSE(answer["job"].contains("gres_type"));
}

TEST(Select, AFixedConstraintStaysAndCounts) {
  const World world(std::string("node t1 rtx2080ti:4 features turing\n") + kOneRoof + kAllBusy);
  EXPECT_EQ(Chosen(world.Select({{"gres", "gpu:4"}, {"constraint", "ib"}})), "all/-/-");
  EXPECT_EQ(Chosen(world.Select({{"gres", "gpu:4"}, {"constraint", "ampere"}})),
            "all/gpu:a100:4/-");
}

TEST(Select, WithBothFixedNothingIsChosen) {
  const json answer = World(kTwoKinds).Select({{"gres", "gpu:a100:4"}, {"partition", "old"}});
  EXPECT_EQ(ReasonOf(answer), "partition and GPU type are given with the job");
}

TEST(Select, AnUntypedPoolIsNamedByItsFeature) {
  const World world(
      "node u1 gpu:4 features turing\nnode l1 l40s:4\npartition all ALL max 2d default\n"
      "run 1 l1 l40s:4 ends 5h\n");
  EXPECT_EQ(Chosen(world.Select({{"gres", "gpu:4"}, {"mem_mib", 1000}})), "all/-/turing");
}

TEST(Select, AnUntypedPoolWithoutAFeatureIsNoAlternative) {
  const World world(
      "node u1 gpu:4\nnode l1 l40s:4\npartition all ALL max 2d default\n"
      "run 1 l1 l40s:4 ends 5h\n");
  const json answer = world.Select({{"gres", "gpu:4"}, {"mem_mib", 1000}});
  EXPECT_EQ(Chosen(answer), "all/gpu:l40s:4/-");
  EXPECT_TRUE(Says(answer["rejected"][0]["reason"], "no node feature selects")) << answer;
}

TEST(Select, WithoutALimitAPartitionThatEndsJobsEarlierIsNotChosen) {
  const World world(std::string(kTwoKinds) + "partition quick l1 max 2d default-time 10m\n" +
                    "run 1 a[1-2] a100:4 ends 5h\n");
  const json open = world.Ask({{"job", {{"gres", "gpu:4"}, {"mem_mib", 1000}}}});
  EXPECT_EQ(open["job"]["partition"], "new");
  EXPECT_TRUE(Says(open["rejected"].dump(), "without -t its limit is 10 m")) << open;
  EXPECT_EQ(world.Select({{"gres", "gpu:4"}, {"mem_mib", 1000}})["job"]["partition"], "new,quick");
}

TEST(Select, WithoutMemoryAPartitionThatGivesLessIsNotChosen) {
  const World world(std::string(kTwoKinds) + "partition lean l1 max 2d mem-per-cpu 10\n" +
                    "run 1 a[1-2] a100:4 ends 5h\n");
  EXPECT_EQ(world.Select({{"gres", "gpu:4"}})["job"]["partition"], "new");
  EXPECT_EQ(world.Select({{"gres", "gpu:4"}, {"mem_mib", 1000}})["job"]["partition"], "lean,new");
}

TEST(Select, PartitionsOfOtherGroupsAndHiddenOnesAreNotChosen) {
  Snapshot snapshot = SnapshotOf(std::string(kTwoKinds) + "run 1 a[1-2] a100:4 ends 5h\n");
  ASSERT_EQ(snapshot.partitions[0].name, "new");
  snapshot.partitions[0].allow_groups = {"staff"};
  const json job = {{"gres", "gpu:4"}};
  EXPECT_EQ(World(snapshot).Select(job)["job"]["partition"], "old");
  EXPECT_EQ(World(snapshot).Select(job, {{"groups", {"ann", "staff"}}})["job"]["partition"], "new");
  snapshot.partitions[0].hidden = true;
  EXPECT_EQ(World(snapshot).Select(job, {{"groups", {"staff"}}})["job"]["partition"], "old");
}

TEST(Select, PartitionsThatTheSiteLeavesOutAreNotChosenButMayBeNamed) {
  const World world(std::string(kTwoKinds) + "run 1 a[1-2] a100:4 ends 5h\n");
  const json without = {{"avoid_partitions", {"debug", "new"}}};
  EXPECT_EQ(Chosen(world.Select({{"gres", "gpu:4"}}, without)), "old/gpu:a100:4/-");
  EXPECT_EQ(Chosen(world.Select({{"gres", "gpu:4"}, {"partition", "new"}}, without)),
            "-/gpu:l40s:4/-");
}

TEST(Select, PartitionsThatTheAccountMayNotUseAreNotChosen) {
  const World world(std::string(kTwoKinds) + "partition rich l1 max 2d allow-accounts gold\n" +
                    "run 1 a[1-2] a100:4 ends 5h\n");
  const json answer = world.Select({{"gres", "gpu:4"}, {"mem_mib", 1000}, {"account", "lab"}});
  EXPECT_EQ(answer["job"]["partition"], "new");
  EXPECT_TRUE(Says(answer["rejected"].dump(), "is for the accounts gold")) << answer;
}

TEST(Select, LessGpuMemoryThanAskedForIsNotChosen) {
  const World world(std::string(kTwoKinds) + "run 2 l1 l40s:4 ends 5h\n");
  const json least = {{"min_gpu_memory_bytes", int64_t{48} << 30}};
  EXPECT_EQ(Chosen(world.Select({{"gres", "gpu:4"}}, least)), "new/gpu:l40s:4/-");
  const json most = {{"min_gpu_memory_bytes", int64_t{400} << 30}};
  EXPECT_TRUE(Says(ReasonOf(world.Select({{"gres", "gpu:4"}}, most)), "GiB of memory"));
}

TEST(Select, SlicesAreForOneGpuOnlyAndNeverMixedWithCards) {
  const World world("node h1 h100_1g.10gb:7\nnode a1 a100:4\npartition all ALL max 2d default\n" +
                    std::string("run 1 a1 a100:4 ends 2h\nrun 2 h1 h100_1g.10gb:7 ends 2h\n"));
  EXPECT_EQ(Chosen(world.Select({{"gres", "gpu:2"}, {"mem_mib", 9}})), "all/gpu:a100:2/-");
  EXPECT_EQ(Chosen(world.Select({{"gres", "gpu:1"}, {"mem_mib", 9}})), "all/gpu:a100:1/-");
}

TEST(Select, ThoseThatMayBePreemptedComeLast) {
  const World world(
      "config preempt preempt/partition_prio\nconfig preempt-mode REQUEUE\n"
      "node a1 a100:4\nnode l1 l40s:4\n"
      "partition main a1 max 2d default tier 2 preempt-mode OFF\n"
      "partition scavenge l1 max 2d tier 1 preempt-mode REQUEUE\n"
      "partition owners l1 max 2d tier 9 allow-accounts gold\n"
      "run 1 a1 a100:4 ends 1h\n");
  const json answer = world.Select({{"gres", "gpu:4"}, {"mem_mib", 1000}, {"account", "lab"}});
  EXPECT_EQ(answer["job"]["partition"], "main") << answer;
}

TEST(Select, JobsThatAskForNoGpuOrForOtherThingsAreLeftAlone) {
  const World world(kTwoKinds);
  EXPECT_EQ(ReasonOf(world.Select(json::object())), "the job asks for no GPU");
  EXPECT_TRUE(Says(ReasonOf(world.Select({{"gres", "gpu:1,nvme:1"}})), "more than GPUs"));
  EXPECT_TRUE(Says(ReasonOf(world.Select({{"gres", "gpu:64"}})), "has no node with 64"))
      << world.Select({{"gres", "gpu:64"}});
}

TEST(Select, WrongRequestsAreRefusedWithASentence) {
  const World world(kTwoKinds);
  for (const json& body : {json(), json(7), json::array(), json::object(), json{{"job", 3}},
                           json{{"job", {{"nodes", "x"}}}}, json{{"job", {{"gres", "gpu:x:y:z"}}}},
                           json{{"job", {{"gres", "gpu:nothing:1"}}}}, json{{"job", json()}},
                           json{{"job", {{"gres", "gpu:1"}, {"constraint", "((("}}}}}) {
    EXPECT_TRUE(world.Ask(body).contains("error")) << body << world.Ask(body);
  }
  const json nulls = {{"job", {{"gres", "gpu:1"}, {"gpus", json()}, {"partition", json()}}}};
  EXPECT_TRUE(world.Ask(nulls).contains("job")) << world.Ask(nulls);
}

// ---- whatever is chosen can run on nothing else ------------------------------------------------

std::string RandomCluster() {
  static const std::vector<std::string> kTypes = {"a100", "l40s", "rtx2080ti", "gpu"};
  std::string text;
  const int nodes = *rc::gen::inRange(1, 7);
  std::string busy;
  for (int i = 1; i <= nodes; ++i) {
    const std::string name = "n" + std::to_string(i);
    std::string gpus;
    for (int k = *rc::gen::elementOf(std::vector{1, 1, 1, 2}); k > 0; --k) {
      const std::string type = *rc::gen::elementOf(kTypes);
      if (gpus.find(type + ":") != std::string::npos) continue;
      gpus += " " + type + ":" + std::to_string(*rc::gen::inRange(1, 5));
    }
    text += "node " + name + gpus + " features f" + std::to_string(*rc::gen::inRange(0, 4)) + ",g" +
            std::to_string(*rc::gen::inRange(0, 3)) + "\n";
    if (*rc::gen::inRange(0, 9) > 0) {
      busy += "run " + std::to_string(i) + " " + name + gpus + " ends " +
              std::to_string(*rc::gen::inRange(60, 95)) + "m\n";
    }
  }
  const int cut = *rc::gen::inRange(1, nodes + 1);
  text += "partition p1 n[1-" + std::to_string(cut) + "] max 2d default\n";
  text += "partition p2 n[" + std::to_string(*rc::gen::inRange(1, cut + 1)) + "-" +
          std::to_string(nodes) + "] max 2d\n";
  return text + busy;
}

RC_GTEST_PROP(Select, WhatIsChosenRunsOnNothingElse, ()) {
  const World world(RandomCluster());
  json job = {{"gres", "gpu:" + std::to_string(*rc::gen::inRange(1, 3))}, {"mem_mib", 100}};
  if (*rc::gen::arbitrary<bool>()) job["constraint"] = "g1";
  const int64_t wanted = ParseGres(job["gres"].get<std::string>())->gpus.front().count;
  const json answer = world.Select(job);
  RC_ASSERT(!answer.contains("error"));
  if (answer["job"].empty()) return;
  RC_TAG(answer["job"].contains("gres") ? "typed" : "untyped");

  std::set<std::pair<std::string, std::string>> good;  // partition and type
  for (const json& each : answer["alternatives"]) {
    if (each["in_job"]) good.emplace(each["partition"], each["gres_type"]);
  }
  const std::string type = answer["job"].value("gres_type", "");
  const std::string partitions = "," + answer["job"].value("partition", "") + ",";
  const auto given = FeatureExpression::Parse(job.value("constraint", ""));
  const auto added = FeatureExpression::Parse(answer["job"].value("constraint", ""));
  for (const Partition& partition : world.snapshot.partitions) {
    if (!Says(partitions, "," + partition.name + ",")) continue;
    for (const Node& node : world.snapshot.nodes) {
      const bool member = std::find(partition.nodes.begin(), partition.nodes.end(), node.name) !=
                          partition.nodes.end();
      if (!member || !given->Accepts(node.features) || !added->Accepts(node.features)) continue;
      if (type.empty() ? TotalGpus(node.gpus) < wanted : GpusOfType(node.gpus, type) < wanted)
        continue;
      if (!type.empty()) {
        RC_ASSERT(good.contains({partition.name, type}));
        continue;
      }
      RC_ASSERT(node.gpus.size() == 1u);
      RC_ASSERT(good.contains({partition.name, node.gpus.front().type}));
    }
  }
}

// ---- what a shorter limit is worth --------------------------------------------------------------

// ann's forty runs of an hour, each day's of its own, and nobody else's.
ForecastHistory AnnsPast(const Snapshot& snapshot) {
  constexpr int64_t kDay = 86400;
  ForecastHistory past;
  for (int i = 40; i > 0; --i) {
    JobRecord job;
    job.id = 1000 - i;
    job.user = "ann";
    job.partition = "all";
    job.name = "train";
    job.limit_seconds = kDay;
    job.submit = job.eligible = snapshot.taken_at - i * kDay;
    job.start = job.submit;
    job.end = *job.start + 3600;
    past.run_times.Ended(job);
  }
  return past;
}

TEST(Select, SaysWhichQosAShorterLimitOpens) {
  const auto snapshot = std::make_shared<const Snapshot>(SnapshotOf(
      "config enforce associations,limits,qos\nconfig priority multifactor\nconfig qos 1000\n"
      "qos normal\nqos short priority 100 max-wall 4h\n"
      "assoc lab user ann qos normal,short default-qos normal default\n"
      "node n1 a100:4\npartition all ALL max 2d default mem-per-cpu 1000\n"
      "run 1 n1 a100:4 ends 4h\n"
      "pend 2 a100:4 priority 50 limit 20h\npend 3 a100:4 priority 50 limit 20h"));
  const ForecastHistory past = AnnsPast(*snapshot);
  const auto queue = PrepareQueue(snapshot, past);
  const AdviceContext view{*snapshot, *queue, *queue, ShippedGpus(), ShippedModels()};
  const json job = {{"gres", "gpu:2"}, {"time_limit_seconds", 86400}, {"name", "train"}};
  const auto answer = AnswerSelect({{"job", job}}, view, kAnn);
  ASSERT_TRUE(answer);
  EXPECT_TRUE(Says(answer->value("limit_words", ""), "-q short -t 0")) << *answer;
}

}  // namespace
}  // namespace gpuadvise::daemon
