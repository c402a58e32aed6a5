#include "tests/fakes/snapshot_text.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace gpuadvise {
namespace {

TEST(SnapshotText, NodesAndRunningJobsAddUp) {
  const Snapshot snapshot = SnapshotOf("node n[1-2] a100:8\nrun 7 n1 a100:8 ends 2h");
  ASSERT_EQ(snapshot.nodes.size(), 2u);
  EXPECT_EQ(snapshot.nodes[0].name, "n1");
  EXPECT_EQ(snapshot.nodes[0].gpus, (GpuCounts{{"a100", 8}}));
  EXPECT_EQ(snapshot.nodes[0].gpus_allocated, (GpuCounts{{"a100", 8}}));
  EXPECT_EQ(snapshot.nodes[0].cpus_allocated, 8);
  EXPECT_TRUE(snapshot.nodes[1].gpus_allocated.empty());
  EXPECT_EQ(snapshot.jobs[0].end_time, kSnapshotTime + 7200);
  EXPECT_EQ(snapshot.jobs[0].allocations[0].node, "n1");
}

TEST(SnapshotText, APartitionOverAllNodesIsThereWhenNoneIsGiven) {
  const Snapshot snapshot = SnapshotOf("node n[1-2]\npend 8 cpus 1");
  ASSERT_EQ(snapshot.partitions.size(), 1u);
  EXPECT_EQ(snapshot.partitions[0].nodes, (std::vector<std::string>{"n1", "n2"}));
  EXPECT_EQ(snapshot.jobs[0].request.partitions, std::vector<std::string>{"main"});
}

TEST(SnapshotText, PrioritiesCountDownByLine) {
  const Snapshot snapshot = SnapshotOf("node n1\npend 8 cpus 1\npend 9 cpus 1");
  EXPECT_GT(snapshot.jobs[0].priority, snapshot.jobs[1].priority);
}

TEST(SnapshotText, RequestsFillInCpusAndMemory) {
  EXPECT_EQ(RequestOf("a100:4 nodes 2").cpus, 8);
  EXPECT_EQ(RequestOf("tasks 3 cpus-per-task 2").cpus, 6);
  EXPECT_EQ(RequestOf("gpu:2").gpus_per_node, (GpuCounts{{"", 2}}));
  EXPECT_EQ(RequestOf("cpus 1").memory_per_cpu_mib, SlurmNumber(1000));
  EXPECT_TRUE(RequestOf("cpus 1 mem default").memory_per_cpu_mib.absent());
  EXPECT_TRUE(RequestOf("cpus 1 limit unlimited").time_limit_seconds.infinite());
}

TEST(SnapshotText, DurationsHaveUnits) {
  EXPECT_EQ(SecondsOf("90s"), 90);
  EXPECT_EQ(SecondsOf("1h30m"), 5400);
  EXPECT_EQ(SecondsOf("3d"), 259200);
  EXPECT_THROW(SecondsOf("90"), std::invalid_argument);
  EXPECT_THROW(SecondsOf(""), std::invalid_argument);
}

TEST(SnapshotText, MistakesNameTheLine) {
  try {
    SnapshotOf("node n1\nrun 7 n9 cpus 1 ends 1h");
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "line 2 'run 7 n9 cpus 1 ends 1h': no such node: n9");
  }
  EXPECT_THROW(SnapshotOf("nodde n1"), std::invalid_argument);
  EXPECT_THROW(SnapshotOf("node n1 colour red"), std::invalid_argument);
  EXPECT_THROW(SnapshotOf("node n1 cpus many"), std::invalid_argument);
}

}  // namespace
}  // namespace gpuadvise
