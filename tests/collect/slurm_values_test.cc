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

}  // namespace
}  // namespace gpuadvise::collect
