// What a site's slurm.conf does to the start of a job: Slurm's rule in each test's name.
#include <gtest/gtest.h>

#include <string>

#include "common/forecast/start_of.h"
#include "tests/fakes/snapshot_text.h"

namespace gpuadvise {
namespace {

constexpr int64_t kHour = 3600;
constexpr int64_t kMinute = 60;
const Submitter kAnn{1001, "ann", "lab", "normal"};
const Submitter kBob{1002, "bob", "lab", "normal"};

Result<StartSamples> Ask(const std::string& cluster, const std::string& request,
                         const Submitter& who = kAnn) {
  return StartOf(*PrepareQueue(SnapshotOf(cluster)), RequestOf(request), who);
}

int64_t Wait(const std::string& cluster, const std::string& request, const Submitter& who = kAnn) {
  const auto start = Ask(cluster, request, who);
  EXPECT_TRUE(start.has_value()) << (start ? "" : start.error().message);
  return start ? start->wait_seconds.front() : -1;
}

std::string WhyNot(const std::string& cluster, const std::string& request,
                   const Submitter& who = kAnn) {
  const auto start = Ask(cluster, request, who);
  return start ? "starts" : start.error().message;
}

// ---- licences --------------------------------------------------------------------------------

const std::string kMatlab = "node n[1-2] a:4\nlicence matlab 4 used 3\n";

TEST(Licences, AJobWaitsUntilEnoughAreGivenBack) {
  const std::string world = kMatlab + "run 7 n1 a:1 ends 2h licenses matlab=3\n";
  EXPECT_EQ(Wait(world, "a:1 licenses matlab=1"), 0);
  EXPECT_EQ(Wait(world, "a:1 licenses matlab=2"), 2 * kHour);
  EXPECT_EQ(Wait(world, "a:1"), 0);
}

TEST(Licences, AJobThatWaitsForThemHoldsNobodyBack) {
  const std::string world = kMatlab +
                            "run 7 n1 a:1 ends 2h licenses matlab=3\n"
                            "pend 8 a:4 nodes 2 licenses matlab=4 reason Licenses limit 5h\n";
  EXPECT_EQ(Wait(world, "a:4 limit 9h"), 0);
}

TEST(Licences, WaitingJobsOfHigherRankGetThemFirst) {
  const std::string world = kMatlab +
                            "run 7 n1 a:1 ends 2h licenses matlab=3\n"
                            "pend 8 a:1 licenses matlab=4 reason Licenses limit 5h\n";
  EXPECT_EQ(Wait(world, "a:1 licenses matlab=2"), 7 * kHour);
}

TEST(Licences, WhatSomebodyUnseenUsesIsNotThere) {
  EXPECT_EQ(Wait(kMatlab, "a:1 licenses matlab=1"), 0);
  EXPECT_NE(WhyNot(kMatlab, "a:1 licenses matlab=2").find("held by jobs without a time limit"),
            std::string::npos);
}

TEST(Licences, MoreThanThereAreAndUnknownOnesAreRefused) {
  EXPECT_EQ(WhyNot(kMatlab, "a:1 licenses matlab=5"),
            "the cluster has 4 of licence matlab, this job needs 5");
  EXPECT_EQ(WhyNot(kMatlab, "a:1 licenses matlap=1"),
            "there is no licence 'matlap' (did you mean 'matlab'?); there are matlab");
}

TEST(Licences, ThoseOfAReservationAreForItsOwnJobsUntilItEnds) {
  const std::string world =
      "node n[1-2] a:4\nlicence matlab 4 reserved 3\n"
      "reserve class n1 from 0h to 2h users ann licenses matlab=3\n";
  EXPECT_EQ(Wait(world, "a:1 licenses matlab=1"), 0);
  EXPECT_EQ(Wait(world, "a:1 licenses matlab=2"), 2 * kHour);
  EXPECT_EQ(Wait(world, "a:1 licenses matlab=3 reservation class"), 0);
}

TEST(Licences, OneOfSeveralIsEnough) {
  const std::string world =
      "node n[1-2] a:4\nlicence ansys 1\nlicence matlab 4 used 4\n"
      "run 7 n1 a:1 ends 2h licenses matlab=4\n";
  EXPECT_EQ(Wait(world, "a:1 licenses ansys=1,matlab=1"), 2 * kHour);
  EXPECT_EQ(WhyNot(world, "a:1 any-license ansys=1,nastran=1"), "starts");
}

// ---- gres/mps --------------------------------------------------------------------------------

TEST(Mps, AGpuIsHandedOutWholeOrAsMps) {
  const std::string world = "node n1 a:2 mps 200\nrun 7 n1 mps 50 ends 2h\n";
  EXPECT_EQ(Wait(world, "a:1"), 0);
  EXPECT_EQ(Wait(world, "a:2"), 2 * kHour);
  EXPECT_EQ(Wait(world, "cpus 1 mps 50"), 0);
  EXPECT_EQ(Wait("node n1 a:2 mps 200\nrun 7 n1 a:2 ends 3h\n", "cpus 1 mps 1"), 3 * kHour);
}

TEST(Mps, OneJobGetsThemFromOneGpu) {
  EXPECT_NE(WhyNot("node n1 a:2 mps 200", "mps 101").find("with 101 of gres/mps"),
            std::string::npos);
  EXPECT_NE(WhyNot("node n1 a:2 shards 8", "mps 1").find("with 1 of gres/mps"), std::string::npos);
}

// ---- reservations ----------------------------------------------------------------------------

TEST(PartOfANode, OnlyWhatAReservationHoldsIsWithheld) {
  const std::string world = "node n1 a:4\nreserve class n1 from 0h to 2h tres cpu=8,gres/gpu=2\n";
  EXPECT_EQ(Wait(world, "a:2"), 0);
  EXPECT_EQ(Wait(world, "a:3"), 2 * kHour);
  EXPECT_EQ(Wait(world, "a:1 cpus 25"), 2 * kHour);
}

TEST(PartOfANode, OneThatIsAheadIsWithheldFromItsBegin) {
  const std::string world = "node n1 a:4\nreserve class n1 from 2h to 4h tres cpu=8,gres/gpu=2\n";
  EXPECT_EQ(Wait(world, "a:3 limit 2h"), 0);
  EXPECT_EQ(Wait(world, "a:3 limit 3h"), 4 * kHour);
  EXPECT_EQ(Wait(world, "a:2 limit 3h"), 0);
}

TEST(PartOfANode, WaitingJobsPlanAroundIt) {
  const std::string world =
      "node n1 a:4\nreserve class n1 from 0h to 2h tres cpu=8,gres/gpu=2\n"
      "run 7 n1 a:2 ends 1h\npend 8 a:3 limit 1h\n";
  EXPECT_EQ(Wait(world, "a:2 limit 1h"), kHour);
  EXPECT_EQ(Wait(world, "a:2 limit 90m"), 3 * kHour);
}

TEST(PartOfANode, ItsOwnJobsGetIt) {
  const std::string world =
      "node n1 a:4\nreserve class n1 from 0h to 2h users ann tres cpu=8,gres/gpu=2\n"
      "run 7 n1 a:2 ends 5h\n";
  EXPECT_EQ(Wait(world, "a:2 limit 1h reservation class"), 0);
  EXPECT_EQ(Wait(world, "a:2 limit 1h"), 2 * kHour);
  EXPECT_EQ(Wait(world + "run 8 n1 a:2 ends 1h reservation class\n", "a:2 limit 1h"), kHour);
}

TEST(Floating, KeepsLongJobsOffItsNodesForEver) {
  const std::string world =
      "node n[1-2] a:4\nreserve float n1 from 1h to 3h flags TIME_FLOAT,MAINT\n"
      "run 7 n2 a:4 ends 9h\n";
  EXPECT_EQ(Wait(world, "a:1 limit 1h"), 0);
  EXPECT_EQ(Wait(world, "a:1 limit 2h"), 9 * kHour);
  EXPECT_NE(WhyNot(world, "a:1 reservation float").find("no job can use it"), std::string::npos);
}

TEST(Magnetic, AttractsWhomItAdmits) {
  const std::string world =
      "node n[1-2] a:4\nreserve class n1 from 0h to 9h users ann flags MAGNETIC\n"
      "run 7 n2 a:4 ends 5h\n";
  EXPECT_EQ(Wait(world, "a:1 limit 1h", kAnn), 0);
  EXPECT_EQ(Wait(world, "a:1 limit 1h", kBob), 5 * kHour);
  EXPECT_EQ(Wait(world + "pend 8 a:4 limit 2h user ann\n", "a:4 limit 1h", kAnn), 2 * kHour);
}

TEST(Reservation, AdmitsPartitionsAndQos) {
  const std::string world =
      "node n[1-2] a:4\npartition main ALL\npartition other ALL\n"
      "reserve class n1 from 0h to 9h partitions other\n";
  EXPECT_NE(WhyNot(world, "a:1 reservation class in main").find("may not use reservation"),
            std::string::npos);
  EXPECT_EQ(WhyNot(world, "a:1 reservation class in other"), "starts");
}

// ---- power saving ----------------------------------------------------------------------------

TEST(PowerSaving, APoweredDownNodeStartsAJobOnceItIsUp) {
  const std::string world =
      "config resume-timeout 10m\nnode n1 a:4 state IDLE+CLOUD+POWERED_DOWN\n";
  EXPECT_EQ(Wait(world, "a:1"), 10 * kMinute);
  EXPECT_EQ(Wait("node n1 a:4 state IDLE+POWERED_DOWN", "a:1"), kMinute);  // Slurm's default
  EXPECT_EQ(Wait(world + "partition main ALL resume-timeout 20m\n", "a:1"), 20 * kMinute);
}

TEST(PowerSaving, ANodeThatIsPoweringDownHasToEndThatFirst) {
  EXPECT_EQ(Wait("config resume-timeout 10m suspend-timeout 5m\nnode n1 a:4 state "
                 "IDLE+POWERING_DOWN\n",
                 "a:1"),
            15 * kMinute);
}

TEST(PowerSaving, ABootingNodeIsUsableThoughItDoesNotRespond) {
  EXPECT_EQ(
      Wait("config resume-timeout 10m\nnode n1 a:4 state IDLE+NOT_RESPONDING+POWERING_UP\n", "a:1"),
      10 * kMinute);
}

TEST(PowerSaving, NodesThatAreUpComeFirst) {
  const auto start =
      Ask("config resume-timeout 10m\nnode n1 a:4 weight 1 state IDLE+POWERED_DOWN\n"
          "node n2 a:4 weight 9\n",
          "a:1");
  EXPECT_EQ(start->wait_seconds.front(), 0);
  EXPECT_EQ(start->nodes, std::vector<std::string>{"n2"});
}

// ---- partitions ------------------------------------------------------------------------------

TEST(MaxCpusPerNode, BoundsAllJobsOfThePartitionOnANode) {
  const std::string world =
      "node n1 a:4 cpus 32\npartition cpu ALL max-cpus-per-node 24\npartition gpu ALL\n"
      "run 7 n1 cpus 20 ends 2h in cpu\n";
  EXPECT_EQ(Wait(world, "cpus 4 in cpu"), 0);
  EXPECT_EQ(Wait(world, "cpus 8 in cpu"), 2 * kHour);
  EXPECT_EQ(Wait(world, "a:1 cpus 8 in gpu"), 0);
}

TEST(MaxCpusPerNode, LeavesNoWholeNodes) {
  EXPECT_NE(WhyNot("node n1 cpus 32\npartition cpu ALL max-cpus-per-node 24\n",
                   "cpus 4 exclusive in cpu"),
            "starts");
}

TEST(Force, CpusAreSharedAndGpusAreNot) {
  const std::string world =
      "node n1 a:4 cpus 32\npartition main ALL over-subscribe FORCE:2\n"
      "run 7 n1 a:2 cpus 32 ends 2h mem 1G\n";
  EXPECT_EQ(Wait(world, "a:2 cpus 32 mem 1G"), 0);
  EXPECT_EQ(Wait(world, "a:3 cpus 1 mem 1G"), 2 * kHour);
  EXPECT_EQ(Wait(world, "cpus 32 exclusive mem 1G"), 0);  // nobody can ask for whole nodes
  EXPECT_NE(WhyNot(world, "cpus 33 nodes 1-1"), "starts");
}

TEST(SelectLinear, HandsOutWholeNodes) {
  const std::string world = "config select-type linear\nnode n1 a:4\nrun 7 n1 a:1 ends 2h\n";
  EXPECT_EQ(Wait(world, "a:1 cpus 1"), 2 * kHour);
}

TEST(ExclusiveUser, NobodyElseGetsWhatIsLeftOfTheNode) {
  const std::string world =
      "node n1 a:4\nrun 7 n1 a:1 ends 2h exclusive-to user\nrun 8 n1 a:1 ends 3h exclusive-to "
      "user\n";
  EXPECT_EQ(Wait(world, "a:1", kBob), 3 * kHour);
  const std::string partition =
      "node n1 a:4\npartition main ALL exclusive-to user\nrun 7 n1 a:1 ends 2h\n";
  EXPECT_EQ(Wait(partition, "a:1", kBob), 2 * kHour);
}

// ---- preemption ------------------------------------------------------------------------------

const std::string kTiers =
    "config priority multifactor preempt partition_prio preempt-mode REQUEUE,PRIORITY\nnode n1 "
    "a:4\n"
    "partition low ALL tier 1\npartition high ALL tier 9\nrun 7 n1 a:4 ends 5h in low\n";

TEST(PreemptModePriority, OnlyAJobOfNoLowerPriorityTakesNodes) {
  Snapshot world = SnapshotOf(kTiers);
  const auto wait = [&](int64_t priority) {
    world.jobs.front().priority = priority;
    return StartOf(*PrepareQueue(world), RequestOf("a:4 in high"), kAnn)->wait_seconds.front();
  };
  const int64_t own = StartOf(*PrepareQueue(world), RequestOf("a:4 in high"), kAnn)->priority;
  EXPECT_EQ(wait(own), 0);
  EXPECT_EQ(wait(own + 1), 5 * kHour);
}

TEST(PreemptModeWithin, JobsOfOneQosTakeNodesOfThoseOfLowerPriority) {
  Snapshot world = SnapshotOf(
      "config priority multifactor qos 1000 preempt qos preempt-mode REQUEUE,WITHIN\nqos normal "
      "priority 5\nnode n1 a:4\n"
      "run 7 n1 a:4 ends 5h\n");
  const auto wait = [&](int64_t priority) {
    world.jobs.front().priority = priority;
    return StartOf(*PrepareQueue(world), RequestOf("a:4"), kAnn)->wait_seconds.front();
  };
  const int64_t own = StartOf(*PrepareQueue(world), RequestOf("a:4"), kAnn)->priority;
  EXPECT_EQ(wait(own - 1), 0);
  EXPECT_EQ(wait(own), 5 * kHour);
}

}  // namespace
}  // namespace gpuadvise
