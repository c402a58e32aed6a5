// What a job costs others: how much later theirs start.
#include <gtest/gtest.h>

#include "common/forecast/start_of.h"
#include "common/history/forecast_history.h"
#include "tests/fakes/snapshot_text.h"

namespace gpuadvise {
namespace {

const Submitter kAnn{1001, "ann", "lab", "high"};
constexpr double kHour = 3600;

// Without a history run times are drawn from what is usual for a limit.
std::optional<CausedDelay> Cost(const std::string& cluster, const std::string& request,
                                double run_seconds) {
  static ForecastHistory* const past = new ForecastHistory;
  const auto queue = PrepareQueue(std::make_shared<const Snapshot>(SnapshotOf(cluster)), *past);
  return DelayOf(*queue, RequestOf(request), kAnn, run_seconds);
}

TEST(CausedDelay, OfAnIdleClusterIsNone) {
  const auto cost = Cost("node n1 a100:4", "a100:4 limit 2h", kHour);
  ASSERT_TRUE(cost);
  EXPECT_EQ(cost->seconds, 0);
  EXPECT_EQ(cost->jobs, 0);
}

// Ann's job outranks job 8, which waits for the whole node.
std::string Behind(const std::string& owner) {
  return "config priority multifactor qos 1000\n"
         "qos high priority 10\nqos normal priority 1\n"
         "node n1 a100:4\n"
         "run 7 n1 a100:2 ends 1h user carl\n"
         "pend 8 a100:4 limit 3h priority 100 " +
         owner;
}

TEST(CausedDelay, IsWhatOthersBehindItWaitLonger) {
  const auto longer = Cost(Behind("user bob"), "a100:2 limit 5h", 4 * kHour);
  ASSERT_TRUE(longer);
  EXPECT_GE(longer->seconds, 3 * kHour) << "job 8 starts after four hours, not after one at most";
  EXPECT_LE(longer->seconds, 4 * kHour);
  EXPECT_EQ(longer->jobs, 1);
  const auto gap = Cost(Behind("user bob"), "a100:2 limit 1h", kHour / 2);
  ASSERT_TRUE(gap);
  EXPECT_LT(gap->seconds, kHour / 2) << "mostly it is gone before the other could start";
}

TEST(CausedDelay, LeavesOutTheUsersOwnJobs) {
  const auto cost = Cost(Behind("user ann"), "a100:2 limit 5h", 4 * kHour);
  ASSERT_TRUE(cost);
  EXPECT_EQ(cost->seconds, 0);
}

TEST(CausedDelay, IsNotKnownAtTheLimits) {
  const auto queue = PrepareQueue(SnapshotOf("node n1 a100:4"));
  EXPECT_FALSE(DelayOf(*queue, RequestOf("a100:4"), kAnn, kHour));
}

}  // namespace
}  // namespace gpuadvise
