// History and outcome of 0.1.0, as it wrote them (data/), in this version.
#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "common/runs/experiment.h"
#include "daemon/store/history.h"
#include "tests/daemon/store/past_jobs.h"
#include "tests/daemon/temp_folder.h"

namespace gpuadvise::daemon {
namespace {

std::string Recorded(const std::string& name) {
  std::ifstream file(std::string(STORE_DATA "/") + name);
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  EXPECT_FALSE(text.empty()) << name;
  return text;
}

class Upgrade : public testing::Test {
 protected:
  Upgrade() {
    std::filesystem::create_directory(folder_.Path("state"));
    SQLite::Database(File(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
        .exec(Recorded("history_0.1.0.sql"));
  }

  std::string File() const { return folder_.Path("state/history.db"); }
  int Version() const {
    return SQLite::Database(File()).execAndGet("PRAGMA user_version").getInt();
  }
  std::unique_ptr<History> Open() const {
    auto history = History::Open(folder_.Path("state"), kSnapshotTime + 100'000);
    EXPECT_TRUE(history) << history.error().message;
    EXPECT_EQ((*history)->set_aside(), "");
    return std::move(*history);
  }

  // Its two jobs and the one row of its log, whole.
  static void ExpectAllOfIt(const History& history) {
    const std::vector<PastJob> jobs = JobsIn(history);
    ASSERT_EQ(jobs.size(), 2u);
    PastJob expected = WholeJob(7);
    expected.record.name = "train";
    ExpectSame(jobs[0], expected);
    EXPECT_EQ(jobs[1].record.id, 9);
    const std::vector<std::string> texts = TextsIn(history);
    ASSERT_EQ(texts.size(), 1u);
    const Result<Experiment> experiment = ExperimentFromText(texts[0]);
    ASSERT_TRUE(experiment);
    EXPECT_EQ(experiment->advice_id, "a-3f9c21-17");
    EXPECT_EQ(experiment->times.start, kSnapshotTime + 100);
    EXPECT_EQ(experiment->strategy["run_p50_seconds"], 3900);
    EXPECT_EQ(experiment->outcome->attempts.size(), 2u);
    EXPECT_EQ(experiment->sweep, SweepPart());
    EXPECT_EQ(RowOf(*experiment, "ended", false).measured.final_micro_batch, 4);
    EXPECT_EQ(history.Noted("accounting_until").value_or(std::nullopt), kSnapshotTime);
  }

  TempFolder folder_;
};

TEST_F(Upgrade, TheHistoryOf010IsConvertedWithAllThatItKnows) {
  ASSERT_EQ(Version(), 4);
  for (const int start : {1, 2}) {
    SCOPED_TRACE(start);
    ExpectAllOfIt(*Open());
    EXPECT_EQ(Version(), kHistoryVersion);
  }
}

// As docs/site-guide.md says: a copy from before, put back, is what it was, and can be converted
// again.
TEST_F(Upgrade, ACopyOfItGoesBackAndForthAgain) {
  namespace fs = std::filesystem;
  fs::copy_file(File(), folder_.Path("copy.db"));
  { const auto history = Open(); }
  fs::rename(File(), folder_.Path("state/history-0.2.0.db"));
  fs::copy_file(folder_.Path("copy.db"), File());
  EXPECT_EQ(Version(), 4);
  ExpectAllOfIt(*Open());
  fs::rename(folder_.Path("state/history-0.2.0.db"), File());
  ExpectAllOfIt(*Open());
}

TEST(UpgradeOfOutcomes, ThatOf010IsReadWhole) {
  const std::string text = Recorded("outcome_0.1.0.json");
  const Result<Outcome> outcome = ReadOutcomeText(text);
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->job_id, 7);
  EXPECT_EQ(ToJson(*outcome), nlohmann::json::parse(text)) << "and written as 0.1.0 reads it";
}

}  // namespace
}  // namespace gpuadvise::daemon
