#include "common/history/node_past.h"

#include <gtest/gtest.h>

#include "tests/fakes/snapshot_text.h"

namespace gpuadvise {
namespace {

constexpr const char* kNodes = "node n[1-2] gpu4090:4 cpus 32\npartition gpu n[1-2] default\n";

Snapshot At(int64_t seconds, const std::string& jobs) {
  Snapshot snapshot = SnapshotOf(kNodes + jobs);
  snapshot.taken_at += seconds;
  for (Job& job : snapshot.jobs) job.start_time = kSnapshotTime - 100;
  return snapshot;
}

TEST(NodePast, AJobThatIsGoneHasEnded) {
  NodePast past;
  EXPECT_EQ(past.known_since(), std::nullopt);
  past.See(At(0, "run 1 n1 gpu4090:3 ends 2h\nrun 2 n2 gpu4090:1 ends 1h\n"));
  EXPECT_EQ(past.known_since(), kSnapshotTime);
  EXPECT_TRUE(past.On("n1").empty());
  past.See(At(30, "run 2 n2 gpu4090:1 ends 1h\n"));
  const auto runs = past.On("n1");
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].job->id, 1);
  EXPECT_EQ(runs[0].gpus, 3);
  EXPECT_EQ(runs[0].start, kSnapshotTime - 100);
  EXPECT_EQ(runs[0].end, kSnapshotTime + 30);
  EXPECT_TRUE(past.On("n2").empty());
}

TEST(NodePast, AJobThatStartsAnewHasEndedBefore) {
  NodePast past;
  past.See(At(0, "run 1 n1 gpu4090:3 ends 2h\n"));
  Snapshot later = At(60, "run 1 n2 gpu4090:3 ends 2h\n");
  later.jobs[0].start_time = kSnapshotTime + 50;
  past.See(later);
  ASSERT_EQ(past.On("n1").size(), 1u);
  EXPECT_EQ(past.On("n1")[0].end, kSnapshotTime + 50);
  past.See(At(90, ""));
  EXPECT_EQ(past.On("n2").at(0).start, kSnapshotTime + 50);
}

TEST(NodePast, JobsWithoutGpusAndOlderSnapshotsTellNothing) {
  NodePast past;
  past.See(At(60, "run 1 n1 gpu4090:3 ends 2h\nrun 2 n2 cpus 4 ends 2h\n"));
  past.See(At(30, ""));
  EXPECT_TRUE(past.On("n1").empty());
  past.See(At(90, ""));
  EXPECT_EQ(past.On("n1").size(), 1u);
  EXPECT_TRUE(past.On("n2").empty());
}

TEST(NodePast, WhatIsOldIsForgotten) {
  NodePast past;
  past.See(At(0, "run 1 n1 gpu4090:3 ends 2h\n"));
  past.See(At(30, "run 2 n1 gpu4090:1 ends 2h\n"));
  past.See(At(60, ""));
  ASSERT_EQ(past.On("n1").size(), 2u);
  past.See(At(31 + NodePast::kKeptSeconds, ""));
  ASSERT_EQ(past.On("n1").size(), 1u);
  EXPECT_EQ(past.On("n1")[0].job->id, 2);
  past.See(At(61 + NodePast::kKeptSeconds, ""));
  EXPECT_TRUE(past.On("n1").empty());
}

}  // namespace
}  // namespace gpuadvise
