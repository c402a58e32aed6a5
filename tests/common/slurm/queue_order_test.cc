#include "common/slurm/queue_order.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/fakes/snapshot_text.h"

namespace gpuadvise {
namespace {

TEST(Rank, TierThenPriorityThenJobId) {
  const Rank tier{true, 2, 1, 9};
  const Rank priority{true, 1, 50, 9};
  const Rank older{true, 1, 10, 3};
  const Rank younger{true, 1, 10, 4};
  std::vector<Rank> ranks = {younger, older, priority, tier};
  std::sort(ranks.begin(), ranks.end());
  EXPECT_EQ(ranks, (std::vector<Rank>{tier, priority, older, younger}));
}

TEST(Rank, JobsOfReservationsComeFirst) {
  EXPECT_LT((Rank{false, 1, 1, 9}), (Rank{true, 9, 99, 1}));
}

TEST(Rank, ANewJobComesAfterItsEquals) {
  Rank mine;
  mine.tier = 1;
  mine.priority = 10;
  EXPECT_GT(mine, (Rank{true, 1, 10, 1'000'000}));
  EXPECT_LT(mine, (Rank{true, 1, 9, 1}));
}

TEST(IsHoldReason, LimitsHoldsDependenciesAndClosedPartitions) {
  for (const char* reason :
       {"QOSMaxGRESPerUser", "QOSGrpCpuLimit", "AssocGrpGRES", "AssocMaxJobsLimit", "JobHeldUser",
        "JobHeldAdmin", "Dependency", "DependencyNeverSatisfied", "PartitionDown",
        "PartitionInactive", "PartitionTimeLimit", "BadConstraints", "InvalidQOS",
        "JobHoldMaxRequeue", "Licenses", "launch failed requeued held"}) {
    EXPECT_TRUE(IsHoldReason(reason)) << reason;
  }
}

TEST(IsHoldReason, WaitingForResourcesOrTimeIsNoHold) {
  for (const char* reason :
       {"", "Priority", "Resources", "BeginTime", "Reservation", "JobArrayTaskLimit",
        "Nodes_required_for_job_are_DOWN", "Cleaning", "ReqNodeNotAvail, UnavailableNodes:n7",
        "ReqNodeNotAvail, Reserved for maintenance"}) {
    EXPECT_FALSE(IsHoldReason(reason)) << reason;
  }
}

int64_t FromOf(const std::string& rest) {
  return EligibleFrom(SnapshotOf("node n1\npend 7 cpus 1 " + rest).jobs.front(), kSnapshotTime);
}

TEST(EligibleFrom, NowLaterOrNever) {
  EXPECT_EQ(FromOf(""), 0);
  EXPECT_EQ(FromOf("begin 2h reason BeginTime"), 7200);
  EXPECT_EQ(FromOf("eligible 1h"), 3600);
  EXPECT_EQ(FromOf("priority 0"), kNever);
  EXPECT_EQ(FromOf("dependency singleton"), kNever);
  EXPECT_EQ(FromOf("reason JobHeldUser"), kNever);
}

}  // namespace
}  // namespace gpuadvise
