#include "common/forecast/free_gpus.h"

#include <gtest/gtest.h>

#include <string>

#include "bench/made_cluster.h"
#include "common/forecast/start_of.h"
#include "common/history/forecast_history.h"
#include "tests/fakes/snapshot_text.h"

namespace gpuadvise {
namespace {

std::string ByGresType(const std::string&, const std::string& gres_type) { return gres_type; }

double NothingSpent() { return 0; }

// Every job runs until its limit, so the only future is known.
std::vector<FreeCount> FreeIn(const std::string& world, const std::string& type) {
  return ForecastFreeGpus(*PrepareQueue(SnapshotOf(world)), ByGresType, NothingSpent)
      .types.at(type);
}

size_t StepAt(const std::string& time) {
  return static_cast<size_t>(SecondsOf(time) / kFreeStepSeconds);
}

FreeCount Exactly(int64_t count) { return {count, count, count}; }

TEST(FreeGpus, FollowRunningAndWaitingJobsToTheirLimits) {
  const std::vector<FreeCount> free = FreeIn(
      "node n[1-2] a100:4 cpus 16\n"
      "node m1 l40s:2\n"
      "run 1 n1 a100:4 ends 2h\n"
      "run 2 n2 a100:1 ends 5h\n"
      "pend 3 a100:4 limit 3h\n",
      "a100");
  ASSERT_EQ(free.size(), static_cast<size_t>(kFreeSeconds / kFreeStepSeconds) + 1);
  EXPECT_EQ(free.front(), Exactly(3));
  EXPECT_EQ(free[StepAt("1h45m")], Exactly(3));
  EXPECT_EQ(free[StepAt("2h15m")], Exactly(3));  // job 3 has taken the node of job 1
  EXPECT_EQ(free[StepAt("5h15m")], Exactly(8));
  EXPECT_EQ(free.back(), Exactly(8));
}

TEST(FreeGpus, LeaveOutWhatNoJobCanTake) {
  const std::vector<FreeCount> free = FreeIn(
      "node n1 a100:4\n"
      "node n2 a100:4 state DRAIN\n"
      "node n3 a100:4 cpus 2\n"
      "node n4 a100:4\n"
      "run 1 n3 a100:1 cpus 2 ends 1h\n"
      "reserve class n4 from 0h to 3h users ben\n",
      "a100");
  EXPECT_EQ(free.front(), Exactly(4));            // n3 has no CPU left
  EXPECT_EQ(free[StepAt("1h15m")], Exactly(8));   // its job has ended
  EXPECT_EQ(free[StepAt("3h15m")], Exactly(12));  // the reservation, too
}

TEST(FreeGpus, OfATypeThatNobodyCountsAreLeftOut) {
  const auto none = [](const std::string&, const std::string&) { return std::string(); };
  EXPECT_TRUE(ForecastFreeGpus(*PrepareQueue(SnapshotOf("node n1 a100:4")), none, NothingSpent)
                  .types.empty());
}

// Jobs go on arriving after the last waiting job has started, and futures differ.
TEST(FreeGpus, HaveARangeWhereRunTimesAreLearned) {
  const auto snapshot = std::make_shared<const Snapshot>(MadeCluster({20, 60, 30}, 3));
  const ForecastHistory past = MadePast(*snapshot, 4);
  SimulationOptions options;
  options.samples = 8;
  const FreeForecast free =
      ForecastFreeGpus(*PrepareQueue(snapshot, past, options), ByGresType, NothingSpent);
  EXPECT_EQ(free.samples, 8);
  bool ranges = false;
  for (const auto& [type, counts] : free.types) {
    EXPECT_EQ(counts.front().p10, counts.front().p90) << type;
    for (const FreeCount& count : counts) {
      EXPECT_LE(count.p10, count.p50);
      EXPECT_LE(count.p50, count.p90);
      ranges = ranges || count.p10 < count.p90;
    }
  }
  EXPECT_TRUE(ranges);
}

TEST(FreeGpus, AreFewerAndShorterFuturesWhereTimeIsSpent) {
  const auto snapshot = std::make_shared<const Snapshot>(MadeCluster({20, 60, 30}, 3));
  const ForecastHistory past = MadePast(*snapshot, 4);
  SimulationOptions options;
  options.samples = 8;
  const auto queue = PrepareQueue(snapshot, past, options);
  const FreeForecast whole = ForecastFreeGpus(*queue, ByGresType, NothingSpent);
  int asked = 0;
  const FreeForecast free = ForecastFreeGpus(*queue, ByGresType, [&] { return ++asked / 200.0; });
  EXPECT_EQ(free.samples, 4);
  const FreeForecast none = ForecastFreeGpus(*queue, ByGresType, [] { return 2.0; });
  EXPECT_EQ(none.samples, 4);
  for (const auto& [type, counts] : whole.types) {
    EXPECT_GT(free.types.at(type).size(), 1u);
    EXPECT_LT(free.types.at(type).size(), counts.size());
    EXPECT_EQ(none.types.at(type), std::vector<FreeCount>{counts.front()});
  }
}

// Played once for all questions, a queue is known until its last job has started.
TEST(FreeGpus, OfALongQueueEndWithIt) {
  const auto snapshot = std::make_shared<const Snapshot>(MadeCluster({20, 60, 5}, 3));
  const ForecastHistory past = MadePast(*snapshot, 4);
  SimulationOptions options;
  options.samples = 4;
  options.simulate_once_from = 1;
  const FreeForecast free =
      ForecastFreeGpus(*PrepareQueue(snapshot, past, options), ByGresType, NothingSpent);
  EXPECT_EQ(free.samples, 4);
  for (const auto& [type, counts] : free.types) {
    EXPECT_GE(counts.size(), 1u);
    EXPECT_LT(counts.size(), static_cast<size_t>(kFreeSeconds / kFreeStepSeconds));
  }
}

}  // namespace
}  // namespace gpuadvise
