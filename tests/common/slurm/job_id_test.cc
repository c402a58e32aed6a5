#include "common/slurm/job_id.h"

#include <gtest/gtest.h>

#include "tests/fakes/snapshot_text.h"

namespace gpuadvise {
namespace {

TEST(ParseJobId, IsWhatSqueueShows) {
  EXPECT_EQ(ParseJobId("65")->id, 65);
  EXPECT_EQ(ParseJobId("65")->task, std::nullopt);
  EXPECT_EQ(ParseJobId("65_5")->id, 65);
  EXPECT_EQ(ParseJobId("65_5")->task, 5);
  EXPECT_EQ(ParseJobId("65_0")->task, 0);
  EXPECT_EQ(ParseJobId("61+1")->id, 62);
}

TEST(ParseJobId, OtherTextIsNone) {
  for (const char* text : {"", "0", "x", "65_", "_5", "65_x", "61+", "6 5", "-1", "+1", "65_5_1",
                           "99999999999999999999", "1+99999"}) {
    EXPECT_FALSE(ParseJobId(text)) << text;
  }
}

TEST(HasTask, ReadsRangesStepsAndThrottles) {
  EXPECT_TRUE(HasTask("5", 5));
  EXPECT_TRUE(HasTask("1,3,5-7%2", 6));
  EXPECT_TRUE(HasTask("0-30:2", 4));
  EXPECT_FALSE(HasTask("0-30:2", 5));
  EXPECT_FALSE(HasTask("1,3,5-7", 4));
  for (const char* text : {"", "-", "5-", "a-b", "1-5:0", "1-5:x"}) {
    EXPECT_FALSE(HasTask(text, 3)) << text;
  }
}

TEST(IsOf, ATaskIsTheRecordThatHasIt) {
  Snapshot snapshot = SnapshotOf("node n1 a100:4\nrun 66 n1 a100:1 array 65\npend 65 array 65");
  Job& running = snapshot.jobs[0].id == 66 ? snapshot.jobs[0] : snapshot.jobs[1];
  Job& pending = snapshot.jobs[0].id == 66 ? snapshot.jobs[1] : snapshot.jobs[0];
  running.array_tasks = "0";
  pending.array_tasks = "1-7";
  EXPECT_TRUE(IsOf(running, {65, 0}));
  EXPECT_FALSE(IsOf(pending, {65, 0}));
  EXPECT_TRUE(IsOf(pending, {65, 5}));
  EXPECT_TRUE(IsOf(running, {66}));
  EXPECT_TRUE(IsOf(running, {65}));
}

}  // namespace
}  // namespace gpuadvise
