#include "common/history/stalled_time.h"

#include <gtest/gtest.h>

#include <utility>

namespace gpuadvise {
namespace {

TEST(StalledTime, CountsHoursOfAPersonRatherThanOfJobs) {
  StalledTime times;
  times.Ran(100, 200, 300);
  times.Ran(150, 250, 260);  // waits beside the first, then while it runs
  times.Waits(400);
  times.Waits(420);
  times.Waits(900);  // --begin
  EXPECT_EQ(std::move(times).SecondsBetween(0, 500), 100 + 100);
}

TEST(StalledTime, IsCutToThePeriod) {
  StalledTime times;
  times.Ran(-50, 40, 90);
  times.Ran(95, 300, 400);
  EXPECT_EQ(std::move(times).SecondsBetween(0, 200), 40 + 105);
}

TEST(StalledTime, OfNobodyIsNone) {
  EXPECT_EQ(StalledTime().SecondsBetween(0, 100), 0);
  StalledTime at_once;
  at_once.Ran(10, 10, 20);
  at_once.Ran(30, 25, 40);  // a clock that went back
  EXPECT_EQ(std::move(at_once).SecondsBetween(0, 100), 0);
}

}  // namespace
}  // namespace gpuadvise
