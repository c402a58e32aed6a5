#include "daemon/state/array_ends.h"

#include <gtest/gtest.h>

#include <string>

#include "common/forecast/start_of.h"
#include "tests/fakes/snapshot_text.h"

namespace gpuadvise::daemon {
namespace {

// At the time limits, of the array 20.
int64_t EndOf20(const std::string& lines) {
  const auto queue = PrepareQueue(SnapshotOf("node n1 a100:2 cpus 8\n" + lines));
  return ArrayEndsOf(*queue).at(20).front();
}

TEST(ArrayEnds, TheLastTaskEndsAfterAllBeforeIt) {
  EXPECT_EQ(EndOf20("pend 20 a100:1 limit 1h count 2 array 20\n"), 3'600);
  EXPECT_EQ(EndOf20("pend 20 a100:1 limit 1h count 5 array 20\n"), 3 * 3'600);
  EXPECT_EQ(EndOf20("run 7 n1 a100:2 ends 2h\npend 20 a100:1 limit 1h count 2 array 20\n"),
            3 * 3'600);
}

TEST(ArrayEnds, MoreTasksThanAreSimulatedHaveNoEnd) {
  const std::string tasks = "pend 20 a100:2 limit 1h array 20 count ";
  EXPECT_NE(EndOf20(tasks + std::to_string(kMaxTasks) + "\n"), kNever);
  EXPECT_EQ(EndOf20(tasks + std::to_string(kMaxTasks + 1) + "\n"), kNever);
}

TEST(ArrayEnds, OnlyArraysThatWaitHaveOne) {
  const auto queue = PrepareQueue(
      SnapshotOf("node n1 a100:2 cpus 8\nrun 21 n1 a100:1 ends 2h array 20\npend 7 a100:1\n"));
  EXPECT_TRUE(ArrayEndsOf(*queue).empty());
}

}  // namespace
}  // namespace gpuadvise::daemon
