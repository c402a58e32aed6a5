// What keeps a job waiting, fact by fact; the answers made of it are tested with the daemon.
#include "common/forecast/why_pending.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/fakes/snapshot_text.h"

namespace gpuadvise {
namespace {

const Job& JobOf(const Snapshot& snapshot, int64_t id) {
  return *std::find_if(snapshot.jobs.begin(), snapshot.jobs.end(),
                       [&](const Job& job) { return job.id == id; });
}

// One "words -> what clears it" a line.
std::string Why(const std::string& world, int64_t id, const StartSamples* start = nullptr) {
  const Snapshot snapshot = SnapshotOf(world);
  std::string text;
  for (const WhyPending& why : ExplainWait(JobOf(snapshot, id), *PrepareQueue(snapshot), start)) {
    text += why.words + " -> " + why.clears + "\n";
  }
  return text;
}

bool Has(const std::string& text, const std::string& line) {
  return text.find(line + "\n") != std::string::npos;
}

const std::string kBusy = "node n1 a100:4\nrun 1 n1 a100:4 ends 2h\n";

TEST(ExplainWait, SlurmsOwnReasonIsTheFirst) {
  EXPECT_EQ(Why(kBusy + "pend 2 a100:4 reason Priority", 2).rfind("other jobs are ahead of it", 0),
            0u);
}

TEST(ExplainWait, WhatReleasesAJobNamesItsId) {
  const std::string why = Why(kBusy + "pend 27 a100:4 reason JobHeldUser", 27);
  EXPECT_NE(why.find("scontrol release 27"), std::string::npos) << why;
  EXPECT_EQ(why.find("JOBID"), std::string::npos);
}

TEST(ExplainWait, AJobItDependsOnRunsWaitsOrIsGone) {
  const std::string why = Why(
      kBusy + "pend 2 a100:4\npend 3 a100:1 reason Dependency dependency afterok:1,afterany:2:99",
      3);
  EXPECT_TRUE(Has(why, "it waits for job 1, which runs -> when it has ended")) << why;
  EXPECT_TRUE(Has(why, "it waits for job 2, which waits -> when it has ended")) << why;
  EXPECT_TRUE(
      Has(why, "it waits for job 99, which no longer exists -> see sacct -j 99 for that job"))
      << why;
}

TEST(ExplainWait, AnArrayIsKnownByItsNumber) {
  const std::string why =
      Why(kBusy + "pend 5 a100:1 array 4\npend 6 a100:1 reason Dependency dependency afterok:4", 6);
  EXPECT_TRUE(Has(why, "it waits for job 4, which waits -> when it has ended")) << why;
}

TEST(ExplainWait, AReservationThatHasNotBegunIsNamed) {
  const std::string world =
      kBusy + "reserve class n1 from 3h to 5h\nreserve now n1 from 0h to 5h\n";
  EXPECT_TRUE(Has(Why(world + "pend 2 a100:1 reservation class", 2),
                  "reservation class has not begun -> in 3 h"));
  EXPECT_EQ(Why(world + "pend 2 a100:1 reservation now", 2).find("has not begun"),
            std::string::npos);
  EXPECT_EQ(Why(world + "pend 2 a100:1", 2).find("has not begun"), std::string::npos);
}

TEST(ExplainWait, ABeginTimeThatIsOverIsNoReason) {
  EXPECT_TRUE(Has(Why(kBusy + "pend 2 a100:1 begin 30m", 2),
                  "it must not start before its begin time -> in 30 m"));
  EXPECT_EQ(Why(kBusy + "pend 2 a100:1 begin 0h", 2).find("begin time"), std::string::npos);
}

TEST(ExplainWait, OfNodesThatAreOutOnlyThoseItCouldUseCount) {
  const std::string world =
      "node n1 a100:4 state DOWN reason disk\nnode n2 a100:4 state DRAIN reason fan\n"
      "node n3 a100:4\nnode m1 l40s:4 state DOWN reason disk\npartition p n[1-3],m1\n"
      "partition q n[1-2]\n";
  const std::string cannot = " it could use cannot run jobs: ";
  EXPECT_NE(Why(world + "pend 2 a100:1 in p", 2)
                .find("2 of 3 nodes" + cannot + "n1 down (disk); n2 drained (fan)"),
            std::string::npos)
      << Why(world + "pend 2 a100:1 in p", 2);
  EXPECT_NE(Why(world + "pend 2 l40s:1 in p", 2).find("1 of 1 node" + cannot + "m1 down (disk)"),
            std::string::npos);
  EXPECT_NE(Why(world + "pend 2 gpu:1 in p", 2).find("3 of 4 nodes"), std::string::npos);
  EXPECT_NE(Why(world + "pend 2 a100:1 in p,q", 2).find("2 of 3 nodes"), std::string::npos);
  EXPECT_EQ(Why(world + "pend 2 a100:1 in p on n3", 2).find("cannot run jobs"), std::string::npos);
}

TEST(ExplainWait, ALimitThatHasRoomIsNoReason) {
  const auto why = [](int64_t gpus) {
    return Why(
        "config enforce limits\nnode n[1-2] a100:4\nqos normal per-user gres/gpu=4\n"
        "assoc lab user ann\nrun 1 n1 a100:3 ends 2h\npend 2 limit 1h a100:" +
            std::to_string(gpus),
        2);
  };
  EXPECT_EQ(why(1).find("in use"), std::string::npos);
  EXPECT_NE(why(3).find("3 of 4 in use, it needs 3 -> when 2 of them are released"),
            std::string::npos)
      << why(3);
}

TEST(ExplainWait, ThoseBeforeItAreCountedWhereItsStartIsForecast) {
  StartSamples start;
  start.wait_seconds = {0};
  const std::string world = kBusy + "pend 2 a100:4 priority 77";
  EXPECT_EQ(Why(world, 2, &start).find("higher rank"), std::string::npos);
  start.jobs_before = 1;
  EXPECT_NE(
      Why(world, 2, &start).find("1 waiting job ahead of it (its priority is 77) wants the same"),
      std::string::npos);
}

TEST(ExplainWait, AJobThatIsNotInTheQueueModelStillHasItsReasons) {
  const std::string why = Why(kBusy + "pend 2 a100:64 reason Resources", 2);
  EXPECT_FALSE(why.empty());
  EXPECT_EQ(why.find("could have started long ago"), std::string::npos);
}

}  // namespace
}  // namespace gpuadvise
