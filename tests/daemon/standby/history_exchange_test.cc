// Rows given back by a standby, and copies of a history.
#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>

#include "daemon/store/history.h"
#include "daemon/store/history_copy.h"
#include "tests/daemon/store/past_jobs.h"
#include "tests/daemon/temp_folder.h"

namespace gpuadvise::daemon {
namespace {

std::unique_ptr<History> OpenAs(const std::string& folder, const std::string& boot) {
  auto history = History::Open(folder, kSnapshotTime);
  EXPECT_TRUE(history) << history.error().message;
  if (!history) return nullptr;
  (*history)->SetBoot(boot);
  return std::move(*history);
}

std::string Cell(const std::string& folder, const std::string& sql) {
  SQLite::Database database(HistoryPath(folder), SQLite::OPEN_READONLY, 5'000);
  return database.execAndGet(sql).getString();
}

// Gives back all that `standby` owes; the sums.
MergedRows GiveAllBack(const History& standby, History& first) {
  MergedRows sum;
  for (ExchangeCursor cursor;;) {
    const auto rows = standby.RowsToReturn(cursor);
    EXPECT_TRUE(rows);
    if (!rows || (rows->rows == 0 && rows->next.jobs_done)) return sum;
    EXPECT_LT(rows->bytes.size(), 1u << 20) << "one request's body";
    const auto merged = first.Merge(rows->bytes);
    EXPECT_TRUE(merged) << merged.error().message;
    if (!merged) return sum;
    sum.taken += merged->taken;
    sum.known += merged->known;
    cursor = rows->next;
  }
}

struct TwoHistories {
  TempFolder first_folder, standby_folder;
  std::unique_ptr<History> first = OpenAs(first_folder.Path("s"), "first");
  std::unique_ptr<History> standby = OpenAs(standby_folder.Path("s"), "standby");
  TwoHistories() { EXPECT_TRUE(standby->BeginReign()); }
};

TEST(HistoryExchange, AForecastThatBothScoredCountsOnce) {
  TwoHistories two;
  ASSERT_TRUE(two.first->Save({WholeJob(7)}));
  ASSERT_TRUE(two.standby->Save({WholeJob(7)}));
  const MergedRows merged = GiveAllBack(*two.standby, *two.first);
  EXPECT_EQ(merged.taken, 0);
  EXPECT_EQ(merged.known, 1);
  EXPECT_EQ(Cell(two.first_folder.Path("s"), "SELECT group_concat(scored_by) FROM job"), "first");
}

TEST(HistoryExchange, WhatOnlyTheStandbySawIsTakenAsItIsAndOnce) {
  TwoHistories two;
  ASSERT_TRUE(two.standby->Save({WholeJob(7), WholeJob(8)}));
  EXPECT_EQ(GiveAllBack(*two.standby, *two.first).taken, 2);
  EXPECT_EQ(GiveAllBack(*two.standby, *two.first).known, 2) << "the answer was lost, sent again";
  int64_t unreadable = 0;
  const auto jobs = two.first->Load(unreadable);
  ASSERT_TRUE(jobs);
  ASSERT_EQ(jobs->size(), 2u);
  EXPECT_EQ(unreadable, 0);
  EXPECT_EQ(jobs->front().record.name, WholeJob(7).record.name);
  EXPECT_EQ(jobs->front().said->deciles, WholeJob(7).said->deciles);
  EXPECT_NE(jobs->front().forecast_record, nullptr);
  EXPECT_EQ(Cell(two.first_folder.Path("s"), "SELECT min(scored_by) FROM job"), "standby");
}

TEST(HistoryExchange, ARowThatLacksItsEndOrForecastTakesThem) {
  TwoHistories two;
  PastJob begun = WholeJob(7);
  begun.record.end.reset();
  PastJob unforeseen = WholeJob(8);
  unforeseen.said.reset();
  ASSERT_TRUE(two.first->Save({begun, unforeseen}));
  ASSERT_TRUE(two.standby->Save({WholeJob(7), WholeJob(8)}));
  EXPECT_EQ(GiveAllBack(*two.standby, *two.first).taken, 2);
  const std::string folder = two.first_folder.Path("s");
  EXPECT_EQ(Cell(folder, "SELECT count(*) FROM job WHERE \"end\" IS NULL"), "0");
  EXPECT_EQ(Cell(folder, "SELECT scored_by FROM job WHERE job_id = 7"), "first");
  EXPECT_EQ(Cell(folder, "SELECT scored_by FROM job WHERE job_id = 8"), "standby");
}

TEST(HistoryExchange, OnlyWhatWasSavedInThePlaceOfTheFirstIsGivenBack) {
  TwoHistories two;
  two.standby->SetBoot("before");
  ASSERT_TRUE(two.standby->Save({WholeJob(7)}));
  two.standby->SetBoot("standby");
  ASSERT_TRUE(two.standby->Save({WholeJob(8)}));
  EXPECT_EQ(GiveAllBack(*two.standby, *two.first).taken, 1);
  EXPECT_TRUE(*two.standby->OwesRows());
  ASSERT_TRUE(two.standby->EndReign());
  EXPECT_FALSE(*two.standby->OwesRows());
  EXPECT_EQ(GiveAllBack(*two.standby, *two.first).taken, 0);
}

TEST(HistoryExchange, ManyRowsComeInSeveralRequests) {
  TwoHistories two;
  std::vector<PastJob> jobs;
  std::vector<KeptExperiment> experiments;
  for (int i = 1; i <= 600; ++i) {
    jobs.push_back(WholeJob(1, kSnapshotTime + i));
    experiments.push_back({i, 1'000, kSnapshotTime, std::string(500, 'x'), true});
  }
  ASSERT_TRUE(two.standby->Save(jobs));
  ASSERT_TRUE(two.standby->Save(experiments));
  EXPECT_EQ(GiveAllBack(*two.standby, *two.first).taken, 1'200);
  EXPECT_EQ(Cell(two.first_folder.Path("s"), "SELECT count(*) FROM experiment"), "600");
}

TEST(HistoryExchange, BytesThatNoStandbySentChangeNothing) {
  TwoHistories two;
  ASSERT_TRUE(two.standby->Save({WholeJob(7)}));
  const std::string rows = two.standby->RowsToReturn({})->bytes;
  for (size_t cut = 0; cut < rows.size(); ++cut) {
    const auto merged = two.first->Merge(rows.substr(0, cut));
    ASSERT_FALSE(merged) << cut;
    ASSERT_EQ(merged.error().code, ErrorCode::kBadInput);
  }
  EXPECT_FALSE(two.first->Merge(std::string(100'000, '\x9f'))) << "lists in lists";
  EXPECT_EQ(Cell(two.first_folder.Path("s"), "SELECT count(*) FROM job"), "0");
}

// ---- copies ---------------------------------------------------------------------------------

void WriteArriving(const std::string& folder, const std::string& bytes) {
  std::ofstream(ArrivingCopyPath(folder), std::ios::binary) << bytes;
}

// The whole copy, piece by piece.
std::string BytesOfCopy(CopyShelf& shelf, const HistoryCopy& copy) {
  std::string bytes;
  while (static_cast<int64_t>(bytes.size()) < copy.bytes) {
    const auto piece = shelf.Read(copy.id, static_cast<int64_t>(bytes.size()));
    if (!piece || piece->empty()) break;
    bytes += *piece;
  }
  return bytes;
}

TEST(HistoryCopy, IsOfOneMomentAndTakesThePlaceOfAnEarlierOne) {
  TwoHistories two;
  ASSERT_TRUE(two.first->Save({WholeJob(7), WholeJob(8)}));
  CopyShelf shelf(two.first_folder.Path("s"));
  const auto copy = shelf.Make("one");
  ASSERT_TRUE(copy) << copy.error().message;
  ASSERT_TRUE(two.first->Save({WholeJob(9)}));  // later than the copy
  const std::string bytes = BytesOfCopy(shelf, *copy);
  two.standby.reset();
  WriteArriving(two.standby_folder.Path("s"), bytes);
  const auto installed = InstallCopy(two.standby_folder.Path("s"), copy->bytes);
  ASSERT_TRUE(installed) << installed.error().message;
  EXPECT_EQ(Cell(two.standby_folder.Path("s"), "SELECT group_concat(job_id) FROM job"), "7,8");
  EXPECT_FALSE(shelf.Read("another", 0));
  ASSERT_TRUE(shelf.Make("two"));
  EXPECT_FALSE(shelf.Read("one", 0)) << "one at a time";
  EXPECT_FALSE(shelf.Read("two", -1));
  EXPECT_FALSE(shelf.Read("two", int64_t{1} << 40));
}

// What is wrong with what arrives is said, and what was there stays.
class BadCopy : public ::testing::Test {
 protected:
  BadCopy() {
    EXPECT_TRUE(two_.first->Save({WholeJob(7)}));
    EXPECT_TRUE(two_.standby->Save({WholeJob(8)}));
    two_.standby.reset();
    CopyShelf shelf(two_.first_folder.Path("s"));
    const auto copy = shelf.Make("one");
    EXPECT_TRUE(copy);
    if (copy) bytes_ = BytesOfCopy(shelf, *copy);
  }
  std::string WhyNot(const std::string& bytes, size_t announced) {
    const std::string folder = two_.standby_folder.Path("s");
    WriteArriving(folder, bytes);
    const auto installed = InstallCopy(folder, static_cast<int64_t>(announced));
    EXPECT_FALSE(std::filesystem::exists(ArrivingCopyPath(folder)));
    EXPECT_EQ(Cell(folder, "SELECT group_concat(job_id) FROM job"), "8");
    return installed ? "" : installed.error().message;
  }
  TwoHistories two_;
  std::string bytes_;
};

TEST_F(BadCopy, TornIsNotUsed) {
  const std::string half = bytes_.substr(0, bytes_.size() / 2);
  EXPECT_NE(WhyNot(half, bytes_.size()).find("have arrived"), std::string::npos);
  EXPECT_NE(WhyNot(half, half.size()).find("damaged"), std::string::npos);
  std::string bent = bytes_;
  for (size_t i = 4'096; i < bent.size(); i += 512) bent[i] = static_cast<char>(~bent[i]);
  EXPECT_NE(WhyNot(bent, bent.size()).find("damaged"), std::string::npos);
  EXPECT_NE(WhyNot("", 0).find("no history"), std::string::npos);
}

TEST_F(BadCopy, OfANewerSchemaIsNotUsed) {
  const TempFolder place;
  {
    std::ofstream(place.Path("newer"), std::ios::binary) << bytes_;
    SQLite::Database newer(place.Path("newer"), SQLite::OPEN_READWRITE);
    newer.exec("PRAGMA journal_mode = DELETE");
    newer.exec("PRAGMA user_version = " + std::to_string(kHistoryVersion + 1));
  }
  const std::string newer = place.Read("newer");
  EXPECT_NE(WhyNot(newer, newer.size()).find("newer gpuadvised"), std::string::npos);
}

TEST(HistoryFile, AHistoryOfVersionFourGetsItsColumnsAndKeepsItsRows) {
  const TempFolder folder;
  const std::string state = folder.Path("s");
  ASSERT_TRUE(OpenAs(state, "x")->Save({WholeJob(7)}));
  {
    SQLite::Database old(HistoryPath(state), SQLite::OPEN_READWRITE);
    old.exec(
        "ALTER TABLE job DROP COLUMN scored_by; ALTER TABLE job DROP COLUMN saved_by;"
        "ALTER TABLE experiment DROP COLUMN saved_by; DROP TABLE reign;"
        "PRAGMA user_version = 4");
  }
  const auto history = OpenAs(state, "y");
  ASSERT_TRUE(history->Save({WholeJob(8)}));
  EXPECT_EQ(history->set_aside(), "");
  EXPECT_EQ(Cell(state, "SELECT group_concat(scored_by) FROM job"), ",y");
}

}  // namespace
}  // namespace gpuadvise::daemon
