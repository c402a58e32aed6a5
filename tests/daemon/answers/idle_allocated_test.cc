#include "daemon/answers/idle_allocated.h"

#include <gtest/gtest.h>

#include "tests/fakes/snapshot_text.h"

namespace gpuadvise::daemon {
namespace {

// Four GPUs; job 7 has held two for an hour, job 8 one for five minutes, one is free.
Snapshot Node(int64_t idle) {
  Snapshot snapshot = SnapshotOf(
      "node n1 a100:4\n"
      "run 7 n1 a100:2 ends 2h\n"
      "run 8 n1 a100:1 ends 2h");
  snapshot.nodes[0].gpus_idle = idle;
  snapshot.jobs[0].start_time = kSnapshotTime - 3600;
  snapshot.jobs[1].start_time = kSnapshotTime - 300;
  return snapshot;
}

TEST(CountIdleAllocated, LeavesOutGpusThatNoJobHadTheTimeToUse) {
  for (int64_t idle = 0; idle <= 2; ++idle) EXPECT_TRUE(CountIdleAllocated(Node(idle)).empty());
  const Snapshot three = Node(3), four = Node(4);
  EXPECT_EQ(CountIdleAllocated(three), (IdleAllocated{{"n1", 1}}));
  EXPECT_EQ(CountIdleAllocated(four), (IdleAllocated{{"n1", 2}}));
}

TEST(CountIdleAllocated, IsNeverMoreThanAreIdle) {
  Snapshot shared = Node(2);
  shared.jobs[0].allocations[0].gpus = {{"a100", 9}};  // oversubscribed
  EXPECT_EQ(CountIdleAllocated(shared), (IdleAllocated{{"n1", 2}}));
}

TEST(CountIdleAllocated, IsNeverMoreThanJobsHold) {
  const Snapshot wild = Node(900);
  EXPECT_EQ(CountIdleAllocated(wild), (IdleAllocated{{"n1", 2}}));
}

}  // namespace
}  // namespace gpuadvise::daemon
