#include "common/base/work_budget.h"

#include <gtest/gtest.h>

#include <thread>

namespace gpuadvise {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

TEST(WorkBudget, IsSpentByAllWhoHaveAShareTogether) {
  nanoseconds clock{0};
  WorkBudget budget(milliseconds(10), [&] { return clock; });
  const WorkBudget::Share own(budget);
  clock = milliseconds(59);
  EXPECT_FALSE(budget.Spent());
  std::thread([&] {
    const WorkBudget::Share others(budget);
    clock += milliseconds(31);
  }).join();
  EXPECT_EQ(budget.used(), milliseconds(121)) << "this thread's clock went on as well";
  EXPECT_FALSE(budget.stopped()) << "nobody was told so far";
  EXPECT_TRUE(budget.Spent());
  EXPECT_TRUE(budget.stopped());
}

TEST(WorkBudget, AShareWithinAnotherCountsNothingTwice) {
  nanoseconds clock{0};
  WorkBudget budget(milliseconds(10), [&] { return clock; });
  {
    const WorkBudget::Share own(budget);
    const WorkBudget::Share again(budget);
    clock = milliseconds(3);
  }
  EXPECT_EQ(budget.used(), milliseconds(3));
}

TEST(WorkBudget, OnceSpentStaysSpent) {
  nanoseconds clock{0};
  WorkBudget budget(milliseconds(1), [&] { return clock; });
  {
    const WorkBudget::Share own(budget);
    clock = milliseconds(12);
    EXPECT_TRUE(budget.Spent());
    clock = milliseconds(0);
    EXPECT_TRUE(budget.Spent());
  }
  EXPECT_TRUE(budget.Spent());
}

TEST(WorkBudget, BeyondThreeQuartersThereIsNoRoomForExtrasAndItIsRemembered) {
  nanoseconds clock{0};
  WorkBudget budget(milliseconds(100), [&] { return clock; });
  const WorkBudget::Share own(budget);
  clock = milliseconds(74);
  EXPECT_TRUE(budget.HasRoom());
  EXPECT_FALSE(budget.gave_up());
  clock = milliseconds(75);
  EXPECT_FALSE(budget.gave_up()) << "nothing was left out so far";
  EXPECT_FALSE(budget.HasRoom());
  clock = milliseconds(0);
  EXPECT_FALSE(budget.HasRoom());
  EXPECT_TRUE(budget.gave_up());
  EXPECT_FALSE(budget.Spent());
}

TEST(WorkBudget, SaysWhatToAskForLess) {
  const WorkBudget budget(milliseconds(250), [] { return nanoseconds(0); });
  EXPECT_TRUE(budget.error().message.starts_with(
      "the question is too large: it needs more than 3000 ms of CPU time"));
}

}  // namespace
}  // namespace gpuadvise
