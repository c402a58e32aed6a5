#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "daemon/answers/views.h"
#include "tests/daemon/answers/answer_world.h"

namespace gpuadvise::daemon {
namespace {

using nlohmann::json;

const char* const kMapped =
    "node n[1-4] gpu4090:4 cpus 32\n"
    "node n5 gpu4090:4 state DRAIN\n"
    "node n6 gpu4090:4 state DOWN\n"
    "node m1 gpul40s:40\n"
    "node c1\n"
    "run 1 n2 gpu4090:3 cpus 3 ends 1h\n"
    "run 2 n3 gpu4090:4 cpus 4 ends 1h\n"
    "run 3 n5 gpu4090:1 cpus 1 ends 1h\n"
    "reserve class n4 from 0h to 3h users ben\n"
    "partition gpu n[1-6],m1,c1 default\n";

TEST(AnswerMap, HasALetterForEachNode) {
  const AnswerWorld world(kMapped);
  const json answer = AnswerMap(world.Context(), kNobodyAsks);
  const json group = RowWith(answer["groups"], "gpu", "rtx4090");
  EXPECT_EQ(group["partition"], "gpu");
  EXPECT_EQ(group["gpus_per_node"], 4);
  EXPECT_EQ(group["nodes"], "n[1-6]");
  EXPECT_EQ(group["condition"], "fpbkdx");
  EXPECT_EQ(group["used"], "034010");
  EXPECT_EQ(group["free"], "410400");
  EXPECT_EQ(RowWith(answer["groups"], "gpu", "l40s")["free"], "z");  // 40 of them
  EXPECT_EQ(answer["groups"].size(), 2u);                            // c1 has none
}

TEST(AnswerMap, OfPrivateNodesIsEmpty) {
  const AnswerWorld world(std::string(kMapped) + "config private nodes\n");
  const json answer = AnswerMap(world.Context(), kAnnAsks);
  EXPECT_TRUE(answer["groups"].empty());
  EXPECT_EQ(answer["warnings"].size(), 1u);
  EXPECT_EQ(AnswerMap(world.Context(), kRootAsks)["groups"].size(), 2u);
}

TEST(AnswerMap, HiddenPartitionsAreNotThereForStrangers) {
  Snapshot snapshot =
      SnapshotOf("node n[1-2] gpu4090:4\npartition closed n[1-2]\npartition open n1 default\n");
  snapshot.partitions[0].hidden = true;
  const AnswerWorld world(snapshot);
  const json group = AnswerMap(world.Context(), kNobodyAsks)["groups"][0];
  EXPECT_EQ(group["nodes"], "n1");
  EXPECT_EQ(group["partition"], "open");
}

}  // namespace
}  // namespace gpuadvise::daemon
