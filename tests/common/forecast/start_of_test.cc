#include "common/forecast/start_of.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "common/history/forecast_history.h"
#include "tests/fakes/snapshot_text.h"

namespace gpuadvise {
namespace {

const Submitter kAnn{1001, "ann", "lab", "normal"};

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

constexpr int64_t kHour = 3600;

// ---- the queue -------------------------------------------------------------------------------

TEST(StartOf, AnIdleNodeStartsTheJobNow) {
  const auto start = Ask("node n1 a100:4", "a100:4");
  ASSERT_TRUE(start);
  EXPECT_EQ(start->wait_seconds, std::vector<int64_t>{0});
  EXPECT_EQ(start->partition, "main");
  EXPECT_EQ(start->nodes, std::vector<std::string>{"n1"});
  EXPECT_EQ(start->jobs_before, 0);
}

TEST(StartOf, CountsTheRunningJobAndThePendingOneBeforeIt) {
  // The case where `sbatch --test-only` answers 1 h.
  const auto start =
      Ask("node classt25 gpu4090:4\n"
          "run 7 classt25 gpu4090:4 ends 1h\n"
          "pend 8 gpu4090:4 limit 3h",
          "gpu4090:4 limit 2h");
  ASSERT_TRUE(start);
  EXPECT_EQ(start->wait_seconds, std::vector<int64_t>{4 * kHour});
  EXPECT_EQ(start->jobs_before, 1);
  EXPECT_EQ(start->Quantile(0.1), 4.0 * kHour);
  EXPECT_EQ(start->Quantile(0.9), 4.0 * kHour);
  EXPECT_EQ(start->Mean(), 4.0 * kHour);
}

TEST(StartOf, FewerSamplesAreTheFirstOfAll) {
  const auto snapshot = std::make_shared<const Snapshot>(
      SnapshotOf("node n1 a100:4\nrun 7 n1 a100:4 ends 9h\n"
                 "pend 8 a100:4 limit 9h\npend 9 a100:4 limit 9h"));
  ForecastHistory past;
  for (const size_t simulate_once_from :
       {size_t{0}, size_t{1}}) {  // each question, or once for all
    SimulationOptions options;
    options.samples = 16;
    options.simulate_once_from = simulate_once_from;
    const auto queue = ObserveAndPrepare(snapshot, past, options);
    const auto all = StartOf(*queue, RequestOf("a100:4 limit 1h"), kAnn);
    const auto few = StartOf(*queue, RequestOf("a100:4 limit 1h"), kAnn, kLeastSamples);
    ASSERT_TRUE(all && few);
    ASSERT_EQ(all->simulated_wait_seconds.size(), 16u);
    EXPECT_EQ(few->simulated_wait_seconds,
              std::vector<int64_t>(all->simulated_wait_seconds.begin(),
                                   all->simulated_wait_seconds.begin() + 4));
  }
}

TEST(StartOf, AShortJobFitsIntoTheHoleBeforeAReservedOne) {
  const std::string cluster =
      "node n[1-2] a100:4\n"
      "run 7 n1 a100:4 ends 2h\n"
      "pend 8 a100:4 nodes 2 limit 3h";
  EXPECT_EQ(Wait(cluster, "a100:4 limit 2h"), 0);
  EXPECT_EQ(Wait(cluster, "a100:4 limit 3h"), 5 * kHour);
}

TEST(StartOf, WithoutBackfillNobodyOvertakesInThePartition) {
  const std::string cluster =
      "config scheduler builtin\n"
      "node n[1-2] a100:4\nnode n3 l40s:4\npartition p n[1-2]\npartition q n3\n"
      "run 7 n1 a100:4 ends 2h\n"
      "pend 8 a100:4 nodes 2 limit 3h\n"
      "pend 9 a100:1 limit 1h";
  EXPECT_EQ(Wait(cluster, "a100:1 limit 1h"), 5 * kHour);
  EXPECT_EQ(Wait(cluster, "l40s:1 in q"), 0);
}

TEST(StartOf, HeldJobsNeitherBlockNorArePromisedAnything) {
  for (const char* held :
       {"priority 0", "reason JobHeldUser", "dependency afterok:3", "reason QOSMaxGRESPerUser",
        "reason AssocGrpGRES", "reason PartitionDown"}) {
    EXPECT_EQ(Wait(std::string("node n1 a100:4\npend 8 a100:4 limit 3h ") + held, "a100:1"), 0)
        << held;
  }
}

// Slurm says ReqNodeNotAvail of jobs that a reservation delays, and after its restart for minutes
// of jobs whose nodes are back.
TEST(StartOf, NodesThatAreNotAvailableAreJudgedByTheirStateNotByTheReason) {
  const std::string waits = "pend 8 a100:4 limit 1h reason ReqNodeNotAvail,_Reserved\n";
  EXPECT_EQ(
      Wait("node n1 a100:4\nreserve m n1 from 30m to 1h flags MAINT\n" + waits, "a100:4 limit 1h"),
      2 * kHour);
  EXPECT_EQ(Wait("node n1 a100:4\n" + waits, "a100:1 limit 1h"), kHour);
  const std::string down =
      "node n1 a100:4\nnode n2 a100:4 state DOWN\npend 8 a100:4 on n2 limit "
      "1h reason ReqNodeNotAvail,_UnavailableNodes:n2\n";
  EXPECT_EQ(Wait(down, "a100:4 limit 1h"), 0);
}

TEST(StartOf, AJobWithABeginTimeIsBeforeOthersOnlyFromThenOn) {
  const std::string pending = "pend 8 a100:4 limit 3h begin 2h reason BeginTime";
  // Slurm keeps nothing free for it until then.
  EXPECT_EQ(Wait("node n1 a100:4\n" + pending, "a100:1 limit 3h"), 0);
  EXPECT_EQ(Wait("node n1 a100:4\nrun 7 n1 a100:4 ends 1h\n" + pending, "a100:1 limit 3h"), kHour);
  EXPECT_EQ(Wait("node n1 a100:4\nrun 7 n1 a100:4 ends 3h\n" + pending, "a100:1"), 6 * kHour);
}

TEST(StartOf, OwnBeginTimeIsKept) {
  EXPECT_EQ(Wait("node n1 a100:4", "a100:1 begin 2h"), 2 * kHour);
}

TEST(StartOf, AnArrayIsAsManyJobsAsItHasTasks) {
  EXPECT_EQ(Wait("node n1 a100:4\npend 8 a100:2 limit 1h count 6", "a100:4"), 3 * kHour);
}

TEST(StartOf, AThrottledArrayLeavesRoomBesideIt) {
  const std::string cluster = "node n1 a100:4\npend 8 a100:2 limit 1h count 6 throttle 1";
  EXPECT_EQ(Wait(cluster, "a100:2 limit 6h"), 0);
  EXPECT_EQ(Wait(cluster, "a100:4"), 6 * kHour);
}

TEST(StartOf, RunningTasksCountAgainstTheThrottle) {
  EXPECT_EQ(Wait("node n1 a100:4\n"
                 "run 9 n1 a100:2 ends 2h array 8\n"
                 "pend 8 a100:2 limit 1h count 1 throttle 1",
                 "a100:4"),
            3 * kHour);
}

TEST(StartOf, AHigherTierGoesFirstWhateverThePriority) {
  const std::string cluster =
      "node n1 a100:4\n"
      "partition low n1 tier 1\n"
      "partition high n1 tier 9\n"
      "run 7 n1 a100:4 ends 1h in low\n"
      "pend 8 a100:4 limit 3h in low";
  EXPECT_EQ(Wait(cluster, "a100:4 in low"), 4 * kHour);
  EXPECT_EQ(Wait(cluster, "a100:4 in high"), 1 * kHour);
}

TEST(StartOf, OfSeveralPartitionsTheOneThatStartsFirstIsTaken) {
  const auto start =
      Ask("node n1 a100:4\nnode n2 a100:4\n"
          "partition a n1\npartition b n2\n"
          "run 7 n1 a100:4 ends 2h in a\nrun 8 n2 a100:4 ends 1h in b",
          "a100:1 in a,b");
  ASSERT_TRUE(start);
  EXPECT_EQ(start->partition, "b");
  EXPECT_EQ(start->wait_seconds.front(), kHour);
}

TEST(StartOf, PendingJobsOfSeveralPartitionsTakeTheEarliest) {
  EXPECT_EQ(Wait("node n1 a100:4\nnode n2 a100:4\n"
                 "partition a n1\npartition b n2\n"
                 "run 7 n1 a100:4 ends 2h in a\n"
                 "pend 8 a100:4 limit 5h in a,b",
                 "a100:1 in b"),
            5 * kHour);
}

TEST(StartOf, MultifactorPutsTheRequestAtItsOwnPlace) {
  const std::string cluster =
      "config priority multifactor qos 1000\n"
      "qos high priority 10\nqos normal priority 1\n"
      "node n1 a100:4\n"
      "run 7 n1 a100:4 ends 1h\n"
      "pend 8 a100:4 limit 3h priority 500";
  EXPECT_EQ(Wait(cluster, "a100:4", {1001, "ann", "lab", "high"}), kHour);
  EXPECT_EQ(Wait(cluster, "a100:4", {1001, "ann", "lab", "normal"}), 4 * kHour);
}

TEST(StartOf, AWaitingJobOfSeveralPartitionsHasTheBestOfItsPriorities) {
  // Slurm shows 1,000: its priority in `plain`; in `quick` it goes before the request.
  const std::string cluster =
      "config priority multifactor partition 1000\n"
      "node n1 a100:4\n"
      "partition plain n1 factor 1\npartition quick n1 factor 10\n"
      "run 7 n1 a100:4 ends 1h in plain\n"
      "pend 8 a100:4 limit 3h priority 100 in ";
  EXPECT_EQ(Wait(cluster + "plain,quick", "a100:4 in quick"), 4 * kHour);
  EXPECT_EQ(Wait(cluster + "plain", "a100:4 in quick"), kHour);
}

TEST(StartOfWaiting, AnotherRequestStaysUnderTheThrottleOfItsArray) {
  const auto queue =
      PrepareQueue(SnapshotOf("node n1 a100:4\nnode n2 l40s:4\n"
                              "run 9 n1 a100:2 ends 2h array 8\n"
                              "pend 8 a100:2 array 8 count 3 throttle 1"));
  for (const Job& job : queue->snapshot().jobs) {
    if (job.id != 8) continue;
    const auto other = StartOfWaiting(*queue, job, RequestOf("l40s:2"));
    ASSERT_TRUE(other);
    EXPECT_GE(other->wait_seconds.front(), 2 * kHour);
  }
}

TEST(StartOf, WhatMustEndFirstDelaysAndNiceTakesOffThePriority) {
  const Snapshot snapshot = SnapshotOf(
      "config priority multifactor qos 1000\nqos normal priority 1\n"
      "node n1 a100:4\nnode n2 a100:4\n"
      "run 7 n1 a100:4 ends 2h\npend 8 a100:4 nodes 2 limit 3h priority 900");
  const auto wait = [&](JobRequest request) {
    const auto start = StartOf(*PrepareQueue(snapshot), request, kAnn);
    return start ? start->wait_seconds.front() : -1;
  };
  JobRequest request = RequestOf("a100:4 limit 9h");
  EXPECT_EQ(wait(request), 0);
  request.nice = 500;
  EXPECT_EQ(wait(request), 5 * kHour);
  request.nice = 0;
  request.after = {7};
  EXPECT_GE(wait(request), 2 * kHour);
}

TEST(StartOf, BehindAUsageLimitTheSimulationAloneSpeaks) {
  const auto snapshot = std::make_shared<const Snapshot>(
      SnapshotOf("config enforce limits\nqos normal per-user gres/gpu=4\n"
                 "assoc lab\nassoc lab user ann default\n"
                 "node n[1-2] a100:4\nrun 7 n1 a100:4 ends 1h user ann"));
  ForecastHistory past;
  const auto queue = ObserveAndPrepare(snapshot, past, SimulationOptions());
  const auto held = StartOf(*queue, RequestOf("a100:4 limit 1h"), kAnn);
  ASSERT_TRUE(held);
  std::vector<int64_t> simulated = held->simulated_wait_seconds;
  std::sort(simulated.begin(), simulated.end());
  EXPECT_EQ(held->wait_seconds, simulated);
}

TEST(StartOf, AHiddenJobRunsAsLongAsJobsUsuallyDo) {
  Snapshot cluster = SnapshotOf("node n1 a100:4\npartition main n1 max 7d default");
  cluster.nodes[0].gpus_allocated = {{"a100", 4}};
  cluster.config.private_data = "jobs";
  const auto snapshot = std::make_shared<const Snapshot>(std::move(cluster));
  ForecastHistory past;
  const auto queue = ObserveAndPrepare(snapshot, past, SimulationOptions());
  const auto start = StartOf(*queue, RequestOf("a100:1 limit 1h"), kAnn);
  ASSERT_TRUE(start);
  EXPECT_LT(start->Quantile(.5), 6.0 * 24 * kHour);
  EXPECT_GT(start->Quantile(.9), start->Quantile(.1));
}

TEST(StartOf, NoForecastIsBeforeWhatReservationsAllow) {
  const auto snapshot = std::make_shared<const Snapshot>(
      SnapshotOf("node n1 a100:4\nreserve fix n1 from 1h to 3h users root flags MAINT"));
  ForecastHistory past;
  const auto queue = ObserveAndPrepare(snapshot, past, SimulationOptions());
  const auto start = StartOf(*queue, RequestOf("a100:4 limit 2h"), kAnn);
  ASSERT_TRUE(start);
  EXPECT_GE(start->Quantile(0), 3.0 * kHour);
  const auto fits = StartOf(*queue, RequestOf("a100:4 limit 1h"), kAnn);
  ASSERT_TRUE(fits);
  EXPECT_EQ(fits->Quantile(.5), 0);
}

// ---- nodes -----------------------------------------------------------------------------------

TEST(StartOf, DrainedNodesDoNotComeBackWhenTheirJobsEnd) {
  EXPECT_EQ(Wait("node n1 a100:4 state MIXED+DRAIN\nnode n2 a100:4\n"
                 "run 7 n1 a100:4 ends 1h\nrun 8 n2 a100:4 ends 3h",
                 "a100:4"),
            3 * kHour);
}

TEST(StartOf, OverdueJobsEndSoon) {
  EXPECT_EQ(Wait("node n1 a100:4\nrun 7 n1 a100:4 ends -5m", "a100:4"), 60);
  EXPECT_EQ(Wait("node n1 a100:4\nrun 7 n1 a100:4 ends 2h state COMPLETING", "a100:4"), 60);
}

TEST(StartOf, JobsWithoutLimitNeverLetGo) {
  EXPECT_EQ(
      Wait("node n[1-2] a100:4\nrun 7 n1 a100:4 ends never\nrun 8 n2 a100:4 ends 5h", "a100:4"),
      5 * kHour);
  EXPECT_NE(WhyNot("node n1 a100:4\nrun 7 n1 a100:4 ends never", "a100:4")
                .find("held by jobs without a time limit"),
            std::string::npos);
}

TEST(StartOf, APlannedNodeIsHeldByThePlanAlone) {
  EXPECT_EQ(Wait("node n1 a100:4 state IDLE+PLANNED\nnode n2 a100:4\n"
                 "run 7 n2 a100:4 ends 1h\n"
                 "pend 8 a100:4 nodes 2 limit 2h",
                 "a100:4 limit 2h"),
            3 * kHour);
}

TEST(StartOf, CpusAndMemoryCanBeShortWhereGpusAreFree) {
  EXPECT_EQ(Wait("node n1 a100:4 cpus 32\nrun 7 n1 a100:1 cpus 30 ends 1h", "a100:1 cpus 4"),
            kHour);
  EXPECT_EQ(Wait("node n1 a100:4 mem 100G\nrun 7 n1 a100:1 mem 90G ends 1h", "a100:1 mem 20G"),
            kHour);
}

TEST(StartOf, CpusAreGivenAsWholeCores) {
  EXPECT_EQ(Wait("node n1 a100:4 cpus 4 threads 2\nrun 7 n1 cpus 1 ends 1h", "cpus 3"), kHour);
}

TEST(StartOf, AJobWithoutMemoryTakesTheDefaultOrAll) {
  const std::string cluster = "node n1 a100:4 mem 100G\nrun 7 n1 a100:1 mem 1G ends 1h\n";
  EXPECT_EQ(Wait(cluster, "a100:1 mem default"), kHour);
  EXPECT_EQ(Wait(cluster + "config def-mem-per-cpu 2000", "a100:1 mem default"), 0);
  EXPECT_EQ(Wait(cluster + "partition p n1 mem-per-node 2G", "a100:1 mem default"), 0);
}

TEST(StartOf, AnExclusiveJobNeedsTheNodeForItself) {
  const std::string cluster = "node n1 a100:4\nrun 7 n1 a100:1 ends 1h";
  EXPECT_EQ(Wait(cluster, "a100:1"), 0);
  EXPECT_EQ(Wait(cluster, "a100:1 exclusive"), kHour);
}

TEST(StartOf, UntypedRequestsTakeAnyType) {
  const std::string cluster = "node n1 a100:2 l40s:2\nrun 7 n1 a100:2 ends 1h";
  EXPECT_EQ(Wait(cluster, "gpu:2"), 0);
  EXPECT_EQ(Wait(cluster, "gpu:3"), kHour);
  EXPECT_EQ(Wait(cluster, "a100:1"), kHour);
}

TEST(StartOf, AGpuIsGivenWholeOrAsShards) {
  const std::string cluster = "node n1 a100:2 shards 8\nrun 7 n1 a100:1 ends 2h\n";
  EXPECT_EQ(Wait(cluster, "shards 4"), 0);
  EXPECT_EQ(Wait(cluster + "run 8 n1 shards 1 ends 1h", "a100:1"), kHour);
  EXPECT_EQ(Wait(cluster + "run 8 n1 shards 1 ends 1h", "shards 4"), kHour);
}

TEST(StartOf, GpusInAllMayComeFromSeveralNodes) {
  const auto start = Ask("node n[1-3] a100:4\nrun 7 n1 a100:4 ends 1h", "total a100:8");
  ASSERT_TRUE(start);
  EXPECT_EQ(start->wait_seconds[0], 0);
  EXPECT_EQ(start->nodes, (std::vector<std::string>{"n2", "n3"}));
}

TEST(StartOf, FeaturesAndNodeListsNarrowTheChoice) {
  const std::string cluster =
      "node n1 a100:4 features nvlink,x\nnode n2 a100:4 features x\n"
      "run 7 n1 a100:4 ends 1h";
  EXPECT_EQ(Wait(cluster, "a100:1 features nvlink"), kHour);
  EXPECT_EQ(Wait(cluster, "a100:1 features nvlink|x"), 0);
  EXPECT_EQ(Wait(cluster, "a100:1 on n1"), kHour);
  EXPECT_EQ(Wait(cluster, "a100:1 not n2"), kHour);
}

TEST(StartOf, ReservedNodesAreForThoseOfTheReservation) {
  const std::string cluster =
      "node n1 a100:4\n"
      "reserve class n1 from 1h to 3h users ann";
  EXPECT_EQ(Wait(cluster, "a100:1 limit 1h"), 0);
  EXPECT_EQ(Wait(cluster, "a100:1 limit 2h"), 3 * kHour);
  EXPECT_EQ(Wait(cluster, "a100:1 limit 2h reservation class"), kHour);
  EXPECT_NE(WhyNot(cluster, "a100:1 reservation class", {1002, "bob", "lab", "normal"})
                .find("user bob with account"),
            std::string::npos);
}

TEST(StartOf, ADailyReservationComesAgain) {
  EXPECT_EQ(Wait("node n1 a100:4\nreserve night n1 from 1h to 2h users root flags DAILY",
                 "a100:1 limit 23h"),
            2 * kHour);
}

// ---- limits ----------------------------------------------------------------------------------

TEST(StartOf, WaitsUntilEnoughOfTheUsersOwnJobsEnd) {
  const std::string cluster =
      "config enforce limits\n"
      "qos normal per-user gres/gpu=4\n"
      "assoc lab\nassoc lab user ann default\n"
      "node n[1-3] a100:4\n"
      "run 7 n1 a100:2 ends 1h user ann\nrun 8 n1 a100:2 ends 3h user ann\n"
      "run 9 n2 a100:4 ends 9h user bob";
  EXPECT_EQ(Wait(cluster, "a100:1"), kHour);
  EXPECT_EQ(Wait(cluster, "a100:2"), kHour);
  EXPECT_EQ(Wait(cluster, "a100:4"), 3 * kHour);
}

TEST(StartOf, AGroupLimitCountsTheAccountsBelowToo) {
  const std::string cluster =
      "config enforce limits\n"
      "assoc dept group gres/gpu=4\nassoc lab parent dept\nassoc lab user ann default\n"
      "assoc other parent dept\nassoc other user bob default\n"
      "node n[1-3] a100:4\n"
      "run 9 n2 a100:4 ends 2h user bob account other";
  EXPECT_EQ(Wait(cluster, "a100:1"), 2 * kHour);
}

TEST(StartOf, PendingJobsBeforeItCountAgainstTheLimitToo) {
  const std::string cluster =
      "config enforce limits\n"
      "qos normal per-user gres/gpu=4\n"
      "assoc lab user ann default\n"
      "node n[1-3] a100:4\n"
      "pend 7 a100:4 limit 2h user ann";
  EXPECT_EQ(Wait(cluster, "a100:1"), 2 * kHour);
}

// ---- what cannot be --------------------------------------------------------------------------

TEST(StartOf, TooManyGpusNamesThoseThatExist) {
  EXPECT_EQ(WhyNot("node n[1-2] a100:4\nnode n3 l40s:6", "a100:8"),
            "partition main has no node with 8 × a100; its GPUs are 4 × a100 on 2 nodes and "
            "6 × l40s on 1 node");
}

TEST(StartOf, AnUnknownTypeNamesTheNearest) {
  EXPECT_EQ(WhyNot("node n1 gpul40s:6", "gpul40:1"),
            "no node of this cluster has GPUs of type 'gpul40' (did you mean 'gpul40s'?); those of "
            "partition main are 6 × gpul40s on 1 node");
}

TEST(StartOf, TooManyNodesSaysHowManyThereAre) {
  EXPECT_EQ(WhyNot("node n[1-2] a100:4", "a100:4 nodes 3"),
            "partition main has only 2 nodes in all (n[1-2]), not 3 nodes");
}

TEST(StartOf, OverTheMaximumTimeNamesTheLimit) {
  EXPECT_EQ(WhyNot("node n1 a100:4\npartition p n1 max 2d", "a100:1 limit 3d"),
            "time limit 3 d exceeds the 2 d that partition p allows");
}

TEST(StartOf, AnUnknownPartitionNamesTheNearest) {
  const auto start = Ask("node n1 a100:4\npartition gpu_shared n1", "a100:1 in gpu-shared");
  ASSERT_FALSE(start);
  EXPECT_EQ(start.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(
      start.error().message,
      "there is no partition 'gpu-shared' (did you mean 'gpu_shared'?); there are gpu_shared");
}

TEST(StartOf, NodesOutOfServiceAreNamedWithTheirReason) {
  EXPECT_NE(
      WhyNot("node n1 a100:4 state IDLE+DRAIN reason fan", "a100:1").find("n1 is drained (fan)"),
      std::string::npos);
}

TEST(StartOf, AccessListsAreNamed) {
  const std::string cluster = "node n1 a100:4\npartition p n1 allow-accounts phys,chem";
  EXPECT_EQ(WhyNot(cluster, "a100:1"), "partition p is for the accounts phys and chem, not lab");
}

TEST(StartOf, ALimitPerJobIsForEver) {
  EXPECT_EQ(WhyNot("config enforce limits,qos\nqos normal per-job gres/gpu=2\n"
                   "assoc lab user ann default\nnode n1 a100:4",
                   "a100:4"),
            "your QOS or account allows 2 of gres/gpu, and this job needs 4");
}

}  // namespace
}  // namespace gpuadvise
