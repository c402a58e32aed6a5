#include "daemon/answers/node_use.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "common/slurm/gres.h"
#include "common/slurm/node_state.h"
#include "tests/fakes/snapshot_gen.h"
#include "tests/fakes/snapshot_text.h"

namespace gpuadvise::daemon {
namespace {

Node NodeIn(const std::string& state, const std::string& more = "") {
  return SnapshotOf("node n1 a100:4 cpus 8 mem 64000 state " + state + "\n" + more).nodes.front();
}

std::string UseIn(const std::string& state, const std::string& more = "") {
  return std::string(NameOf(UseOf(NodeIn(state, more), false)));
}

TEST(NodeUse, IsOneWordForWhatCanBeHadOfANode) {
  const std::string half = "run 1 n1 a100:2 cpus 2 ends 1h";
  const std::string all = "run 1 n1 a100:4 cpus 4 ends 1h";
  EXPECT_EQ(UseIn("IDLE"), "free");
  EXPECT_EQ(UseIn("MIXED", half), "partly");
  EXPECT_EQ(UseIn("MIXED", all), "busy");
  EXPECT_EQ(UseIn("IDLE+PLANNED"), "promised");
  EXPECT_EQ(UseIn("MIXED+PLANNED", half), "promised");
  EXPECT_EQ(UseIn("MIXED+PLANNED", all), "busy");
  EXPECT_EQ(UseIn("IDLE+RESERVED"), "promised");
  EXPECT_EQ(UseIn("IDLE+DRAIN"), "drained");
  EXPECT_EQ(UseIn("MIXED+DRAIN", half), "drained");
  EXPECT_EQ(UseIn("IDLE+MAINTENANCE+RESERVED"), "drained");
  EXPECT_EQ(UseIn("IDLE+FAIL"), "drained");
  EXPECT_EQ(UseIn("DOWN"), "down");
  EXPECT_EQ(UseIn("DOWN+DRAIN"), "down");
  EXPECT_EQ(UseIn("IDLE+DRAIN+NOT_RESPONDING"), "down");
  EXPECT_EQ(UseIn("IDLE+POWERED_DOWN"), "free");
}

TEST(NodeUse, ANodeWithoutAFreeCpuIsBusyThoughItsGpusAreIdle) {
  EXPECT_EQ(UseIn("MIXED", "run 1 n1 a100:1 cpus 8 ends 1h"), "busy");
  EXPECT_EQ(UseIn("MIXED", "run 1 n1 a100:1 cpus 1 mem 64000 ends 1h"), "busy");
}

TEST(NodeUse, ANodeWithoutGpusIsJudgedByItsCpus) {
  const auto use = [](const std::string& run) {
    return NameOf(UseOf(SnapshotOf("node c1 cpus 8 mem 64000\n" + run).nodes.front(), false));
  };
  EXPECT_EQ(use(""), "free");
  EXPECT_EQ(use("run 1 c1 cpus 3 ends 1h"), "partly");
  EXPECT_EQ(use("run 1 c1 cpus 8 ends 1h"), "busy");
}

TEST(NodeUse, AReservationThatHoldsNowKeepsWhatIsIdle) {
  EXPECT_EQ(UseOf(NodeIn("IDLE"), true), NodeUse::kPromised);
  EXPECT_EQ(GpuTallyOf(NodeIn("IDLE"), "a100", true).promised, 4);
  EXPECT_EQ(GpuTallyOf(NodeIn("IDLE"), "a100", true).free, 0);
}

TEST(NodeUse, EveryWordIsReadBack) {
  for (const NodeUse use : kNodeUses) EXPECT_EQ(NodeUseNamed(NameOf(use)), use);
  EXPECT_EQ(NodeUseNamed("idle"), std::nullopt);
  EXPECT_EQ(NodeUseNamed(""), std::nullopt);
}

TEST(GpuTally, IdleGpusOfADrainedNodeAreUnavailableAndUsedOnesAreStillUsed) {
  const GpuTally tally =
      GpuTallyOf(NodeIn("MIXED+DRAIN", "run 1 n1 a100:1 cpus 1 ends 1h"), "a100", false);
  EXPECT_EQ(tally.used, 1);
  EXPECT_EQ(tally.free, 0);
  EXPECT_EQ(tally.unavailable, 3);
}

TEST(GpuTally, AGpuThatIsCutIntoShardsIsUsed) {
  const Node node =
      SnapshotOf("node n1 a100:4 cpus 8 mem 64000 shards 16\nrun 1 n1 shards 5 cpus 1 ends 1h")
          .nodes.front();
  const GpuTally tally = GpuTallyOf(node, "a100", false);
  EXPECT_EQ(tally.used, 2);  // 4 shards of one and 1 of another
  EXPECT_EQ(tally.free, 2);
}

RC_GTEST_PROP(GpuTally, CountsEveryGpuOnce, ()) {
  const Snapshot snapshot = *ArbitrarySnapshot();
  for (const Node& node : snapshot.nodes) {
    const bool kept = *rc::gen::arbitrary<bool>();
    for (const GpuCount& gpus : node.gpus) {
      const GpuTally tally = GpuTallyOf(node, gpus.type, kept);
      RC_ASSERT(tally.total == gpus.count);
      RC_ASSERT(tally.total == tally.used + tally.free + tally.promised + tally.unavailable);
      RC_ASSERT(std::min({tally.used, tally.free, tally.promised, tally.unavailable}) >= 0);
      const bool may_run = IsUsable(node.state);
      RC_ASSERT(may_run || (tally.free == 0 && tally.promised == 0));
    }
  }
}

}  // namespace
}  // namespace gpuadvise::daemon
