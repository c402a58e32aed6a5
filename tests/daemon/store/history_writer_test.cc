#include "daemon/store/history_writer.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <future>
#include <thread>

#include "tests/daemon/fake_clock.h"
#include "tests/daemon/store/full_disk.h"
#include "tests/daemon/store/past_jobs.h"
#include "tests/daemon/temp_folder.h"

namespace gpuadvise::daemon {
namespace {

constexpr int64_t kYear = int64_t{366} * 86'400;

class HistoryWriterTest : public testing::Test {
 protected:
  std::unique_ptr<HistoryWriter> Open() const {
    auto history = History::Open(folder_.Path("state"), kSnapshotTime);
    EXPECT_TRUE(history);
    return std::make_unique<HistoryWriter>(std::move(*history), "", clock_, kYear);
  }

  TempFolder folder_;
  FakeClock clock_{kSnapshotTime};
};

TEST_F(HistoryWriterTest, WhatWasPutIsThereAtTheNextStart) {
  {
    const auto writer = Open();
    for (int64_t id = 1; id <= 50; ++id) writer->Put({WholeJob(id)});
  }
  EXPECT_EQ(Open()->Load().size(), 50u);
}

TEST_F(HistoryWriterTest, LoadSeesWhatWasPutBefore) {
  const auto writer = Open();
  writer->Put({WholeJob(1), WholeJob(2)});
  EXPECT_EQ(writer->Load().size(), 2u);
  EXPECT_EQ(writer->state().problem, "");
}

TEST_F(HistoryWriterTest, WithoutAHistoryNothingIsKeptAndItSaysWhy) {
  HistoryWriter writer(nullptr, "state_dir lies on NFS", clock_, kYear);
  writer.Put({WholeJob(1)});
  EXPECT_TRUE(writer.Load().empty());
  EXPECT_EQ(writer.Complete({WholeJob(1).record}), 0);
  EXPECT_EQ(writer.state().problem, "state_dir lies on NFS");
  EXPECT_FALSE(writer.state().info);
}

TEST_F(HistoryWriterTest, OneThatCouldNotBeOpenedIsOpenedWhenItCanBe) {
  folder_.Write("state", "a file where the folder should be");
  std::atomic<int> opened = 0;
  HistoryWriter writer(nullptr, "it cannot be", clock_, kYear, {.opened = [&] { ++opened; }});
  writer.KeepTrying([this] { return History::Open(folder_.Path("state"), kSnapshotTime); },
                    kOpenFileAgain);
  writer.Put({WholeJob(1)});
  writer.Put(KeptExperiment{1, 1001, kSnapshotTime, "text"});
  EXPECT_EQ(writer.TryToOpen(), HistoryWriter::Tried::kFailed);
  EXPECT_NE(writer.Trouble().find("cannot be made"), std::string::npos);
  EXPECT_NE(writer.state().problem.find("cannot be made"), std::string::npos);
  EXPECT_FALSE(writer.state().info);
  std::filesystem::remove(folder_.Path("state"));
  EXPECT_EQ(writer.TryToOpen(), HistoryWriter::Tried::kOpen);
  EXPECT_EQ(opened, 1);
  EXPECT_EQ(writer.state().problem, "");
  EXPECT_TRUE(writer.state().info);
  EXPECT_EQ(writer.Load().size(), 1u) << "what was put before it could be opened";
  EXPECT_TRUE(writer.FindExperiment(1, 1001));
  EXPECT_EQ(writer.TryToOpen(), HistoryWriter::Tried::kOpen);
  EXPECT_EQ(opened, 1);
}

TEST_F(HistoryWriterTest, OfARowOnlyTheNewestTextWaits) {
  const auto writer = Open();
  {
    const FullDisk full;
    for (int i = 0; i < 200; ++i) {
      writer->Put(KeptExperiment{1, 1001, kSnapshotTime, std::string(500'000, 'x')});
    }
    writer->Put(KeptExperiment{2, 1002, kSnapshotTime, "other"});
  }
  EXPECT_TRUE(writer->FindExperiment(2, 1002));
  EXPECT_EQ(writer->FindExperiment(1, 1001)->text.size(), 500'000u);
}

TEST_F(HistoryWriterTest, WhileTheDiskIsFullWhoHasMostWaitingLosesTheirOldest) {
  const auto writer = Open();
  {
    const FullDisk full;
    writer->Put(KeptExperiment{1, 1001, kSnapshotTime, "ann's"});
    for (int64_t id = 2; id < 202; ++id) {
      writer->Put(KeptExperiment{id, 666, kSnapshotTime + id, std::string(500'000, 'x')});
    }
    writer->Load();  // tries to write
    EXPECT_NE(writer->state().problem.find("rows of the experiment log"), std::string::npos)
        << writer->state().problem;
  }
  EXPECT_TRUE(writer->FindExperiment(1, 1001));
  EXPECT_FALSE(writer->FindExperiment(2, 666));
  EXPECT_TRUE(writer->FindExperiment(201, 666));
}

TEST_F(HistoryWriterTest, ClaimsThatNobodySettledInADayGoButNotForTimeInWhichItWasDown) {
  Open()->Put(KeptExperiment{1, 1001, kSnapshotTime, "claim"});
  clock_.Advance(10 * HistoryWriter::kClaimSeconds);
  Open()->Put(KeptExperiment{2, 1001, kSnapshotTime, "seen", true});
  EXPECT_TRUE(Open()->FindExperiment(1, 1001)) << "only now somebody watches";
  {
    const auto writer = Open();
    clock_.Advance(HistoryWriter::kClaimSeconds + 1);
    writer->Put({WholeJob(1)});
  }
  EXPECT_FALSE(Open()->FindExperiment(1, 1001));
  EXPECT_TRUE(Open()->FindExperiment(2, 1001));
}

TEST_F(HistoryWriterTest, OneThatStandsByWaitsUntilTheOtherLetsGo) {
  std::atomic<bool> is_free = false;
  std::atomic<int> opened = 0, alone = 0, taken = 0;
  HistoryWriter writer(nullptr, "", clock_, kYear,
                       {[&] { ++opened; }, [&] { ++alone; }, [&] { ++taken; }});
  writer.KeepTrying(
      [&]() -> Result<std::unique_ptr<History>> {
        if (!is_free) return nullptr;
        return History::Open(folder_.Path("state"), kSnapshotTime);
      },
      kOpenServerAgain, true);
  EXPECT_TRUE(writer.StandsBy());
  EXPECT_EQ(writer.TryToOpen(), HistoryWriter::Tried::kAnothers);
  EXPECT_EQ(writer.state().problem, "another gpuadvised holds it");
  is_free = true;
  EXPECT_EQ(writer.TryToOpen(), HistoryWriter::Tried::kOpen);
  EXPECT_FALSE(writer.StandsBy());
  EXPECT_EQ(writer.state().problem, "");
  EXPECT_EQ(opened, 1);
  EXPECT_EQ(alone + taken, 0);
}

TEST_F(HistoryWriterTest, OneThatAnswersWithoutAHistoryIsToldThatAnotherHasIt) {
  std::promise<void> taken;
  HistoryWriter writer(nullptr, "the server is away", clock_, kYear,
                       {[] {}, [] {}, [&] { taken.set_value(); }});
  writer.KeepTrying([]() -> Result<std::unique_ptr<History>> { return nullptr; },
                    std::chrono::seconds(0));
  taken.get_future().wait();
  EXPECT_FALSE(writer.StandsBy()) << "it has answered, and must begin anew";
}

TEST_F(HistoryWriterTest, WhatIsAcknowledgedIsOnTheDisk) {
  const auto writer = Open();
  writer->Put(KeptExperiment{1, 1001, kSnapshotTime, "text"});
  EXPECT_EQ(writer->Trouble(), "");
  SQLite::Database disk(folder_.Path("state/history.db"), SQLite::OPEN_READONLY);
  EXPECT_EQ(disk.execAndGet("SELECT count(*) FROM experiment").getInt(), 1);
  EXPECT_EQ(HistoryWriter(nullptr, "simulated", clock_, kYear).Trouble(), "");
}

TEST_F(HistoryWriterTest, AFullDiskIsSaidAndWhatWaitsIsWrittenLater) {
  const auto writer = Open();
  writer->Put({WholeJob(1)});
  EXPECT_EQ(writer->Load().size(), 1u);
  {
    const FullDisk full;
    writer->Put({WholeJob(2)});
    EXPECT_EQ(writer->Load().size(), 1u);  // tries to write first, and cannot
    EXPECT_NE(writer->state().problem, "");
    writer->Put({WholeJob(3)});
  }
  EXPECT_EQ(writer->Load().size(), 3u);
  EXPECT_EQ(writer->state().problem, "");
}

}  // namespace
}  // namespace gpuadvise::daemon
