#include "common/queue_model.h"

#include <gtest/gtest.h>

#include <thread>

#include "tests/fakes/snapshot_text.h"

namespace gpuadvise {
namespace {

constexpr int64_t kHour = 3600;

/// "8@3600 9@7200": the plan in queue order.
std::string PlanOf(const std::string& cluster) {
  const QueueModel queue(SnapshotOf(cluster));
  std::string text;
  for (const PlannedJob& job : queue.plan()) {
    text += (text.empty() ? "" : " ") + std::to_string(job.job_id) + "@" +
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

TEST(QueueModel, AnArrayOfVeryManyTasksIsPlannedInPart) {
  const QueueModel queue(SnapshotOf("node n1 a100:4\npend 8 a100:4 limit 1h count 1000000"));
  EXPECT_EQ(queue.plan().size(), static_cast<size_t>(kMaxPlannedTasks));
}

TEST(QueueModel, APositionIsTheNumberOfJobsBefore) {
  const QueueModel queue(
      SnapshotOf("node n1 a100:4\npend 8 a100:4 priority 5 count 3\npend 9 a100:4 priority 3"));
  const auto at = [&](int64_t priority) {
    return queue.PositionOf(RankOf(queue.policy(), {0}, false, priority, Rank{}.job_id));
  };
  EXPECT_EQ(at(6), 0u);
  EXPECT_EQ(at(5), 3u);
  EXPECT_EQ(at(4), 3u);
  EXPECT_EQ(at(1), 4u);
}

TEST(QueueModel, WhatIsFreeShrinksFromPlaceToPlace) {
  const QueueModel queue(SnapshotOf("node n1 a100:4\npend 8 a100:1 limit 1h count 4"));
  for (size_t position = 0; position <= 4; ++position) {
    const Profile& free = *queue.FreeAt(position);
    EXPECT_EQ(free[0].FreeThroughout(0, kHour).TotalGpus(), 4 - static_cast<int64_t>(position));
    EXPECT_EQ(free[0].FreeThroughout(kHour, 2 * kHour).TotalGpus(), 4);
  }
}

TEST(QueueModel, AnswersTheSameHoweverOftenAndInWhichOrder) {
  const QueueModel queue(SnapshotOf("node n[1-3] a100:4\npend 8 a100:1 limit 1h count 60"));
  const size_t last = queue.plan().size();
  std::vector<Profile> forward;
  for (size_t position = 0; position <= last; ++position)
    forward.push_back(*queue.FreeAt(position));
  for (size_t position = last + 1; position-- > 0;) {
    EXPECT_EQ(*queue.FreeAt(position), forward[position]) << position;
  }
}

TEST(QueueModel, ManyThreadsMayAskAtOnce) {
  const QueueModel queue(SnapshotOf("node n[1-3] a100:4\npend 8 a100:1 limit 1h count 60"));
  const QueueModel other(SnapshotOf("node n[1-3] a100:4\npend 8 a100:1 limit 1h count 60"));
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, 0);
  for (size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (size_t i = 0; i < 100; ++i) {
        const size_t position = (i * 7 + t * 13) % (queue.plan().size() + 1);
        wrong[t] += *queue.FreeAt(position) != *other.FreeAt(position);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

TEST(QueueModel, AnEmptyClusterIsNoError) {
  const QueueModel queue(Snapshot{});
  EXPECT_TRUE(queue.plan().empty());
  EXPECT_TRUE(queue.FreeAt(0)->empty());
}

}  // namespace
}  // namespace gpuadvise
