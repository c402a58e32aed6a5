#include "common/history/held_jobs.h"

#include <gtest/gtest.h>

#include "common/forecast/start_of.h"
#include "common/history/forecast_history.h"
#include "common/scheduler/queue_model.h"
#include "common/scheduler/simulation.h"
#include "common/slurm/scheduler_options.h"
#include "tests/fakes/snapshot_text.h"

namespace gpuadvise {
namespace {

TEST(HeldJobs, AJobPassedOverForTenMinutesIsHeld) {
  HeldJobs held;
  held.Seen({7}, 1000);
  EXPECT_FALSE(held.IsHeld(7));
  held.Seen({7}, 1000 + kHeldAfterSeconds);
  EXPECT_TRUE(held.IsHeld(7));
  EXPECT_FALSE(held.IsHeld(8));
}

TEST(HeldJobs, OnlyTimeInWhichItCouldStartCounts) {
  HeldJobs held;
  held.Seen({7}, 0);
  held.Seen({}, 500);
  held.Seen({7}, 10'000);
  EXPECT_FALSE(held.IsHeld(7));
  held.Seen({7}, 10'000 + kHeldAfterSeconds);
  EXPECT_TRUE(held.IsHeld(7));
}

TEST(HeldJobs, StaysHeldWhileTheClusterIsFullAndIsForgottenWhenItLeaves) {
  HeldJobs held;
  held.Seen({7}, 0);
  held.Seen({7}, 5000);
  held.Seen({}, 6000);
  EXPECT_TRUE(held.IsHeld(7));
  held.Left(7);
  EXPECT_FALSE(held.IsHeld(7));
}

TEST(HeldJobs, AClockThatRunsBackwardsAddsNothing) {
  HeldJobs held;
  held.Seen({7}, 5000);
  held.Seen({7}, 100);
  EXPECT_FALSE(held.IsHeld(7));
}

TEST(StartableNow, AreThoseThatNothingKeepsFromStarting) {
  const auto startable = [](const std::string& text) {
    return StartableNow(*PrepareQueue(SnapshotOf(text)));
  };
  EXPECT_EQ(startable("node n1 a100:4\npend 8 a100:4"), std::vector<int64_t>{8});
  EXPECT_TRUE(startable("node n1 a100:4\nrun 7 n1 a100:1 ends 1h\npend 8 a100:4").empty());
  // 9 would delay 8 at the limits; 10 would not.
  EXPECT_EQ(startable("node n[1-2] a100:4\nrun 7 n1 a100:4 ends 1h\npend 8 a100:4 nodes 2\n"
                      "pend 9 a100:4 limit 2h\npend 10 a100:4 limit 1h"),
            std::vector<int64_t>{10});
}

// One GPU is free. From the first hour on backfill keeps the whole node for 9, which needs two.
TEST(StartableNow, IsNobodyWhoWouldRunIntoANodeThatIsKept) {
  const auto startable = [](const std::string& limit) {
    return StartableNow(*PrepareQueue(
        SnapshotOf("node n1 a100:4\nrun 6 n1 a100:1 ends 9h\nrun 7 n1 a100:2 ends 1h\n"
                   "pend 9 a100:2 limit 1h\npend 10 a100:1 limit " +
                   limit)));
  };
  EXPECT_TRUE(startable("90m").empty());
  EXPECT_EQ(startable("30m"), std::vector<int64_t>{10});
}

// Backfill looks at no more than bf_max_job_test jobs; the tasks of an array are one of them.
TEST(StartableNow, IsNobodyThatBackfillDoesNotLookAt) {
  const auto startable = [](const std::string& most) {
    return StartableNow(
        *PrepareQueue(SnapshotOf("config parameters bf_max_job_test=" + most +
                                 "\nnode n1 a100:4\nnode n2 l40s:4\nrun 7 n1 a100:4 ends 1h\n"
                                 "pend 8 a100:4 count 3 array 8\npend 9 l40s:1")));
  };
  EXPECT_EQ(startable("2"), std::vector<int64_t>{9});
  EXPECT_TRUE(startable("1").empty());
}

TEST(ForecastHistory, AHeldJobNeitherBlocksNorIsPromisedResources) {
  ForecastHistory past;
  Snapshot state = SnapshotOf("node n1 a100:4\npend 8 a100:4 limit 9h");
  const auto wait = [&] {
    const auto snapshot = std::make_shared<const Snapshot>(state);
    const auto queue = ObserveAndPrepare(snapshot, past);
    return SimulateStart(*queue, RequestOf("a100:4 limit 1h"), {1001, "ann", "lab", "normal"})
        ->wait.simulation.Quantile(0.5);
  };
  EXPECT_GT(wait(), 100);
  state.taken_at += kHeldAfterSeconds;
  wait();
  EXPECT_LE(wait(), 60);
}

TEST(SchedulerOptions, AreReadFromSchedulerParameters) {
  SchedulerConfig config;
  config.scheduler_type = "sched/backfill";
  EXPECT_EQ(OptionsOf(config), SchedulerOptions{});
  config.scheduler_parameters =
      "bf_continue,bf_window=2880, bf_interval=60,bf_max_job_test=5,default_queue_depth=7,"
      "bf_max_job_start=x,bf_max_job_user=3,bf_min_age_reserve=600,bf_max_job_array_resv=4";
  const SchedulerOptions options = OptionsOf(config);
  EXPECT_EQ(options.window_seconds, 2 * 86'400);
  EXPECT_EQ(options.interval_seconds, 60);
  EXPECT_EQ(options.max_job_test, 5);
  EXPECT_EQ(options.queue_depth, 7);
  EXPECT_EQ(options.max_job_start, 0);  // not a number: the default
  EXPECT_EQ(options.max_job_user, 3);
  EXPECT_EQ(options.max_job_array_resv, 4);
  EXPECT_EQ(options.min_age_reserve_seconds, 600);
  for (const std::string wrong : {"-1", "1001", "99999999999999999999"}) {
    config.scheduler_parameters = "bf_max_job_array_resv=" + wrong;
    EXPECT_EQ(OptionsOf(config).max_job_array_resv, 20) << wrong;
  }
  config.scheduler_type = "sched/builtin";
  EXPECT_FALSE(OptionsOf(config).backfill);
}

TEST(SchedulerOptions, ANumberThatSlurmCannotHoldIsTheDefault) {
  SchedulerConfig config;
  config.scheduler_type = "sched/backfill";
  config.scheduler_parameters = "bf_window=222222222222222222,bf_max_job_test=3000000000";
  EXPECT_EQ(OptionsOf(config), SchedulerOptions{});
}

TEST(SchedulerOptions, JobsBeyondTheWindowReserveNothing) {
  const std::string cluster =
      "node n1 a100:4\nrun 7 n1 a100:2 ends 30h\npend 8 a100:4 limit 1h\n"
      "pend 9 a100:2 limit 40h";
  const auto starts = [](const std::string& text) {
    return SimulateSample(*PrepareQueue(SnapshotOf(text)), 0).jobs[1].start;
  };
  EXPECT_EQ(starts(cluster), 0);
  EXPECT_EQ(starts("config parameters bf_window=2880\n" + cluster), 31 * 3600);
}

}  // namespace
}  // namespace gpuadvise
