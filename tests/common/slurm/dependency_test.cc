#include "common/slurm/dependency.h"

#include <gtest/gtest.h>

#include "tests/fakes/snapshot_text.h"

namespace gpuadvise {
namespace {

using Ids = std::vector<int64_t>;

const Submitter kAnn{1001, "ann", "lab", "normal"};
constexpr const char* kQueue =
    "node n1 a100:4\n"
    "run 40 n1 a100:1 ends 1h\n"
    "run 41 n1 a100:1 ends 1h array 65\n"
    "pend 65 a100:4 array 65 count 3\n"
    "pend 50 a100:4 user bob";

Dependencies Read(const char* text, const char* name = "train") {
  Snapshot snapshot = SnapshotOf(kQueue);
  snapshot.jobs.front().name = "train";
  const auto found = ReadDependencies(text, kAnn, name, snapshot);
  EXPECT_TRUE(found) << text;
  return found.value_or(Dependencies());
}

std::string WhyNot(const char* text) {
  const auto found = ReadDependencies(text, kAnn, "", SnapshotOf(kQueue));
  return found ? "read" : found.error().message;
}

TEST(ReadDependencies, NamesTheJobsThatMustEnd) {
  EXPECT_EQ(Read("afterany:40").after, Ids{40});
  EXPECT_EQ(Read("afterok:40:50").after, (Ids{40, 50}));
  EXPECT_EQ(Read("afterok:40,afterany:50").after, (Ids{40, 50}));
}

TEST(ReadDependencies, AnArrayIsAllOfItsTasks) {
  EXPECT_EQ(Read("afterany:65").after, (Ids{41, 65}));
  EXPECT_EQ(Read("afterany:65_*").after, (Ids{41, 65}));
}

TEST(ReadDependencies, ASingletonWaitsForJobsOfItsUserAndName) {
  EXPECT_EQ(Read("singleton").after, Ids{40});
  EXPECT_EQ(Read("singleton", "other").after, Ids{});
}

TEST(ReadDependencies, SaysWhatItMeansBeyondTheOrder) {
  EXPECT_TRUE(Read("afterany:40").doubts.empty());
  EXPECT_EQ(Read("afterok:40").doubts.front(), "--dependency: never starts if job 40 fails");
  EXPECT_EQ(Read("afternotok:40").doubts.front(), "--dependency: never starts if job 40 succeeds");
  EXPECT_EQ(Read("afterok:7").doubts.front(),
            "--dependency: job 7 neither waits nor runs, so it counts as ended");
  EXPECT_EQ(Read("afterany:40?afterany:50").doubts.front(),
            "--dependency: one of the jobs suffices; the forecast waits for all of them");
}

TEST(ReadDependencies, AJobThatMustOnlyStartDoesNotDelayOnceItRuns) {
  EXPECT_EQ(Read("after:40+10").after, Ids{});
  EXPECT_EQ(Read("after:50").after, Ids{50});
}

TEST(ReadDependencies, OtherTextIsRefusedWithThePart) {
  for (const char* text : {"40", "afterok", "afterok:", "afterok:x", "afterok:40:", "afterbad:40",
                           "afterok:-4", "singleton:4", ",", "afterok:40,,afterok:50"}) {
    EXPECT_NE(WhyNot(text).find("is no dependency such as afterok:123"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace gpuadvise
