#include "common/gpu/gpu_labels.h"

#include <gtest/gtest.h>

#include "tests/fakes/shipped_catalogues.h"
#include "tests/fakes/snapshot_text.h"

namespace gpuadvise {
namespace {

// "id|name|GPUs in all" of the first job.
std::string Of(const std::string& text) {
  const Snapshot snapshot = SnapshotOf(text);
  GpuLabels labels(snapshot, ShippedGpus());
  const GpuLabel label = labels.FindJobLabel(snapshot.jobs.front());
  return label.id + "|" + label.name + "|" + std::to_string(GpusOfJob(snapshot.jobs.front()));
}

TEST(GpuLabels, AJobIsCalledByTheCatalogue) {
  const std::string nodes = "node n[1-2] gpul40s:6\n";
  EXPECT_EQ(Of(nodes + "pend 1 gpul40s:2 nodes 2"), "l40s|L40S|4");
  EXPECT_EQ(Of(nodes + "pend 1 total gpul40s:3"), "l40s|L40S|3");
  EXPECT_EQ(Of(nodes + "run 1 n[1-2] gpul40s:2 ends 1h"), "l40s|L40S|4");
}

TEST(GpuLabels, ATypeThatNobodyKnowsKeepsSlurmsName) {
  EXPECT_EQ(Of("node n1 npu9000:2\npend 1 npu9000:1"), "npu9000|npu9000|1");
}

TEST(GpuLabels, AJobWithoutGpusHasNone) {
  EXPECT_EQ(Of("node n1 gpul40s:6\npend 1 cpus 4"), "||0");
}

TEST(GpuLabels, AJobThatNamesNoTypeHasTheOnlyOneThereIsInItsPartitions) {
  const std::string nodes =
      "node n1 gpul40s:6\nnode m1 gpu4090:4\npartition one n1\npartition both ALL\n";
  EXPECT_EQ(Of(nodes + "pend 1 gpu:1 in one"), "l40s|L40S|1");
  EXPECT_EQ(Of(nodes + "pend 1 gpu:1 in both"), "any|any GPU|1");
  EXPECT_EQ(Of(nodes + "pend 1 gpu:1 in nowhere"), "gpu|untyped GPU|1");
}

TEST(GpuLabels, AJobOfShardsIsCalledByTheCardItIsOn) {
  EXPECT_EQ(Of("node n1 gpul40s:2 shards 8\nrun 1 n1 shards 2 ends 1h"), "l40s|L40S|0");
}

}  // namespace
}  // namespace gpuadvise
