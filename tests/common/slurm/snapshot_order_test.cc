#include "common/slurm/snapshot_order.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "tests/fakes/snapshot_gen.h"

namespace gpuadvise {
namespace {

Snapshot WithNodes(const std::vector<std::string>& names) {
  Snapshot snapshot;
  for (const std::string& name : names) snapshot.nodes.emplace_back().name = name;
  return snapshot;
}

TEST(SnapshotOrder, NodesAscendByBytesNotByNumber) {
  Snapshot snapshot = WithNodes({"n2", "n10", "N3"});
  SortCanonically(snapshot);
  EXPECT_EQ(snapshot, WithNodes({"N3", "n10", "n2"}));
}

TEST(SnapshotOrder, JobsAscendById) {
  Snapshot snapshot;
  for (int64_t id : {30, 4, 200}) snapshot.jobs.emplace_back().id = id;
  SortCanonically(snapshot);
  EXPECT_EQ(snapshot.jobs[0].id, 4);
  EXPECT_EQ(snapshot.jobs[2].id, 200);
}

TEST(SnapshotOrder, NodeListsKeepSlurmsOrder) {
  Snapshot snapshot;
  snapshot.partitions.emplace_back().nodes = {"n2", "n1"};
  SortCanonically(snapshot);
  EXPECT_EQ(snapshot.partitions[0].nodes, (std::vector<std::string>{"n2", "n1"}));
}

TEST(SnapshotOrder, WhatIsThereTwiceIsNamed) {
  const auto unique = CheckUnique(WithNodes({"n1", "n2", "n2"}));
  ASSERT_FALSE(unique.has_value());
  EXPECT_EQ(unique.error().message, "The snapshot has node n2 twice; each may be there once.");
  EXPECT_TRUE(CheckUnique(WithNodes({"n1", "n2"})).has_value());
}

TEST(SnapshotOrder, EveryTableIsChecked) {
  Snapshot snapshot;
  snapshot.qos.resize(2);
  EXPECT_FALSE(CheckUnique(snapshot).has_value());
  snapshot = {};
  snapshot.jobs.resize(2);
  EXPECT_FALSE(CheckUnique(snapshot).has_value());
  snapshot = {};
  snapshot.associations.resize(2);
  EXPECT_FALSE(CheckUnique(snapshot).has_value());
}

TEST(SnapshotOrder, OfWhatIsThereTwiceTheFirstIsKept) {
  Snapshot snapshot = WithNodes({"n1", "n2", "n2", "n2", "n3"});
  snapshot.nodes[1].cpus = 4;
  snapshot.qos.resize(2);
  LeftOut left_out;
  DropDuplicates(snapshot, left_out);
  EXPECT_EQ(snapshot.nodes.size(), 3u);
  EXPECT_EQ(snapshot.nodes[1].cpus, 4);
  EXPECT_EQ(snapshot.qos.size(), 1u);
  EXPECT_EQ(left_out.InWords(), "3 records are left out: node n2 is there twice; the first counts");
  EXPECT_TRUE(CheckUnique(snapshot).has_value());
}

RC_GTEST_PROP(SnapshotOrderProperty, SortingUndoesShuffling, ()) {
  const Snapshot sorted = *ArbitrarySnapshot();
  Snapshot shuffled = sorted;
  std::reverse(shuffled.nodes.begin(), shuffled.nodes.end());
  std::reverse(shuffled.jobs.begin(), shuffled.jobs.end());
  std::reverse(shuffled.qos.begin(), shuffled.qos.end());
  SortCanonically(shuffled);
  RC_ASSERT(shuffled == sorted);
}

}  // namespace
}  // namespace gpuadvise
