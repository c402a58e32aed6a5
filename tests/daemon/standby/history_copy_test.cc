// Copies of a history.
#include "daemon/store/history_copy.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>

#include "daemon/store/history.h"
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

struct TwoHistories {
  TempFolder first_folder, standby_folder;
  std::unique_ptr<History> first = OpenAs(first_folder.Path("s"), "first");
  std::unique_ptr<History> standby = OpenAs(standby_folder.Path("s"), "standby");
};

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
