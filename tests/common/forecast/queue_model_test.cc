#include "common/scheduler/queue_model.h"

#include <gtest/gtest.h>

#include <thread>
#include <unordered_map>
#include <vector>

#include "common/forecast/start_of.h"
#include "common/scheduler/simulation.h"
#include "common/slurm/job_record.h"
#include "tests/fakes/snapshot_text.h"

namespace gpuadvise {
namespace {

constexpr int64_t kHour = 3600;

// "8@3600 9@7200": the plan in queue order.
std::string PlanOf(const std::string& cluster) {
  const auto queue = PrepareQueue(SnapshotOf(cluster));
  std::string text;
  for (const SimulatedJob& job : SimulateSample(*queue, 0).jobs) {
    text += (text.empty() ? "" : " ") + std::to_string(queue->pending()[job.pending].id) + "@" +
            std::to_string(job.start / 60) + "m";
  }
  return text;
}

TEST(QueueModel, PlansInTheOrderOfTheQueue) {
  EXPECT_EQ(PlanOf("node n1 a100:4\n"
                   "pend 8 a100:4 limit 1h priority 5\n"
                   "pend 9 a100:4 limit 2h priority 7"),
            "9@0m 8@120m");
}

TEST(QueueModel, EqualPrioritiesGoByJobId) {
  EXPECT_EQ(PlanOf("node n1 a100:4\n"
                   "pend 9 a100:4 limit 2h priority 5\n"
                   "pend 8 a100:4 limit 1h priority 5"),
            "8@0m 9@60m");
}

TEST(QueueModel, BackfillsWithoutDelayingTheOneBefore) {
  EXPECT_EQ(PlanOf("node n[1-2] a100:4\n"
                   "run 7 n1 a100:4 ends 1h\n"
                   "pend 8 a100:4 nodes 2 limit 2h\n"
                   "pend 9 a100:4 limit 2h\n"
                   "pend 10 a100:4 limit 1h"),
            "8@60m 9@180m 10@0m");
}

TEST(QueueModel, LeavesOutHeldAndImpossibleJobs) {
  EXPECT_EQ(PlanOf("node n1 a100:4\n"
                   "pend 8 a100:8\n"
                   "pend 9 a100:4 reason JobHeldUser\n"
                   "pend 10 a100:4"),
            "10@0m");
}

TEST(QueueModel, JobsOfDownPartitionsWaitForAnAdministrator) {
  EXPECT_EQ(PlanOf("node n1 a100:4\npartition p n1 state DOWN\npartition d n1 state DRAIN\n"
                   "pend 8 a100:4 in p\npend 9 a100:4 in d"),
            "9@0m");
}

TEST(QueueModel, JobsWithoutALimitTakeThePartitionsDefaultOrMaximum) {
  EXPECT_EQ(PlanOf("node n1 a100:4\npartition p n1 max 5h default-time 2h\n"
                   "pend 8 a100:4 limit none\npend 9 a100:4"),
            "8@0m 9@120m");
  EXPECT_EQ(PlanOf("node n1 a100:4\npartition p n1 max 5h\n"
                   "pend 8 a100:4 limit none\npend 9 a100:4"),
            "8@0m 9@300m");
}

TEST(QueueModel, TimeLimitsAreWholeMinutes) {
  EXPECT_EQ(PlanOf("node n1 a100:4\npend 8 a100:4 limit 61s\npend 9 a100:4"), "8@0m 9@2m");
}

TEST(QueueModel, AnArrayOfVeryManyTasksIsPlayedInPart) {
  const auto queue = PrepareQueue(SnapshotOf("node n1 a100:4\npend 8 a100:4 count 1000000"));
  EXPECT_EQ(queue->pending().size(), static_cast<size_t>(kMaxTasks));
}

TEST(QueueModel, ThrottledArraysRunSoManyAtATime) {
  EXPECT_EQ(PlanOf("node n[1-3] a100:4\npend 8 a100:4 limit 1h count 3 throttle 2"),
            "8@0m 8@0m 8@60m");
}

TEST(QueueModel, ADependentStartsWhenTheOtherHasEnded) {
  Snapshot snapshot = SnapshotOf(
      "node n[1-2] a100:4\nrun 7 n1 a100:4 ends 2h\npend 8 a100:4 limit 1h reason Dependency");
  snapshot.jobs.back().dependency = "afterok:7(unfulfilled)";
  const auto queue = PrepareQueue(snapshot);
  ASSERT_EQ(SimulateSample(*queue, 0).jobs.size(), 1u);
  EXPECT_EQ(SimulateSample(*queue, 0).jobs[0].start, 2 * kHour);
}

TEST(QueueModel, ADependencyThatCanNeverBeMetIsLeftOut) {
  EXPECT_EQ(PlanOf("node n1 a100:4\npend 8 a100:4 reason DependencyNeverSatisfied"), "");
}

TEST(QueueModel, LimitsOfAUserHoldBackOnlyTheirOwnJobs) {
  EXPECT_EQ(PlanOf("config enforce limits\nnode n[1-3] a100:4\nqos normal per-user gres/gpu=4\n"
                   "assoc lab user ann\nassoc lab user bob\n"
                   "run 7 n1 a100:4 ends 2h user ann\n"
                   "pend 8 a100:4 limit 1h user ann reason QOSMaxGRESPerUser\n"
                   "pend 9 a100:4 limit 1h user bob"),
            "8@120m 9@0m");
}

TEST(QueueModel, EqualNodesInNumberBecomeOneGroup) {
  const auto few = PrepareQueue(SnapshotOf("node n[1-10] a100:4"));
  EXPECT_EQ(few->groups().groups().size(), 10u);
  const auto many = PrepareQueue(SnapshotOf("node n[1-100] a100:4\nnode m1 a100:8"));
  EXPECT_EQ(many->groups().groups().size(), 2u);
  EXPECT_EQ(many->groups().groups()[many->groups().GroupOf(5)].capacity.TotalGpus(), 400);
}

TEST(QueueModel, JobsOfOnePoolDoNotDependOnAnother) {
  const auto queue =
      PrepareQueue(SnapshotOf("node n[1-2] a:4\nnode m1 b:4\npend 8 a:4 nodes 2\npend 9 b:4"));
  const std::vector<int32_t>& component = queue->component_of_group();
  EXPECT_EQ(component[queue->groups().GroupOf(queue->pool().FindNode("n1"))],
            component[queue->groups().GroupOf(queue->pool().FindNode("n2"))]);
  EXPECT_NE(component[queue->groups().GroupOf(queue->pool().FindNode("n1"))],
            component[queue->groups().GroupOf(queue->pool().FindNode("m1"))]);
}

TEST(QueueModel, ManyThreadsMayAskAtOnce) {
  const auto queue =
      PrepareQueue(SnapshotOf("node n[1-3] a100:4\npend 8 a100:1 limit 1h count 60"));
  const std::vector<SimulatedJob> alone = SimulateSample(*queue, 0).jobs;
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, 0);
  for (size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) {
        const std::vector<SimulatedJob> again = SimulateSample(*queue, 0).jobs;
        for (size_t k = 0; k < alone.size(); ++k) wrong[t] += again[k].start != alone[k].start;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

TEST(QueueModel, JobsThatFollowEachOtherWithinAMinuteAreOneBurst) {
  Snapshot snapshot = SnapshotOf(
      "node n1 a100:4\npend 1 a100:4\npend 2 a100:4\npend 3 a100:4\npend 4 a100:4\n"
      "pend 5 a100:2");
  const std::vector<int64_t> submitted = {0, kBurstSeconds, 2 * kBurstSeconds,
                                          3 * kBurstSeconds + 1, 0};
  for (size_t i = 0; i < submitted.size(); ++i) {
    snapshot.jobs[i].submit_time = snapshot.taken_at - 9'000 + submitted[i];
  }
  const auto queue = PrepareQueue(snapshot);
  std::unordered_map<int64_t, int32_t> burst;
  for (const PendingJob& job : queue->pending()) burst[job.id] = job.burst;
  EXPECT_GE(burst[1], 0);
  EXPECT_EQ(burst[2], burst[1]);
  EXPECT_EQ(burst[3], burst[1]);  // each follows the one before
  EXPECT_NE(burst[4], burst[1]);
  EXPECT_EQ(burst[5], -1);  // alone of its kind
}

TEST(QueueModel, AnEmptyClusterIsNoError) {
  EXPECT_TRUE(SimulateSample(*PrepareQueue(Snapshot{}), 0).jobs.empty());
}

}  // namespace
}  // namespace gpuadvise
