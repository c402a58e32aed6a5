#include "daemon/collector/accounting.h"

#include <gtest/gtest.h>

#include <chrono>

#include "tests/daemon/fake_clock.h"
#include "tests/daemon/store/past_jobs.h"
#include "tests/daemon/temp_folder.h"

namespace gpuadvise::daemon {
namespace {

using std::chrono::milliseconds;
constexpr int64_t kDay = 86'400;

// A collector that notes its arguments and answers with one job in the page that has it.
constexpr const char* kCollector = R"(echo "$@" >> "$FOLDER/asked"
since=$3; until=$5
[ -e "$FOLDER/broken" ] && { echo "sacct: no accounting" >&2; exit 1; }
submit=$(cat "$FOLDER/submit")
if [ "$submit" -ge "$since" ] && [ "$submit" -lt "$until" ]; then
  echo '{"job":{"id":7,"submit":'$submit',"eligible":'$submit',"start":'$submit',"end":'$((submit+60))'}}'
fi
[ -e "$FOLDER/cut" ] || echo '{"end":1}'
)";

class AccountingTest : public testing::Test {
 protected:
  AccountingTest() { JobWasSubmitted(kSnapshotTime - 3 * kDay - 100); }

  void JobWasSubmitted(UnixSeconds when) { folder_.Write("submit", std::to_string(when)); }

  AccountingPlan Plan() const {
    AccountingPlan plan;
    plan.command.words = {folder_.WriteScript("collect", kCollector), "accounting"};
    plan.command.environment = {"FOLDER=" + folder_.Path("")};
    plan.interval = milliseconds(600'000);
    plan.rest = milliseconds(5);
    plan.seed_seconds = 5 * kDay;
    return plan;
  }

  std::unique_ptr<HistoryWriter> Writer() const {
    auto history = History::Open(folder_.Path("state"), clock_.Now());
    return std::make_unique<HistoryWriter>(std::move(*history), "", clock_, 400 * kDay);
  }

  int Asked() const {
    const std::string asked = folder_.Read("asked");
    return static_cast<int>(std::count(asked.begin(), asked.end(), '\n'));
  }

  TempFolder folder_;
  FakeClock clock_{kSnapshotTime};
  int learned_ = 0;
};

TEST_F(AccountingTest, GoesBackADayAPageAndThenWaits) {
  const auto writer = Writer();
  Accounting accounting(Plan(), *writer, clock_, [this] { ++learned_; });
  int pages = 0;
  while (accounting.Step() == milliseconds(5) && pages < 20) ++pages;
  EXPECT_EQ(Asked(), 5);
  EXPECT_EQ(learned_, 1);
  ASSERT_EQ(writer->Load().size(), 1u);
  EXPECT_EQ(writer->Load()[0].record.id, 7);
  accounting.Step();
  EXPECT_EQ(Asked(), 5);  // nothing is due
}

TEST_F(AccountingTest, ARestartGoesOnWhereItWas) {
  const auto writer = Writer();
  {
    Accounting first(Plan(), *writer, clock_, [] {});
    first.Step();
    first.Step();
  }
  Accounting second(Plan(), *writer, clock_, [] {});
  for (int i = 0; i < 10; ++i) second.Step();
  EXPECT_EQ(Asked(), 5);
}

TEST_F(AccountingTest, AfterAFortnightOfNothingItLooksNoFurtherEver) {
  AccountingPlan plan = Plan();
  plan.seed_seconds = 90 * kDay;
  const auto writer = Writer();
  JobWasSubmitted(kSnapshotTime - 80 * kDay);
  for (int run = 0; run < 2; ++run) {
    Accounting accounting(plan, *writer, clock_, [] {});
    for (int i = 0; i < 30; ++i) accounting.Step();
  }
  EXPECT_EQ(Asked(), 14);
}

TEST_F(AccountingTest, WhatEndedUnseenIsFoundLater) {
  const auto writer = Writer();
  Accounting accounting(Plan(), *writer, clock_, [this] { ++learned_; });
  for (int i = 0; i < 6; ++i) accounting.Step();
  learned_ = 0;
  JobWasSubmitted(kSnapshotTime + 300);
  clock_.Advance(700);
  accounting.Step();
  EXPECT_EQ(writer->Load().size(), 2u);
  EXPECT_EQ(learned_, 1);
}

TEST_F(AccountingTest, ASiteWithoutAccountingIsSaidAndAskedAgainLater) {
  folder_.Write("broken", "");
  const auto writer = Writer();
  Accounting accounting(Plan(), *writer, clock_, [this] { ++learned_; });
  EXPECT_EQ(accounting.Step(), milliseconds(600'000));
  EXPECT_EQ(accounting.problem(), "sacct: no accounting");
  EXPECT_EQ(learned_, 0);
  std::filesystem::remove(folder_.Path("broken"));
  accounting.Step();
  EXPECT_EQ(accounting.problem(), "");
}

TEST_F(AccountingTest, AnAnswerThatWasCutOffIsNotTaken) {
  folder_.Write("cut", "");
  const auto writer = Writer();
  Accounting accounting(Plan(), *writer, clock_, [] {});
  accounting.Step();
  EXPECT_EQ(accounting.problem(), "the accounting was cut off");
  EXPECT_EQ(writer->Noted("accounting_back_to"), std::nullopt);
}

TEST(AskCollector, EndsWhatTakesTooLongOrIsNotWantedAnyMore) {
  const Command forever{{"/bin/sleep", "1000"}, {}};
  const auto late = AskCollector(forever, milliseconds(100), [] { return false; });
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().message, "took too long");
  const auto stopped = AskCollector(forever, std::chrono::hours(1), [] { return true; });
  EXPECT_EQ(stopped.error().message, "gpuadvised is ending");
}

TEST(AskCollector, EndsOneThatFillsItsStandardErrorAndKeepsALine) {
  const Command flood{{"/bin/sh", "-c", "printf '\\033[2J' >&2; exec cat /dev/zero >&2"}, {}};
  const auto flooded = AskCollector(flood, std::chrono::hours(1), [] { return false; });
  ASSERT_FALSE(flooded);
  EXPECT_EQ(flooded.error().message, "printed too much");
  const Command words{
      {"/bin/sh", "-c", "printf '\\033[2Jno ' >&2; head -c 9000 /dev/zero >&2; exit 1"}, {}};
  const auto failed = AskCollector(words, std::chrono::hours(1), [] { return false; });
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message.substr(0, 8), "?[2Jno ?");
  EXPECT_LT(failed.error().message.size(), 510u);
}

TEST(JobsIn, LeavesOutWhatItCannotRead) {
  const auto jobs =
      JobsIn("rubbish\n{\"job\":{\"id\":1,\"submit\":5}}\n{\"job\":{}}\n{\"end\":1}\n");
  ASSERT_TRUE(jobs);
  EXPECT_EQ(jobs->size(), 1u);
}

}  // namespace
}  // namespace gpuadvise::daemon
