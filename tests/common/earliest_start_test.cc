#include "common/earliest_start.h"

#include <gtest/gtest.h>

#include "common/queue_model.h"
#include "tests/fakes/snapshot_text.h"

namespace gpuadvise {
namespace {

constexpr int64_t kHour = 3600;

/// Where the request goes after all that waits: "n1+n2 @ 3600".
std::string SlotOf(const std::string& cluster, const std::string& request) {
  const QueueModel queue(SnapshotOf(cluster));
  const auto shape = ShapeOf(queue.pool(), queue.policy(), queue.policy().partitions[0],
                             queue.Members(0), RequestOf(request));
  if (!shape) return shape.error().message;
  const Slot slot = EarliestStart(queue.pool(), *queue.FreeAt(queue.plan().size()), *shape, 0);
  if (slot.start >= kNever) return "never";
  std::string text;
  for (const Share& share : slot.shares) {
    text += (text.empty() ? "" : "+") + queue.pool().nodes()[static_cast<size_t>(share.node)].name;
  }
  return text + " @ " + std::to_string(slot.start);
}

TEST(EarliestStart, LowWeightsAreFilledFirst) {
  EXPECT_EQ(SlotOf("node n1 a100:4 weight 5\nnode n2 a100:4 weight 2", "a100:1"), "n2 @ 0");
}

TEST(EarliestStart, TheTightestNodeIsTakenSoThatWholeOnesStayWhole) {
  EXPECT_EQ(SlotOf("node n[1-3] a100:4\nrun 7 n2 a100:2 ends 9h", "a100:2"), "n2 @ 0");
}

TEST(EarliestStart, SeveralNodesStartTogether) {
  EXPECT_EQ(SlotOf("node n[1-3] a100:4\n"
                   "run 7 n1 a100:4 ends 3h\nrun 8 n2 a100:4 ends 1h\nrun 9 n3 a100:4 ends 2h",
                   "a100:4 nodes 2"),
            "n2+n3 @ 7200");
}

TEST(EarliestStart, ANodeFreeEarlierMayBeTakenAgainByThen) {
  // n1 is free now but promised to job 9 from 1 h to 4 h; n2 comes free at 2 h.
  EXPECT_EQ(SlotOf("node n[1-2] a100:4\nrun 7 n2 a100:4 ends 2h\n"
                   "pend 9 a100:4 on n1 begin 1h limit 3h",
                   "a100:4 nodes 2 limit 1h"),
            "n1+n2 @ " + std::to_string(4 * kHour));
}

TEST(EarliestStart, AnyTypeMeansTheSameGpusAllThrough) {
  // Type a is free after 1 h, type b until then: 90 minutes fit from 1 h on, not from now.
  EXPECT_EQ(SlotOf("node n1 a:2 b:2\nrun 7 n1 a:2 ends 1h\npend 8 b:2 begin 1h limit 1h",
                   "gpu:2 limit 90m"),
            "n1 @ 3600");
}

TEST(EarliestStart, RequiredNodesAreAllTaken) {
  EXPECT_EQ(SlotOf("node n[1-3] a100:4\nrun 7 n3 a100:4 ends 1h", "a100:1 nodes 2 on n3"),
            "n1+n3 @ 3600");
}

TEST(EarliestStart, TasksSpreadOverTheNodesThatHaveRoom) {
  EXPECT_EQ(SlotOf("node n[1-2] cpus 8\nrun 7 n1 cpus 6 ends 1h", "nodes 2 tasks 10"), "n1+n2 @ 0");
  EXPECT_EQ(SlotOf("node n[1-2] cpus 8\nrun 7 n1 cpus 6 ends 1h", "nodes 2 tasks 11"),
            "n1+n2 @ 3600");
}

TEST(EarliestStart, MoreTasksThanANodeHasMeanMoreNodes) {
  EXPECT_EQ(SlotOf("node n[1-3] cpus 8", "tasks 20"), "n1+n2+n3 @ 0");
}

TEST(EarliestStart, AReservationAheadIsWaitedFor) {
  EXPECT_EQ(SlotOf("node n1\nreserve class n1 from 2h to 3h", "cpus 1 limit 2h"), "n1 @ 0");
  EXPECT_EQ(SlotOf("node n1\nreserve class n1 from 2h to 3h", "cpus 1 limit 3h"), "n1 @ 10800");
}

TEST(EarliestStart, UnlimitedJobsFitOnlyWhereNothingComesAfter) {
  EXPECT_EQ(SlotOf("node n1\npend 8 cpus 32 begin 1h limit 1h", "cpus 1 limit unlimited"),
            "n1 @ 7200");
}

}  // namespace
}  // namespace gpuadvise
