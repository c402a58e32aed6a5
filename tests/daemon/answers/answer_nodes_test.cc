#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "daemon/answers/views.h"
#include "tests/daemon/answers/answer_world.h"

namespace gpuadvise::daemon {
namespace {

using nlohmann::json;

json Ask(const AnswerWorld& world, const NodesFilter& filter = {},
         const Submitter& caller = kAnnAsks) {
  return AnswerNodes(filter, world.Context(), world.starts, caller);
}

json NodeNamed(const AnswerWorld& world, const std::string& name,
               const Submitter& caller = kAnnAsks) {
  return RowWith(Ask(world, {}, caller)["nodes"], "name", name);
}

const char* const kSmall =
    "node n1 gpu4090:4 cpus 32 mem 128000 features fast,nv\n"
    "node n2 gpu4090:4 cpus 32 mem 128000 state IDLE+DRAIN reason fan\n"
    "node n3 gpul40s:6 cpus 64 mem 256000\n"
    "node c1 cpus 16 mem 64000\n"
    "run 1 n1 gpu4090:1 cpus 4 ends 3h\n"
    "run 2 n1 gpu4090:2 cpus 8 ends 1h user bob\n";

TEST(AnswerNodes, SaysWhoIsOnANodeUntilWhen) {
  const json row = NodeNamed(AnswerWorld(kSmall), "n1");
  EXPECT_EQ(row["condition"], "partly");
  EXPECT_EQ(row["gpus"], (json::array({{{"gpu", "rtx4090"},
                                        {"gpu_name", "RTX 4090"},
                                        {"gres_type", "gpu4090"},
                                        {"total", 4},
                                        {"used", 3},
                                        {"free", 1}}})));
  EXPECT_EQ(row["cpus_allocated"], 12);
  EXPECT_EQ(row["features"], (json{"fast", "nv"}));
  EXPECT_EQ(row["partitions"], json::array({"main"}));
  EXPECT_EQ(row["jobs_total"], 2);
  EXPECT_EQ(row["next_end_p50"], kSnapshotTime + 3600);
  EXPECT_EQ(row["jobs"][0]["job_id"], 2);  // ends first
  EXPECT_EQ(row["jobs"][0]["gpus"], 2);
  EXPECT_EQ(row["jobs"][0]["user"], "bob");
  EXPECT_EQ(row["jobs"][0]["end_p90"], kSnapshotTime + 3600);
  EXPECT_EQ(row["jobs"][0]["end_limit"], kSnapshotTime + 3600);
  EXPECT_TRUE(row["promised"].is_null());
  EXPECT_TRUE(row["reserved"].is_null());
}

TEST(AnswerNodes, ADrainedNodeHasNothingFreeAndSaysWhy) {
  const json row = NodeNamed(AnswerWorld(kSmall), "n2");
  EXPECT_EQ(row["condition"], "drained");
  EXPECT_EQ(row["reason"], "fan");
  EXPECT_EQ(row["state"], "IDLE+DRAIN");
  EXPECT_EQ(row["gpus"][0]["free"], 0);
  EXPECT_TRUE(row["next_end_p50"].is_null());
}

TEST(AnswerNodes, ListsThoseWithAllocatedGpusThatDoNothing) {
  Snapshot snapshot = SnapshotOf(kSmall);
  EXPECT_TRUE(Ask(AnswerWorld(snapshot))["idle_allocated"].is_null()) << "no Prometheus";
  snapshot.config.counts_idle_gpus = true;
  for (Job& job : snapshot.jobs) job.start_time = kSnapshotTime - 3600;
  Node& node = *std::find_if(snapshot.nodes.begin(), snapshot.nodes.end(),
                             [](const Node& each) { return each.name == "n1"; });
  node.gpus_idle = 3;
  NodesFilter filter;
  filter.idle_allocated = true;
  const json answer = Ask(AnswerWorld(snapshot), filter);
  EXPECT_EQ(answer["idle_allocated"], (json{{"nodes", 1}, {"gpus", 2}, {"problem", nullptr}}));
  ASSERT_EQ(answer["nodes"].size(), 1u);
  EXPECT_EQ(answer["nodes"][0]["idle_allocated"], 2) << "the free one may be the third";
  snapshot.config.counts_idle_gpus = false;
  snapshot.config.idle_gpus_problem = "nothing listens there";
  EXPECT_EQ(Ask(AnswerWorld(snapshot))["idle_allocated"]["problem"], "nothing listens there");
}

TEST(AnswerNodes, BrokenOnesAreCountedByTypeAndCanBeListed) {
  Snapshot snapshot = SnapshotOf(
      "node n[1-2] gpu4090:4 state DRAIN reason fan\n"
      "node n3 gpul40s:6 state DOWN*\n"
      "node n4 gpul40s:6\n"
      "run 1 n1 gpu4090:3 ends 1h\n");
  snapshot.nodes[0].reason_user = "root";
  snapshot.nodes[0].reason_time = kSnapshotTime - 60;
  const AnswerWorld world(snapshot);
  NodesFilter filter;
  filter.broken = true;
  const json answer = Ask(world, filter);
  const json drained = RowWith(answer["broken"], "gpu", "rtx4090");
  EXPECT_EQ(drained["nodes"], 2);
  EXPECT_EQ(drained["gpus"], 8);
  EXPECT_EQ(drained["lost"], 5);
  EXPECT_EQ(RowWith(answer["broken"], "gpu", "l40s")["lost"], 6);
  EXPECT_EQ(answer["total"], 3);
  EXPECT_EQ(answer["nodes"][0]["reason_user"], "root");
  EXPECT_EQ(answer["nodes"][0]["since"], kSnapshotTime - 60);
  const json anonymous = Ask(world, filter, kNobodyAsks)["nodes"][0];
  EXPECT_EQ(anonymous["reason_user"], "");
  EXPECT_EQ(anonymous["since"], kSnapshotTime - 60);
}

TEST(AnswerNodes, OneIsFoundByItsWholeName) {
  const AnswerWorld world("node n1 gpu4090:4\nnode n11 gpu4090:4\n");
  NodesFilter filter;
  filter.node = "n1";
  EXPECT_EQ(Ask(world, filter)["total"], 1);
}

TEST(AnswerNodes, GroupsCountEveryGpuOnce) {
  const json groups = Ask(AnswerWorld(kSmall))["groups"];
  ASSERT_EQ(groups.size(), 3u);
  EXPECT_EQ(RowWith(groups, "gpu", "rtx4090"), (json{{"partition", "main"},
                                                     {"gpu", "rtx4090"},
                                                     {"gpu_name", "RTX 4090"},
                                                     {"nodes", 2},
                                                     {"gpus", 8},
                                                     {"free", 1},
                                                     {"used", 3},
                                                     {"promised", 0},
                                                     {"unavailable", 4}}));
  EXPECT_EQ(RowWith(groups, "gpu", "")["nodes"], 1);
}

TEST(AnswerNodes, FiltersLeaveGroupsAloneAndConditionsCountWhatTheyLeave) {
  const AnswerWorld world(kSmall);
  NodesFilter filter;
  filter.gpu = "rtx4090";
  filter.condition = NodeUse::kDrained;
  const json answer = Ask(world, filter);
  EXPECT_EQ(answer["total"], 1);
  EXPECT_EQ(answer["nodes"][0]["name"], "n2");
  EXPECT_EQ(
      answer["conditions"],
      (json{
          {"free", 0}, {"partly", 1}, {"busy", 0}, {"promised", 0}, {"drained", 1}, {"down", 0}}));
  EXPECT_EQ(answer["groups"].size(), 3u);
}

TEST(AnswerNodes, SearchesNamesFeaturesStatesAndReasons) {
  const AnswerWorld world(kSmall);
  const auto found = [&](const std::string& text) {
    NodesFilter filter;
    filter.search = text;
    return Ask(world, filter)["total"].get<int>();
  };
  EXPECT_EQ(found("N1"), 1);
  EXPECT_EQ(found("nv"), 1);
  EXPECT_EQ(found("drain"), 1);
  EXPECT_EQ(found("FAN"), 1);
  EXPECT_EQ(found("n"), 3);  // not c1
  EXPECT_EQ(found("<script>"), 0);
}

TEST(AnswerNodes, UnknownPartitionsAndTypesLeaveNothing) {
  const AnswerWorld world(kSmall);
  NodesFilter filter;
  filter.partition = "nowhere";
  EXPECT_EQ(Ask(world, filter)["nodes"], json::array());
  filter = {};
  filter.gpu = "h100";
  EXPECT_EQ(Ask(world, filter)["total"], 0);
}

TEST(AnswerNodes, ANodeWithoutAFreeCpuHasNoFreeGpu) {
  const AnswerWorld world("node n1 gpu4090:4 cpus 8 mem 64000\nrun 1 n1 gpu4090:1 cpus 8 ends 1h");
  EXPECT_EQ(NodeNamed(world, "n1")["gpus"][0]["free"], 0);
  EXPECT_EQ(NodeNamed(world, "n1")["condition"], "busy");
  EXPECT_EQ(Ask(world)["groups"][0]["unavailable"], 3);
}

TEST(AnswerNodes, SlicesAndShardsAreCounted) {
  const AnswerWorld world(
      "node m1 h100_1g.11gb:14 cpus 64 mem 512000\nnode s1 gpul40s:4 cpus 64 mem 512000 shards 16\n"
      "run 1 m1 h100_1g.11gb:3 ends 1h\nrun 2 s1 shards 3 ends 1h");
  EXPECT_EQ(NodeNamed(world, "m1")["gpus"][0]["free"], 11);
  const json shared = NodeNamed(world, "s1");
  EXPECT_EQ(shared["gpus"][0]["used"], 1);
  EXPECT_EQ(shared["shards"], 16);
  EXPECT_EQ(shared["shards_allocated"], 3);
}

TEST(AnswerNodes, NamesWhoIsToStartThereNext) {
  const AnswerWorld world(
      "node n1 gpu4090:4 cpus 32 mem 128000 state MIXED+PLANNED\nnode n2 gpu4090:4 cpus 32\n"
      "run 1 n1 gpu4090:3 cpus 4 ends 2h\nrun 2 n2 gpu4090:4 cpus 4 ends 5h\n"
      "pend 3 gpu4090:4 limit 1h\npend 4 gpu4090:4 limit 1h");
  EXPECT_EQ(NodeNamed(world, "n1")["promised"],
            (json{{"job_id", 3}, {"start", kSnapshotTime + 2 * 3600}}));
  EXPECT_EQ(NodeNamed(world, "n1")["condition"], "promised");
  EXPECT_EQ(Ask(world)["groups"][0]["promised"], 1);
  EXPECT_TRUE(NodeNamed(world, "n2")["promised"].is_null());
}

TEST(AnswerNodes, ReservationsThatHoldNowOrComeNextAreNamed) {
  const AnswerWorld world(
      "node n[1-3] gpu4090:4 cpus 32\nreserve maint n[1-2] from 0s to 2h\n"
      "reserve later n[2-3] from 3h to 4h");
  EXPECT_EQ(NodeNamed(world, "n1")["condition"], "promised");
  EXPECT_EQ(NodeNamed(world, "n2")["reserved"],
            (json{{"name", "maint"}, {"start", kSnapshotTime}, {"end", kSnapshotTime + 7200}}));
  EXPECT_EQ(NodeNamed(world, "n3")["reserved"]["name"], "later");
  EXPECT_EQ(NodeNamed(world, "n3")["condition"], "free");
  EXPECT_EQ(Ask(world)["groups"][0]["promised"], 8);
}

TEST(AnswerNodes, AtMostSixteenJobsOfANodeAreShownAndAllAreCounted) {
  std::string text = "node n1 gpu4090:4 cpus 64 mem 128000\n";
  for (int i = 1; i <= 20; ++i) {
    text += "run " + std::to_string(i) + " n1 cpus 1 ends " + std::to_string(21 - i) + "h\n";
  }
  const json row = NodeNamed(AnswerWorld(text), "n1");
  EXPECT_EQ(row["jobs"].size(), kMostJobsOfNode);
  EXPECT_EQ(row["jobs"][0]["job_id"], 20);
  EXPECT_EQ(row["jobs_total"], 20);
}

const char* const kHidden =
    "node n[1-3] gpu4090:4 cpus 32\n"
    "partition open n[1-2] default\npartition secret n[2-3]\n"
    "run 1 n1 gpu4090:4 cpus 4 ends 2h in open\n"
    "run 2 n2 gpu4090:1 cpus 4 ends 2h in secret\n"
    "pend 3 gpu4090:4 on n2 limit 1h in secret\n";

AnswerWorld WithHidden() {
  Snapshot snapshot = SnapshotOf(kHidden);
  snapshot.partitions[1].hidden = true;
  return AnswerWorld(std::move(snapshot));
}

TEST(AnswerNodes, AnAnonymousCallerSeesNothingOfHiddenPartitions) {
  const AnswerWorld world = WithHidden();
  const json answer = Ask(world, {}, kNobodyAsks);
  EXPECT_EQ(answer["total"], 2);
  EXPECT_EQ(answer.dump().find("secret"), std::string::npos);
  const json both = RowWith(answer["nodes"], "name", "n2");
  EXPECT_EQ(both["partitions"], json::array({"open"}));
  EXPECT_EQ(both["jobs"], json::array());
  EXPECT_EQ(both["jobs_total"], 1);
  EXPECT_EQ(both["gpus"][0]["used"], 1);
  EXPECT_TRUE(both["promised"]["job_id"].is_null());
  EXPECT_EQ(RowWith(answer["nodes"], "name", "n1")["jobs"][0]["job_id"], 1);
  EXPECT_TRUE(RowWith(answer["nodes"], "name", "n1")["jobs"][0]["user"].is_null());
  NodesFilter secret;
  secret.partition = "secret";
  EXPECT_EQ(Ask(world, secret, kNobodyAsks)["total"], 0);
  EXPECT_EQ(Ask(world, secret, kAnnAsks)["total"], 2);
}

TEST(AnswerNodes, NamesOfJobsAreOnlyForThoseWhoMaySeeThem) {
  Snapshot snapshot = SnapshotOf(kSmall);
  snapshot.config.private_data = "jobs";
  for (Job& job : snapshot.jobs) job.uid = job.user == "bob" ? 1002 : 1001;
  const AnswerWorld world(std::move(snapshot));
  const json jobs = NodeNamed(world, "n1")["jobs"];
  EXPECT_TRUE(RowWith(jobs, "job_id", 2)["user"].is_null());
  EXPECT_EQ(RowWith(jobs, "job_id", 1)["user"], "ann");
}

TEST(AnswerNodes, PrivateNodesAreOnlyCounted) {
  Snapshot snapshot = SnapshotOf(kSmall);
  snapshot.config.private_data = "nodes,reservations";
  const AnswerWorld world(std::move(snapshot));
  NodesFilter fan;
  fan.search = "no such reason";
  const json answer = Ask(world, fan);
  EXPECT_EQ(answer["nodes"], json::array());
  EXPECT_EQ(answer["conditions"]["drained"], 1);  // searching tells nothing
  EXPECT_EQ(answer["warnings"].size(), 1u);
  EXPECT_EQ(Ask(world, {}, kRootAsks)["nodes"].size(), 4u);
}

TEST(AnswerNodes, PrivateReservationsHaveNoName) {
  Snapshot snapshot = SnapshotOf("node n1 gpu4090:4\nreserve for_ann n1 from 0s to 2h");
  snapshot.config.private_data = "reservations";
  const AnswerWorld world(std::move(snapshot));
  EXPECT_TRUE(NodeNamed(world, "n1")["reserved"]["name"].is_null());
  EXPECT_EQ(NodeNamed(world, "n1", kRootAsks)["reserved"]["name"], "for_ann");
}

TEST(AnswerNodes, HostileNamesAreOnlyText) {
  Snapshot snapshot = SnapshotOf(kSmall);
  const std::string evil =
      "</script><img src=x onerror=alert(1)>\"\\\u202e" + std::string(1000, 'A');
  snapshot.nodes[2].reason = evil;
  snapshot.jobs[0].name = evil + "\xff\xfe";
  const AnswerWorld world(std::move(snapshot));
  const json answer = Ask(world);
  const std::string text = answer.dump(-1, ' ', false, json::error_handler_t::replace);
  const json read = json::parse(text);
  EXPECT_EQ(RowWith(read["nodes"], "name", answer["nodes"][2]["name"])["reason"], evil);
}

// Some nodes in some states with some jobs, in two partitions that share nodes.
std::string AnyCluster() {
  static const std::vector<std::string> kStates = {
      "IDLE", "IDLE+DRAIN", "DOWN", "IDLE+PLANNED", "IDLE+RESERVED", "IDLE+MAINTENANCE"};
  std::string text;
  const int count = *rc::gen::inRange(1, 12);
  for (int i = 1; i <= count; ++i) {
    const std::string name = "n" + std::to_string(i);
    const std::string type = *rc::gen::element<std::string>("gpu4090:4", "gpul40s:6", "");
    text += "node " + name + " " + type + " cpus 8 mem 64000 state " +
            *rc::gen::elementOf(kStates) + "\n";
    const int gpus = type.empty() ? 0 : *rc::gen::inRange(0, 4);
    if (*rc::gen::arbitrary<bool>()) continue;
    text += "run " + std::to_string(i) + " " + name +
            (gpus > 0 ? " " + type.substr(0, type.size() - 1) + std::to_string(gpus) : "") +
            " cpus " + std::to_string(*rc::gen::inRange(1, 9)) + " ends 1h in a\n";
  }
  return text + "partition a ALL default\npartition b n1\n";
}

RC_GTEST_PROP(AnswerNodes, GroupsAddUp, ()) {
  const AnswerWorld world(AnyCluster());
  const json answer = Ask(world);
  std::map<std::pair<std::string, std::string>, int64_t> left;
  for (const json& group : answer["groups"]) {
    RC_ASSERT(group["gpus"].get<int64_t>() ==
              group["free"].get<int64_t>() + group["used"].get<int64_t>() +
                  group["promised"].get<int64_t>() + group["unavailable"].get<int64_t>());
    left[{group["partition"], group["gpu"]}] =
        group["free"].get<int64_t>() + group["promised"].get<int64_t>();
  }
  for (const json& node : answer["nodes"]) {
    for (const json& partition : node["partitions"]) {
      for (const json& gpus : node["gpus"]) {
        left[{partition, gpus["gpu"]}] -= gpus["free"].get<int64_t>();
      }
    }
  }
  for (const auto& [pool, difference] : left) RC_ASSERT(difference == 0);
}

RC_GTEST_PROP(AnswerNodes, PagesTogetherHaveEachNodeOnce, ()) {
  const AnswerWorld world(AnyCluster());
  NodesFilter filter;
  filter.limit = *rc::gen::inRange<size_t>(1, 5);
  std::multiset<std::string> seen;
  int64_t conditions = 0;
  do {
    const json answer = Ask(world, filter);
    RC_ASSERT(answer["total"] == world.snapshot->nodes.size());
    RC_ASSERT(answer["offset"] == filter.offset);
    RC_ASSERT(answer["nodes"].size() <= filter.limit);
    for (const json& node : answer["nodes"]) seen.insert(node["name"].get<std::string>());
    conditions = 0;
    for (const auto& [name, count] : answer["conditions"].items()) {
      conditions += count.get<int64_t>();
    }
    filter.offset += filter.limit;
  } while (filter.offset < 20);
  RC_ASSERT(conditions == static_cast<int64_t>(world.snapshot->nodes.size()));
  std::multiset<std::string> all;
  for (const Node& node : world.snapshot->nodes) all.insert(node.name);
  RC_ASSERT(seen == all);
}

}  // namespace
}  // namespace gpuadvise::daemon
