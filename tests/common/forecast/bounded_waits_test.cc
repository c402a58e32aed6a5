#include "common/forecast/bounded_waits.h"

#include <gtest/gtest.h>

#include "common/base/unix_time.h"
#include "common/forecast/start_of.h"
#include "common/history/forecast_history.h"
#include "common/scheduler/insertion.h"
#include "tests/fakes/snapshot_text.h"

namespace gpuadvise {
namespace {

constexpr const char* kBusy = "node n1 a100:4\nrun 7 n1 a100:4 ends 2h\n";

// The longest wait of a forecast of `far` seconds for a job that the plan starts after two hours.
int64_t Longest(const std::string& cluster, int64_t watched, double far) {
  ForecastHistory past;
  const auto snapshot = std::make_shared<const Snapshot>(SnapshotOf(cluster));
  Job first = SnapshotOf("node n1\npend 1 cpus 1").jobs.front();
  past.arrivals.Arrived(std::move(first), snapshot->taken_at - watched);
  const auto queue = ObserveAndPrepare(snapshot, past, SimulationOptions());
  EXPECT_EQ(queue->watched_seconds(), watched);
  const auto job = MakePendingJob(*queue, RequestOf("a100:4"), {1001, "ann", "lab", "normal"});
  EXPECT_TRUE(job) << (job ? "" : job.error().message);
  SimulatedWait simulated;
  simulated.plan_limits_seconds = 2 * kHourSeconds;
  return BoundedWaits(*queue, *job, WaitDistribution::At(far), simulated).back();
}

TEST(BoundedWaits, WhatMayComeCountsAsMuchAsADayWasWatched) {
  constexpr double kFar = 26 * kHourSeconds;
  EXPECT_EQ(Longest(kBusy, 0, kFar), 2 * kHourSeconds);
  EXPECT_EQ(Longest(kBusy, kDaySeconds / 2, kFar), 14 * kHourSeconds);
  EXPECT_EQ(Longest(kBusy, kDaySeconds, kFar), 26 * kHourSeconds);
  EXPECT_EQ(Longest(kBusy, 0, kHourSeconds), kHourSeconds);
}

TEST(BoundedWaits, ThePlanIsNoBoundBehindAUsageLimit) {
  const std::string limited =
      "config enforce limits\nqos normal per-user gres/gpu=4\n"
      "assoc lab\nassoc lab user ann default\n";
  EXPECT_EQ(Longest(limited + kBusy, 0, 26 * kHourSeconds), 26 * kHourSeconds);
}

TEST(BoundedWaits, ThePlanIsNoBoundWhereFairShareMayChangeTheOrder) {
  const std::string shared =
      "config priority multifactor fairshare 1000\n"
      "assoc root\nassoc lab parent root\nassoc lab user ann default fair 1\n";
  EXPECT_EQ(Longest(shared + kBusy, 0, 26 * kHourSeconds), 26 * kHourSeconds);
}

// The earliest wait where past waits say "at once" and the simulation `simulated_first` s at the
// earliest.
int64_t EarliestOf(bool free_now, int64_t jobs_before, double simulated_first = 313) {
  ForecastHistory past;
  const auto queue = ObserveAndPrepare(std::make_shared<const Snapshot>(SnapshotOf(kBusy)), past,
                                       SimulationOptions());
  const auto job = MakePendingJob(*queue, RequestOf("a100:4"), {1001, "ann", "lab", "normal"});
  SimulatedWait simulated;
  simulated.simulation = WaitDistribution::OfSamples({simulated_first, 490, 2125});
  simulated.free_now = free_now;
  simulated.jobs_before = jobs_before;
  return BoundedWaits(*queue, *job, WaitDistribution(), simulated).front();
}

TEST(BoundedWaits, NobodyStartsAtOnceBehindOthersWhereNothingIsFree) {
  EXPECT_EQ(EarliestOf(/*free_now=*/false, 3), 60);
  EXPECT_EQ(EarliestOf(/*free_now=*/false, 3, 20), 20);
  EXPECT_EQ(EarliestOf(/*free_now=*/false, 0), 0);
  EXPECT_EQ(EarliestOf(/*free_now=*/true, 3), 0);
}

}  // namespace
}  // namespace gpuadvise
