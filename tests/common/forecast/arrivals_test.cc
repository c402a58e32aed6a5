#include "common/history/arrivals.h"

#include <gtest/gtest.h>

#include <set>
#include <unordered_map>

#include "common/forecast/start_of.h"
#include "common/history/forecast_history.h"
#include "common/scheduler/coming_jobs.h"
#include "common/scheduler/queue_model.h"
#include "tests/fakes/snapshot_text.h"

namespace gpuadvise {
namespace {

constexpr int64_t kHour = 3600;
constexpr int64_t kDay = 24 * kHour;

Job JobFrom(const std::string& text) {
  return SnapshotOf("node n1 a100:4 cpus 32\n" + text).jobs.front();
}

TEST(Arrivals, AreKeptForAWeekAndSoManyAtMost) {
  Arrivals arrivals;
  EXPECT_EQ(arrivals.WatchedFor(100), 0);
  const Job job = JobFrom("pend 1 a100:1");
  arrivals.Arrived(job, 1'000);
  EXPECT_EQ(arrivals.WatchedFor(1'000 + 5 * kHour), 5 * kHour);
  arrivals.Arrived(job, 1'000 + 30 * kDay);
  EXPECT_EQ(arrivals.recent().size(), 1u);
  EXPECT_EQ(arrivals.WatchedFor(1'000 + 30 * kDay), kWatchedSeconds);
  for (int i = 0; i < 2'000; ++i) arrivals.Arrived(job, 1'000 + 31 * kDay + i);
  EXPECT_EQ(arrivals.recent().size(), kKeptArrivals);
  EXPECT_EQ(arrivals.WatchedFor(1'000 + 31 * kDay + 2'000),
            static_cast<int64_t>(kKeptArrivals) + 1);
}

TEST(Arrivals, AClockThatGoesBackLosesNobody) {
  Arrivals arrivals;
  arrivals.Arrived(JobFrom("pend 1 a100:1"), 10'000);
  arrivals.Arrived(JobFrom("pend 2 a100:1"), 4'000);
  EXPECT_EQ(arrivals.recent().size(), 2u);
  EXPECT_EQ(arrivals.recent().back().at, 10'000);
}

TEST(Arrivals, OfOneKindDifferInNothingButWhenTheyCame) {
  Arrivals arrivals;
  Job job = JobFrom("pend 1 a100:1 user ann");
  job.eligible_time = 900;
  arrivals.Arrived(job, 1'000);
  job.id = 2;
  job.submit_time = job.eligible_time = 1'500;
  arrivals.Arrived(job, 2'000);
  job.request.time_limit_seconds = 7;
  arrivals.Arrived(job, 3'000);
  job.priority = 0;  // held
  arrivals.Arrived(job, 4'000);
  const auto& recent = arrivals.recent();
  EXPECT_EQ(recent[0].kind, recent[1].kind);
  EXPECT_NE(recent[1].kind, recent[2].kind);
  EXPECT_NE(recent[2].kind, recent[3].kind);
}

TEST(PastHour, IsAtTheSameTimeOfTheDayAndLiesInThePast) {
  for (int64_t hour = 0; hour < 100; ++hour) {
    for (uint64_t sample = 0; sample < 20; ++sample) {
      const int64_t began = PastHourFor(hour, 5 * kDay + 7, 3, sample);
      EXPECT_EQ((began + hour * kHour) % kDay, 0) << hour;
      EXPECT_GE(began, kHour);
      EXPECT_LE(began, 5 * kDay + 7);
    }
  }
}

TEST(PastHour, IsAnyThatIsKnownWithinTheFirstDay) {
  std::set<int64_t> hours;
  for (uint64_t sample = 0; sample < 50; ++sample) {
    const int64_t began = PastHourFor(2, 5 * kHour, 3, sample);
    EXPECT_GE(began, kHour);
    EXPECT_LE(began, 5 * kHour);
    hours.insert(began);
  }
  EXPECT_GT(hours.size(), 30u);
  EXPECT_EQ(PastHourFor(2, kHour - 1, 3, 0), 0);
}

// A day on which one job arrived every hour, at the half of it.
ForecastHistory DayOf(const std::string& text) {
  ForecastHistory past;
  for (int64_t ago = 24; ago > 0; --ago) {
    past.arrivals.Arrived(JobFrom(text), kSnapshotTime - ago * kHour + kHour / 2);
  }
  return past;
}

TEST(ComingJobs, ComeAsOftenAsTheyDid) {
  ForecastHistory past = DayOf("pend 5 a100:1 limit 2h");
  const auto snapshot = std::make_shared<const Snapshot>(SnapshotOf("node n1 a100:4 cpus 32"));
  const auto queue = PrepareQueue(snapshot, past, {1, 7, 3 * kDay});
  ComingJobs coming(*queue, 0, [](const PendingJob&) { return true; });
  int64_t now = 0;
  int64_t count = 0;
  for (; coming.Next(now) < kNever && coming.Next(now) < 2 * kDay; ++count) {
    now = coming.Next(now);
    const ComingJob& one = coming.Take();
    EXPECT_EQ(one.time, now);
    EXPECT_GT(one.run_seconds, 0);
    EXPECT_LE(one.run_seconds, 2 * kHour + 1);
  }
  EXPECT_NEAR(static_cast<double>(count), 48, 3);
}

TEST(ComingJobs, EndAtTheHorizonAndWithoutAHistory) {
  const auto snapshot = std::make_shared<const Snapshot>(SnapshotOf("node n1 a100:4 cpus 32"));
  ForecastHistory past = DayOf("pend 5 a100:1 limit 2h");
  const auto queue = PrepareQueue(snapshot, past, {1, 7, 3 * kHour});
  ComingJobs coming(*queue, 0, [](const PendingJob&) { return true; });
  int64_t last = 0;
  while (coming.Next(last) < kNever) last = coming.Take().time;
  EXPECT_LE(last, 4 * kHour);
  ForecastHistory none;
  const auto quiet = PrepareQueue(snapshot, none);
  ComingJobs nobody(*quiet, 0, [](const PendingJob&) { return true; });
  EXPECT_EQ(nobody.Next(0), kNever);
}

TEST(ComingJobs, LeaveOutWhatWaitsForOthersOrForAnotherDay) {
  ForecastHistory past = DayOf("pend 5 a100:1 limit 2h dependency afterok:3");
  const auto snapshot = std::make_shared<const Snapshot>(SnapshotOf("node n1 a100:4 cpus 32"));
  EXPECT_TRUE(PrepareQueue(snapshot, past)->arriving().empty());
  ForecastHistory later = DayOf("pend 5 a100:1 limit 2h begin 10h");
  EXPECT_TRUE(PrepareQueue(snapshot, later)->arriving().empty());
}

TEST(ComingJobs, TasksOfAnArrayHaveOneRankAndRunTimesOfTheirOwn) {
  const auto snapshot = std::make_shared<const Snapshot>(SnapshotOf("node n1 a100:4 cpus 32"));
  ForecastHistory past = DayOf("pend 5 a100:1 limit 2h count 3");
  const auto queue = PrepareQueue(snapshot, past, {1, 7, 3 * kDay});
  ComingJobs coming(*queue, 0, [](const PendingJob&) { return true; });
  const auto next = [&] {
    EXPECT_LT(coming.Next(0), kNever);
    return coming.Take();
  };
  const ComingJob first = next(), second = next(), third = next(), other = next();
  EXPECT_TRUE(first.job->of_array);
  EXPECT_EQ(first.rank, second.rank);
  EXPECT_EQ(first.rank, third.rank);
  EXPECT_LT(first.rank, other.rank);
  EXPECT_FALSE(first.run_seconds == second.run_seconds && second.run_seconds == third.run_seconds);
}

// Jobs of higher priority that keep coming delay one that waits; in FIFO they do not.
TEST(ComingJobs, OvertakeByPriority) {
  const std::string cluster =
      "node n1 a100:4 cpus 32\n"
      "assoc vip user bob fair 0.9 default\n"
      "assoc lab user ann fair 0.1 default\n"
      "run 1 n1 a100:4 ends 3h user bob account vip\n";
  const std::string often = "pend 5 a100:4 limit 1h user bob account vip";
  const auto mean = [&](const std::string& priority) {
    ForecastHistory past = DayOf(often);
    const auto queue = PrepareQueue(
        std::make_shared<const Snapshot>(SnapshotOf(priority + cluster)), past, {32, 7, 9 * kDay});
    const auto start =
        SimulateStart(*queue, RequestOf("a100:4 limit 1h"), {1001, "ann", "lab", "normal"});
    return start->samples.Mean();
  };
  const double fifo = mean("config priority basic\n");
  const double shares = mean("config priority multifactor\nconfig fairshare 10000\n");
  EXPECT_LT(fifo, 3.0 * kHour);
  EXPECT_GT(shares, fifo + kHour / 4.0);
}

// An arrival that outranks the request reserves the whole node: half of it, free from an hour on,
// is only for what ends before.
TEST(ComingJobs, OfHigherPriorityKeepOthersOutOfGaps) {
  const auto snapshot = std::make_shared<const Snapshot>(
      SnapshotOf("config priority multifactor\nconfig fairshare 10000\n"
                 "node n1 a100:4 cpus 32\n"
                 "assoc vip user bob fair 0.9 default\n"
                 "assoc lab user ann fair 0.1 default\n"
                 "run 1 n1 a100:2 ends 20h user bob account vip\n"
                 "run 2 n1 a100:2 ends 20h user bob account vip\n"));
  ForecastHistory past = DayOf("pend 5 a100:4 limit 1h user bob account vip");
  const std::unordered_map<int64_t, double> ran = {{1, 600 + kHour}, {2, 600 + 20 * kHour}};
  const auto queue = PrepareQueue(snapshot, past, {8, 7, 9 * kDay, &ran});
  const auto starts = [&](const std::string& request) {
    return SimulateStart(*queue, RequestOf(request), {1001, "ann", "lab", "normal"})
        ->samples.wait_seconds;
  };
  EXPECT_LT(starts("a100:2 limit 2h").back(), 2 * kHour);
  EXPECT_GT(starts("a100:2 limit 90h").front(), 19 * kHour);
}

TEST(ComingJobs, DoNotOvertakeWhoHasGainedByAge) {
  const Snapshot snapshot = SnapshotOf(
      "config priority multifactor\nconfig age 1000\nconfig max-age 10h\n"
      "node n1 a100:4 cpus 32\n");
  const auto queue = PrepareQueue(snapshot);
  EXPECT_EQ(queue->PriorityOfArrival(700, 5 * kHour), 700 - 1 - 500);
  EXPECT_EQ(PrepareQueue(SnapshotOf("node n1 a100:4"))->PriorityOfArrival(700, 5 * kHour), 699);
}

}  // namespace
}  // namespace gpuadvise
