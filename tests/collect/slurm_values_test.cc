#include "daemon/collect/slurm_values.h"

#include <gtest/gtest.h>

namespace gpuadvise::collect {
namespace {

JobRequest RequestWith(const TresRequest& tres, int64_t tasks = 1, int64_t nodes = 1) {
  JobRequest request;
  request.tasks = tasks;
  request.nodes_min = nodes;
  request.memory_per_cpu_mib = 2000;
  FillTres(tres, request);
  return request;
}

TEST(SlurmValues, EndedJobsHaveNoLivingState) {
  for (const char* word :
       {"COMPLETED", "FAILED", "TIMEOUT", "CANCELLED", "OUT_OF_MEMORY", "REVOKED", ""}) {
    EXPECT_FALSE(JobStateFromWord(word)) << word;
  }
}

TEST(SlurmValues, FlagsThatSlurmPrintsInsteadOfAStateAreUnderstood) {
  EXPECT_EQ(JobStateFromWord("REQUEUE_HOLD"), JobState::kPending);
  EXPECT_EQ(JobStateFromWord("SPECIAL_EXIT"), JobState::kPending);
  EXPECT_EQ(JobStateFromWord("RESIZING"), JobState::kRunning);
  EXPECT_EQ(JobStateFromWord("COMPLETING"), JobState::kCompleting);
  EXPECT_EQ(JobStateFromWord("CONFIGURING"), JobState::kConfiguring);
}

TEST(SlurmValues, ReasonsAreOneWord) {
  EXPECT_EQ(ReasonWord("None"), "");
  EXPECT_EQ(ReasonWord("(null)"), "");
  EXPECT_EQ(ReasonWord("Nodes required for job are DOWN"), "Nodes_required_for_job_are_DOWN");
}

TEST(SlurmValues, ArrayTasksAreCountedWithRangesStepsAndThrottle) {
  EXPECT_EQ(CountArrayTasks("1,3,5,7,9%2"), 5);
  EXPECT_EQ(CountArrayTasks("1-900:3%7"), 300);
  EXPECT_EQ(CountArrayTasks("5-7,9"), 4);
  EXPECT_EQ(CountArrayTasks("5"), 1);
  EXPECT_EQ(CountArrayTasks(""), 1);  // a job is never none
  EXPECT_EQ(CountArrayTasks("9-1"), 1);
  EXPECT_EQ(CountArrayTasks("1-5:0"), 1);
  EXPECT_EQ(ArrayTasks("1-900:3%7"), "1-900:3");
}

TEST(SlurmValues, GpusPerNodeAndInAllAreKeptApart) {
  const JobRequest request =
      RequestWith({.per_job = "gres:gpu:a100:8", .per_node = "gres:gpu:a100:4,gres:shard:2"}, 2, 2);
  EXPECT_EQ(request.gpus_total, (GpuCounts{{"a100", 8}}));
  EXPECT_EQ(request.gpus_per_node, (GpuCounts{{"a100", 4}}));
  EXPECT_EQ(request.shards_per_node, 2);
}

TEST(SlurmValues, GpusPerTaskCountForEveryTaskUnlessTheSumIsGiven) {
  EXPECT_EQ(RequestWith({.per_task = "gres:gpu:1"}, 4).gpus_total, (GpuCounts{{"", 4}}));
  EXPECT_EQ(RequestWith({.per_job = "gres:gpu:2", .per_task = "gres:gpu:1"}, 2).gpus_total,
            (GpuCounts{{"", 2}}));
}

TEST(SlurmValues, GpusPerSocketCountForEverySocketOfTheNode) {
  EXPECT_EQ(RequestWith({.per_socket = "gres:gpu:2", .sockets_per_node = 2}).gpus_per_node,
            (GpuCounts{{"", 4}}));
}

TEST(SlurmValues, MemoryPerGpuIsMemoryOfTheNode) {
  const JobRequest request =
      RequestWith({.per_task = "gres:gpu:1", .memory_per_tres = "gres:gpu:3000"}, 4, 2);
  EXPECT_EQ(request.memory_per_node_mib, SlurmNumber(6000));
  EXPECT_TRUE(request.memory_per_cpu_mib.absent());
  EXPECT_EQ(MemoryPerGpuMib("gres/gpu=3G"), 3072);
}

TEST(SlurmValues, MemoryPerGpuWithoutGpusChangesNothing) {
  EXPECT_EQ(RequestWith({.memory_per_tres = "gres:gpu:3000"}).memory_per_cpu_mib,
            SlurmNumber(2000));
  EXPECT_EQ(RequestWith({.per_job = "gres:gpu:2", .memory_per_tres = "(null)"}).memory_per_cpu_mib,
            SlurmNumber(2000));
}

TEST(SlurmValues, WhatCannotBeReadIsLeftOut) {
  EXPECT_TRUE(GresOf("gpu:a100:many").gpus.empty());
  EXPECT_TRUE(Hosts("n[1-").empty());
}

JobRequest Shared(std::string_view over_subscribe, std::string_view exclusive) {
  JobRequest request;
  FillSharing(over_subscribe, exclusive, request);
  return request;
}

TEST(SlurmValues, OfJobsOverSubscribeSaysWhoHasWholeNodesUntilExclusiveDoes) {
  EXPECT_TRUE(Shared("NO", "").exclusive);
  EXPECT_FALSE(Shared("NO", "NO").exclusive);
  EXPECT_FALSE(Shared("OK", "").exclusive);
  EXPECT_TRUE(Shared("NO", "NODE").exclusive);
  EXPECT_TRUE(Shared("YES", "").over_subscribe && Shared("YES", "NO").over_subscribe);
}

TEST(SlurmValues, JobsMayKeepNodesToTheirUserOrMcsLabelOrBlock) {
  for (const JobRequest& request : {Shared("USER", ""), Shared("NO", "USER")}) {
    EXPECT_FALSE(request.exclusive);
    EXPECT_EQ(request.exclusive_to, "user");
  }
  EXPECT_EQ(Shared("MCS", "").exclusive_to, "mcs");
  EXPECT_EQ(Shared("NO", "MCS").exclusive_to, "mcs");
  for (const JobRequest& request : {Shared("TOPO", ""), Shared("NO", "TOPO")}) {
    EXPECT_TRUE(request.exclusive);
    EXPECT_EQ(request.exclusive_to, "topo");
  }
}

TEST(SlurmValues, OfPartitionsToo) {
  const auto shared = [](std::string_view over, std::string_view exclusive, bool user, bool topo) {
    Partition partition;
    FillSharing(over, exclusive, user, topo, partition);
    return std::pair(partition.exclusive, partition.exclusive_to);
  };
  using Pair = std::pair<bool, std::string>;
  EXPECT_EQ(shared("EXCLUSIVE", "", false, false), Pair(true, ""));
  EXPECT_EQ(shared("NO", "NODE", false, false), Pair(true, ""));
  EXPECT_EQ(shared("NO", "NO", false, false), Pair(false, ""));
  EXPECT_EQ(shared("NO", "", true, false), Pair(false, "user"));
  EXPECT_EQ(shared("YES:4", "USER", false, false), Pair(false, "user"));
  EXPECT_EQ(shared("NO", "", false, true), Pair(true, "topo"));
  EXPECT_EQ(shared("NO", "TOPO", false, false), Pair(true, "topo"));
}

TEST(SlurmValues, WhoAdministersSeesAll) {
  using Words = std::vector<std::string>;
  const std::string_view all = "cloud,jobs,nodes,usage";
  EXPECT_EQ(HiddenFrom(false, "None", all), (Words{"jobs", "nodes", "usage"}));
  EXPECT_EQ(HiddenFrom(false, "1", all), (Words{"jobs", "nodes", "usage"}));
  for (const char* level : {"Operator", "Administrator", "2", "3"}) {
    EXPECT_TRUE(HiddenFrom(false, level, all).empty()) << level;
  }
  EXPECT_TRUE(HiddenFrom(true, "", all).empty());
  EXPECT_TRUE(HiddenFrom(false, "", "none").empty());
}

Node NodeWith(const std::string& type, const std::string& type_in_use) {
  Node node;
  node.gpus = {{type, 4}};
  node.gpus_allocated = {{type_in_use, 1}};
  return node;
}

TEST(SlurmValues, TypesAreSpelledAsTheNodesSpellThem) {
  Snapshot snapshot;
  snapshot.nodes = {NodeWith("A100", "a100")};
  Job& job = snapshot.jobs.emplace_back();
  job.request.gpus_per_node = {{"a100", 2}, {"v100", 1}};
  job.allocations.emplace_back().gpus = {{"A100", 1}, {"a100", 1}};
  SpellTypesAsNodes(snapshot);
  EXPECT_EQ(snapshot.nodes[0].gpus_allocated, (GpuCounts{{"A100", 1}}));
  EXPECT_EQ(job.request.gpus_per_node, (GpuCounts{{"A100", 2}, {"v100", 1}}));
  EXPECT_EQ(job.allocations[0].gpus, (GpuCounts{{"A100", 2}}));
}

TEST(SlurmValues, TypesThatNodesSpellInTwoWaysStay) {
  Snapshot snapshot;
  snapshot.nodes = {NodeWith("A100", "A100"), NodeWith("a100", "a100")};
  SpellTypesAsNodes(snapshot);
  EXPECT_EQ(snapshot.nodes[1].gpus_allocated, (GpuCounts{{"a100", 1}}));
}

}  // namespace
}  // namespace gpuadvise::collect
