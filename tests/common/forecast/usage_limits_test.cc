#include "common/scheduler/usage_limits.h"

#include <gtest/gtest.h>

#include "common/forecast/start_of.h"
#include "common/scheduler/queue_model.h"
#include "tests/fakes/snapshot_text.h"

namespace gpuadvise {
namespace {

const Submitter kAnn{1001, "ann", "lab", "normal"};

// Hours until limits let ann use `gpus` more, after all that waits.
std::string HoursFor(const std::string& site, int64_t gpus, const Submitter& who = kAnn) {
  const auto queue = PrepareQueue(SnapshotOf("config enforce limits\nnode n[1-8] a100:4\n" + site));
  const auto start = StartOf(*queue,
                             RequestOf("a100:" + std::to_string(gpus > 4 ? 4 : gpus) + " nodes " +
                                       std::to_string(gpus > 4 ? 2 : 1)),
                             who);
  return start ? std::to_string(start->wait_seconds.front() / 3600) : "never";
}

TEST(UsageLimits, OnlyTheUsersOwnJobsCountPerUser) {
  const std::string site =
      "qos normal per-user gres/gpu=4\nassoc lab user ann\nassoc lab user bob\n"
      "run 7 n1 a100:3 ends 2h user ann\nrun 8 n2 a100:4 ends 9h user bob\n";
  EXPECT_EQ(HoursFor(site, 1), "0");
  EXPECT_EQ(HoursFor(site, 2), "2");
}

TEST(UsageLimits, OnlyJobsOfTheQosCount) {
  EXPECT_EQ(HoursFor("qos normal per-user gres/gpu=4\nqos high\nassoc lab user ann\n"
                     "run 7 n1 a100:4 ends 2h user ann qos high",
                     4),
            "0");
}

TEST(UsageLimits, AGroupLimitOfAQosCountsEverybody) {
  EXPECT_EQ(HoursFor("qos normal group gres/gpu=4\nassoc lab user ann\n"
                     "run 7 n1 a100:4 ends 3h user bob account other",
                     1),
            "3");
}

TEST(UsageLimits, AnAccountsGroupLimitCountsItsSubaccounts) {
  const std::string site =
      "assoc dept group gres/gpu=8\nassoc lab parent dept\nassoc sub parent lab\n"
      "assoc lab user ann\nassoc sub user bob\nassoc out user eve\n"
      "run 7 n1 a100:4 ends 3h user bob account sub\n"
      "run 8 n2 a100:4 ends 9h user eve account out\n";
  EXPECT_EQ(HoursFor(site, 4), "0");
  EXPECT_EQ(HoursFor(site, 8), "3");
}

TEST(UsageLimits, AQosLimitOfTheSameKindReplacesTheAccounts) {
  EXPECT_EQ(
      HoursFor("qos normal group gres/gpu=16\nassoc lab group gres/gpu=2\nassoc lab user ann\n"
               "run 7 n1 a100:2 ends 3h user ann",
               2),
      "0");
}

TEST(UsageLimits, JobsAreCountedToo) {
  const std::string site =
      "qos normal\nassoc lab user ann max-jobs 2\n"
      "run 7 n1 a100:1 ends 3h user ann\nrun 8 n1 a100:1 ends 5h user ann\n";
  EXPECT_EQ(HoursFor(site, 1), "3");
}

TEST(UsageLimits, ThePartitionsQosCountsJobsInThePartition) {
  EXPECT_EQ(HoursFor("partition p ALL qos part\nqos part per-user gres/gpu=4\nqos normal\n"
                     "assoc lab user ann\nrun 7 n1 a100:4 ends 4h user ann in p",
                     1),
            "4");
}

TEST(UsageLimits, PlannedJobsCountWhileTheyRun) {
  EXPECT_EQ(HoursFor("qos normal per-user gres/gpu=4\nassoc lab user ann\n"
                     "pend 7 a100:4 limit 2h user ann",
                     1),
            "2");
}

TEST(UsageLimits, JobsWithoutAnEndHoldTheLimitForEver) {
  EXPECT_EQ(HoursFor("qos normal per-user gres/gpu=4\nassoc lab user ann\n"
                     "run 7 n1 a100:4 ends never user ann",
                     1),
            "never");
}

TEST(UsageLimits, NothingCountsWhereNothingIsEnforced) {
  const auto queue =
      PrepareQueue(SnapshotOf("node n1 a100:4\nqos normal per-user gres/gpu=1\n"
                              "run 7 n1 a100:1 ends 1h user ann"));
  EXPECT_FALSE(queue->limits().is_enforced());
  EXPECT_TRUE(queue->running()[0].caps.empty());
}

}  // namespace
}  // namespace gpuadvise
