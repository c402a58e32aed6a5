#include "common/slurm/preemption.h"

#include <gtest/gtest.h>

#include "common/forecast/start_of.h"
#include "common/scheduler/queue_model.h"
#include "common/scheduler/simulation.h"
#include "tests/fakes/snapshot_text.h"

namespace gpuadvise {
namespace {

constexpr int64_t kHour = 3600;
const Submitter kAnn{1001, "ann", "lab", "normal"};

const std::string kTiers =
    "config preempt partition_prio\nconfig preempt-mode REQUEUE\n"
    "node n[1-2] a100:4\n"
    "partition low ALL tier 1 default\npartition high ALL tier 10\n";

StartSamples Ask(const std::string& cluster, const std::string& request) {
  const auto start = StartOf(*PrepareQueue(SnapshotOf(cluster)), RequestOf(request), kAnn);
  EXPECT_TRUE(start) << start.error().message;
  return *start;
}

TEST(Preemption, AHigherTierTakesTheNodesOfALowerOne) {
  const std::string full = kTiers + "run 1 n[1-2] a100:4 ends 5h in low\n";
  EXPECT_EQ(Ask(full, "a100:4 in high").wait_seconds.front(), 0);
  EXPECT_EQ(Ask(full, "a100:4 in low").wait_seconds.front(), 5 * kHour);
}

TEST(Preemption, NobodyTakesTheNodesOfItsEqualsOrWhereItIsOff) {
  const std::string equals = kTiers + "run 1 n[1-2] a100:4 ends 5h in high\n";
  EXPECT_EQ(Ask(equals, "a100:4 in high").wait_seconds.front(), 5 * kHour);
  std::string off = kTiers + "run 1 n[1-2] a100:4 ends 5h in low\n";
  off.replace(off.find("tier 1 "), 7, "tier 1 preempt-mode OFF ");
  EXPECT_EQ(Ask(off, "a100:4 in high").wait_seconds.front(), 5 * kHour);
  EXPECT_EQ(Ask("node n1 a100:4\nrun 1 n1 a100:4 ends 5h", "a100:4").wait_seconds.front(),
            5 * kHour);
}

TEST(Preemption, TakesTheYoungestOfTheLowestPriorityAndNoMoreThanItNeeds) {
  const Snapshot snapshot = SnapshotOf(kTiers +
                                       "run 1 n1 a100:4 ends 9h in low\n"
                                       "run 2 n2 a100:4 ends 9h in low\n"
                                       "pend 3 a100:4 limit 1h in high\n");
  const auto queue = PrepareQueue(snapshot);
  const std::vector<SimulatedJob> played = SimulateSample(*queue, 0).jobs;
  ASSERT_EQ(played.size(), 1u);
  EXPECT_EQ(played[0].start, 0);
  EXPECT_EQ(played[0].held.count, 1u);
}

// What the request loses: it runs an hour, gives way for three, and starts anew.
TEST(Preemption, LostTimeIsRequeueAndWorkDoneAgain) {
  const StartSamples start = Ask(kTiers +
                                     "run 1 n1 a100:4 ends 9h in high\n"
                                     "pend 2 a100:4 limit 3h in high begin 1h\n",
                                 "a100:4 limit 2h in low");
  EXPECT_EQ(start.wait_seconds.front(), 0);
  ASSERT_EQ(start.lost_seconds.size(), 1u);
  EXPECT_EQ(start.lost_seconds.front(), 4 * kHour);  // starts at 0, again at 4 h, ends at 6 h
  EXPECT_EQ(start.MeanLost(), 4.0 * kHour);
  EXPECT_EQ(DescribePreemption(start), "preempted in 100 % of cases: 4 h more on average");
}

TEST(Preemption, SuspendedJobsKeepTheirWork) {
  std::string cluster = kTiers +
                        "run 1 n1 a100:4 ends 9h in high\n"
                        "pend 2 a100:4 limit 3h in high begin 1h\n";
  cluster.replace(cluster.find("REQUEUE"), 7, "SUSPEND,GANG");
  const StartSamples start = Ask(cluster, "a100:4 limit 2h in low");
  EXPECT_EQ(start.lost_seconds.front(), 3 * kHour);
}

TEST(Preemption, ByQosWhoIsNamedAndWithItsMode) {
  const std::string cluster =
      "config preempt qos\nconfig preempt-mode OFF\n"
      "node n1 a100:4\n"
      "qos normal\nqos scavenger preempt-mode CANCEL\nqos urgent preempts scavenger\n"
      "assoc lab user ann qos normal,scavenger,urgent default-qos normal default\n";
  const std::string scavenger = cluster + "run 1 n1 a100:4 ends 5h qos scavenger\n";
  const std::string normal = cluster + "run 1 n1 a100:4 ends 5h qos normal\n";
  const auto wait = [](const std::string& text, const std::string& qos) {
    return StartOf(*PrepareQueue(SnapshotOf(text)), RequestOf("a100:4"), {1001, "ann", "lab", qos})
        ->wait_seconds.front();
  };
  EXPECT_EQ(wait(scavenger, "urgent"), 0);
  EXPECT_EQ(wait(scavenger, "normal"), 5 * kHour);
  EXPECT_EQ(wait(normal, "urgent"), 5 * kHour);
}

TEST(Preemption, SaysNothingWhereNobodyMayTakeNodes) {
  const StartSamples start = Ask("node n1 a100:4", "a100:4");
  EXPECT_TRUE(start.lost_seconds.empty());
  EXPECT_EQ(DescribePreemption(start), "");
  EXPECT_EQ(DescribePreemption(Ask(kTiers, "a100:4 in low")),
            "may be preempted, though no such job is pending");
}

TEST(Preemption, ReadsTheModesAsSlurmPrintsThem) {
  EXPECT_EQ(ParsePreemptMode("REQUEUE"), PreemptMode::kRequeue);
  EXPECT_EQ(ParsePreemptMode("SUSPEND,GANG"), PreemptMode::kSuspend);
  EXPECT_EQ(ParsePreemptMode("cancel"), PreemptMode::kCancel);
  EXPECT_EQ(ParsePreemptMode("GANG"), PreemptMode::kOff);
  EXPECT_EQ(ParsePreemptMode("OFF"), PreemptMode::kOff);
  EXPECT_EQ(ParsePreemptMode(""), PreemptMode::kOff);
}

}  // namespace
}  // namespace gpuadvise
