#include "daemon/store/history.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "daemon/store/history_rows.h"
#include "tests/daemon/logged_lines.h"
#include "tests/daemon/store/full_disk.h"
#include "tests/daemon/store/old_history.h"
#include "tests/daemon/store/past_jobs.h"
#include "tests/daemon/temp_folder.h"

namespace gpuadvise::daemon {
namespace {

namespace fs = std::filesystem;
constexpr UnixSeconds kNow = kSnapshotTime;

class HistoryTest : public testing::Test {
 protected:
  std::string Dir() const { return folder_.Path("state"); }
  std::string File() const { return folder_.Path("state/history.db"); }

  std::unique_ptr<History> Open() const {
    auto history = History::Open(Dir(), kNow);
    EXPECT_TRUE(history) << history.error().message;
    return history ? std::move(*history) : nullptr;
  }

  // All bytes that lie in the folder, but for locks.
  std::string Everything() const {
    std::string bytes;
    for (const auto& entry : fs::directory_iterator(Dir())) {
      bytes += folder_.Read("state/" + entry.path().filename().string());
    }
    return bytes;
  }

  // Where files were set aside to.
  size_t Aside() const {
    size_t count = 0;
    for (const auto& entry : fs::directory_iterator(Dir())) {
      const std::string name = entry.path().filename();
      if (name.find(".aside-") != std::string::npos && !name.ends_with("-wal") &&
          !name.ends_with("-shm"))
        ++count;
    }
    return count;
  }

  TempFolder folder_;
};

TEST_F(HistoryTest, AFileWithoutTheIndexOfArraysGetsIt) {
  Open();
  SQLite::Database(File(), SQLite::OPEN_READWRITE).exec("DROP INDEX job_array");
  Open();
  SQLite::Database database(File());
  EXPECT_EQ(
      database.execAndGet("SELECT count(*) FROM sqlite_master WHERE name = 'job_array'").getInt(),
      1);
  SQLite::Statement explained(database,
                              "EXPLAIN QUERY PLAN SELECT count(*) FROM job WHERE array_job_id = 7 "
                              "AND array_job_id <> 0 AND submit >= 3");
  ASSERT_TRUE(explained.executeStep());
  EXPECT_NE(explained.getColumn(3).getString().find("job_array"), std::string::npos)
      << explained.getColumn(3).getString();
}

TEST_F(HistoryTest, IsUsedByOneDaemonAtATime) {
  const auto first = Open();
  const auto second = History::Open(Dir(), kNow);
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message.find("is in use by another gpuadvised"), std::string::npos);
}

TEST_F(HistoryTest, AFolderThatCannotBeMadeIsNamed) {
  folder_.Write("state", "a file");
  const auto history = History::Open(Dir(), kNow);
  ASSERT_FALSE(history);
  EXPECT_NE(history.error().message.find(Dir()), std::string::npos);
}

TEST_F(HistoryTest, ANewerOneIsSetAsideAndNamed) {
  ASSERT_TRUE(Open()->Save({WholeJob(7)}));
  SQLite::Database(File(), SQLite::OPEN_READWRITE).exec("PRAGMA user_version = 99");
  const auto history = Open();
  EXPECT_TRUE(JobsIn(*history).empty());
  EXPECT_NE(history->set_aside().find("was written by a newer gpuadvised (version 99"),
            std::string::npos);
  EXPECT_NE(history->set_aside().find(".aside-"), std::string::npos);
  EXPECT_EQ(Aside(), 1u);
}

TEST_F(HistoryTest, OneOfTheFirstVersionGetsWhatItLacksAndKeepsWhatItHas) {
  ASSERT_TRUE(Open()->Save({WholeJob(7)}));
  MakeVersion(File(), 1);
  const auto history = Open();
  EXPECT_EQ(history->set_aside(), "");
  EXPECT_EQ(JobsIn(*history).size(), 1u);
  EXPECT_TRUE(history->Save({KeptExperiment{7, 1001, kNow, "{}"}}));
  EXPECT_EQ(TextsIn(*history).size(), 1u);
}

TEST_F(HistoryTest, OneOfTheSecondVersionKnowsNoDeciles) {
  ASSERT_TRUE(Open()->Save({WholeJob(7)}));
  MakeVersion(File(), 2);
  const auto history = Open();
  EXPECT_EQ(history->set_aside(), "");
  PastJob kept = WholeJob(7);
  kept.said->deciles.reset();
  const auto jobs = JobsIn(*history);
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_EQ(jobs[0].said, kept.said);
  ASSERT_TRUE(history->Save({WholeJob(8)}));
  const auto both = JobsIn(*history);
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[1].said, WholeJob(8).said);
}

TEST_F(HistoryTest, OneOfTheFifthVersionKeepsAllThatItHas) {
  {
    const auto history = Open();
    ASSERT_TRUE(history->Save({WholeJob(7)}));
    ASSERT_TRUE(history->Save({KeptExperiment{7, 1001, kNow, "{}"}}));
  }
  SQLite::Database(File(), SQLite::OPEN_READWRITE)
      .exec(
          "ALTER TABLE job ADD COLUMN scored_by TEXT NOT NULL DEFAULT '';"
          "ALTER TABLE job ADD COLUMN saved_by TEXT NOT NULL DEFAULT '';"
          "ALTER TABLE experiment ADD COLUMN saved_by TEXT NOT NULL DEFAULT '';"
          "CREATE TABLE reign (boot TEXT PRIMARY KEY) WITHOUT ROWID; PRAGMA user_version = 5");
  const auto history = Open();
  EXPECT_EQ(history->set_aside(), "");
  EXPECT_EQ(JobsIn(*history).size(), 1u);
  EXPECT_EQ(TextsIn(*history).size(), 1u);
  EXPECT_TRUE(history->Save({WholeJob(7), WholeJob(8)}));
  EXPECT_EQ(JobsIn(*history).size(), 2u);
}

// ---- bounds --------------------------------------------------------------------------------

constexpr int64_t kMiB = int64_t{1} << 20;

TEST_F(HistoryTest, TheOldestJobsGoWhereTheFileIsTooLargeAndItShrinks) {
  {
    const auto history = Open();
    std::vector<PastJob> jobs;
    for (int64_t id = 1; id <= 3'000; ++id) jobs.push_back(WholeJob(id, kNow + id));
    ASSERT_TRUE(history->Save(jobs));
  }
  ASSERT_GT(fs::file_size(File()), 4u << 20);
  HistoryBounds bounds;
  bounds.bytes = 2 * kMiB;
  {
    const auto history = *History::Open(Dir(), kNow, bounds);
    EXPECT_TRUE(history->IsOverBounds());
    ASSERT_TRUE(history->Prune(0, kNow));
    EXPECT_FALSE(history->IsOverBounds());
    const auto jobs = JobsIn(*history);
    EXPECT_GT(jobs.size(), 100u);
    EXPECT_EQ(jobs.back().record.id, 3'000) << "the newest stay";
  }
  EXPECT_LE(fs::file_size(File()), 2u << 20) << "pages were given back";
}

// ---- what earlier versions kept --------------------------------------------------------------

std::string OldText(int64_t job_id, int64_t uid, bool ran, const std::string& more) {
  return fmt::format(
      R"({{"job_id":{},"uid":{},"user":"ann","submitted_at":{},"advice_id":"a-1","name":"t",)"
      R"("family":"f","output_dir":"","request":{{"spec":{{"model":{{"preset":"m"}},)"
      R"("env":{{"HF_TOKEN":"hf_SECRET"}},"setup":["export W=hf_SECRET"],"command":"hf_SECRET {}",)"
      R"("training":{{"max_steps":5}}}}}},"strategy":{{"gpu":"l40s","stages":["{}"]}},)"
      R"("outcome":null,"times":{}}})",
      job_id, uid, kNow + job_id, more, more,
      ran ? "[1,2,3,\"COMPLETED\"]" : "[null,null,null,\"\"]");
}

TEST_F(HistoryTest, SecretsThatTheThirdVersionKeptAreNowhereInTheFile) {
  ASSERT_TRUE(Open()->Save({WholeJob(7)}));
  MakeVersion(File(), 3);
  {
    OldExperiments old(File());
    for (int64_t id = 1; id <= 50; ++id) old.Add(id, 1001, kNow + id, OldText(id, 1001, true, ""));
    old.Add(60, 1001, kNow + 60, OldText(60, 1001, false, ""));
    old.Add(61, 1001, kNow + 61, "hf_SECRET torn");
    old.Execute("DELETE FROM experiment WHERE job_id < 40");  // what was deleted lies on free pages
  }
  fs::permissions(File(), fs::perms(0644));
  ASSERT_NE(Everything().find("hf_SECRET"), std::string::npos);
  {
    const auto history = Open();
    EXPECT_EQ(history->set_aside(), "");
    EXPECT_EQ(JobsIn(*history).size(), 1u);
    EXPECT_EQ(TextsIn(*history).size(), 12u);
    const auto kept = *history->FindExperiment(50, 1001);
    ASSERT_TRUE(kept);
    EXPECT_NE(kept->text.find(R"("max_steps":5)"), std::string::npos) << kept->text;
    EXPECT_EQ(kept->text.find("stages"), std::string::npos) << kept->text;
    EXPECT_TRUE(kept->seen);
    EXPECT_FALSE((*history->FindExperiment(60, 1001))->seen) << "nobody but its user told of it";
    EXPECT_EQ(Everything().find("hf_SECRET"), std::string::npos) << "while it is open";
  }
  EXPECT_EQ(Everything().find("hf_SECRET"), std::string::npos);
}

TEST_F(HistoryTest, AHugeOneOfTheThirdVersionIsTakenOverWithinTheBounds) {
  ASSERT_TRUE(Open()->Save({WholeJob(7)}));
  MakeVersion(File(), 3);
  {
    OldExperiments old(File());
    const std::string fat(5'000, 'x');
    for (int64_t id = 1; id <= 3; ++id) old.Add(id, 2, kNow + id, OldText(id, 2, true, ""));
    for (int64_t id = 10; id < 2'510; ++id) {
      old.Add(id, 1001, kNow + id, OldText(id, 1001, true, fat));
    }
  }
  ASSERT_GT(fs::file_size(File()), 24u << 20);
  HistoryBounds bounds;
  bounds.experiment_bytes_of_one = 2 * kMiB;
  bounds.bytes = 16 * kMiB;
  const auto history = *History::Open(Dir(), kNow, bounds);
  EXPECT_EQ(history->set_aside(), "");
  EXPECT_LT(fs::file_size(File()), 4u << 20);
  EXPECT_EQ(JobsIn(*history).size(), 1u);
  for (int64_t id = 1; id <= 3; ++id) EXPECT_TRUE(*history->FindExperiment(id, 2));
  EXPECT_TRUE(*history->FindExperiment(2'509, 1001));
}

TEST_F(HistoryTest, OfAnOlderLogAFewUsersNewRowsPushOutNobodys) {
  ASSERT_TRUE(Open()->Save({WholeJob(7)}));
  MakeVersion(File(), 3);
  {
    OldExperiments old(File());
    const std::string fat(50'000, 'x');
    for (int64_t id = 1; id <= 3; ++id) old.Add(id, 2, kNow + id, OldText(id, 2, true, ""));
    for (int64_t id = 10; id < 110; ++id) {
      old.Add(id, 3 + id % 2, kNow + id, OldText(id, 3 + id % 2, true, fat));
    }
    old.Add(200, 2, kNow + 200, "torn");
  }
  HistoryBounds bounds;
  bounds.bytes = 4 * kMiB;  // of the log half
  const LoggedLines logged;
  const auto history = *History::Open(Dir(), kNow, bounds);
  for (int64_t id = 1; id <= 3; ++id) EXPECT_TRUE(*history->FindExperiment(id, 2)) << id;
  EXPECT_TRUE(*history->FindExperiment(109, 4));
  EXPECT_TRUE(*history->FindExperiment(108, 3));
  EXPECT_FALSE(*history->FindExperiment(10, 3));
  EXPECT_NE(logged.text().find("rows of the experiment log of"), std::string::npos);
  EXPECT_NE(logged.text().find("1 row of the experiment log of"), std::string::npos);
  EXPECT_NE(logged.text().find("cannot be read"), std::string::npos) << logged.text();
}

TEST_F(HistoryTest, ARewriteThatFailsLeavesNothingBehind) {
  {
    const auto history = Open();
    std::vector<PastJob> jobs;
    for (int64_t id = 1; id <= 2'000; ++id) jobs.push_back(WholeJob(id, kNow + id));
    ASSERT_TRUE(history->Save(jobs));
  }
  MakeVersion(File(), 3);
  ASSERT_GT(fs::file_size(File()), 3u << 20);
  {
    const FullDisk full(1 << 20);  // the copy gets so far
    const auto history = History::Open(Dir(), kNow);
    ASSERT_FALSE(history);
    EXPECT_FALSE(fs::exists(File() + ".new")) << history.error().message;
  }
  EXPECT_EQ(JobsIn(*Open()).size(), 2'000u) << "nothing is lost";
}

TEST_F(HistoryTest, ACopyThatWouldFillTheDiskIsNotBegun) {
  fs::create_directories(Dir());
  if (mount("none", Dir().c_str(), "tmpfs", 0, "size=64m") != 0) {
    GTEST_SKIP() << "no disk can be mounted here";
  }
  {
    const auto history = Open();
    std::vector<PastJob> jobs;
    for (int64_t id = 1; id <= 2'000; ++id) jobs.push_back(WholeJob(id, kNow + id));
    EXPECT_TRUE(history->Save(jobs));
  }
  MakeVersion(File(), 3);
  folder_.Write("state/others", std::string(fs::space(Dir()).available - (2u << 20), 'x'));
  const auto history = History::Open(Dir(), kNow);
  EXPECT_FALSE(history);
  if (!history) {
    EXPECT_NE(history.error().message.find("its copy in the present one takes up to"),
              std::string::npos)
        << history.error().message;
    EXPECT_NE(history.error().message.find("make room"), std::string::npos);
  }
  umount2(Dir().c_str(), MNT_DETACH);
}

TEST_F(HistoryTest, ARewriteThatWasInterruptedIsBegunAgain) {
  ASSERT_TRUE(Open()->Save({WholeJob(7)}));
  MakeVersion(File(), 3);
  folder_.Write("state/history.db.new", "half of it");
  const auto history = Open();
  EXPECT_EQ(JobsIn(*history).size(), 1u);
  EXPECT_FALSE(fs::exists(File() + ".new"));
}

// ---- the file itself -------------------------------------------------------------------------

TEST_F(HistoryTest, NobodyElseReadsIt) {
  const mode_t before = umask(0);
  {
    const auto history = Open();
    ASSERT_TRUE(history->Save({WholeJob(7)}));
    for (const char* part : {"", "-wal", "-shm", ".lock"}) {
      EXPECT_EQ(fs::status(File() + part).permissions(), fs::perms(0600)) << part;
      fs::permissions(File() + part, fs::perms(0644));  // as an earlier one left them
    }
    SQLite::Database(File(), SQLite::OPEN_READONLY).execAndGet("SELECT count(*) FROM job");
  }
  const auto history = Open();
  ASSERT_TRUE(history->Save({WholeJob(8)}));
  for (const char* part : {"", "-wal", "-shm", ".lock"}) {
    EXPECT_EQ(fs::status(File() + part).permissions(), fs::perms(0600)) << part;
  }
  umask(before);
}

TEST_F(HistoryTest, AFifoInItsPlaceIsNamedWithTheRemedy) {
  fs::create_directories(Dir());
  ASSERT_EQ(mkfifo(File().c_str(), 0600), 0);
  const auto history = History::Open(Dir(), kNow);
  ASSERT_FALSE(history);
  EXPECT_NE(history.error().message.find("is not a regular file"), std::string::npos);
  EXPECT_NE(history.error().message.find("move it away"), std::string::npos);
  EXPECT_FALSE(History::InfoOf(Dir()));
}

TEST_F(HistoryTest, AHeaderThatNoSqliteWritesIsDamage) {
  constexpr size_t kWriteVersion = 18, kReadVersion = 19, kSchemaFormat = 47, kUserVersion = 60;
  for (const size_t at : {kWriteVersion, kReadVersion, kSchemaFormat, kUserVersion}) {
    fs::remove_all(Dir());
    ASSERT_TRUE(Open()->Save({WholeJob(7)}));
    std::string bytes = folder_.Read("state/history.db");
    bytes[at] = '\xff';
    if (at == kUserVersion) bytes.replace(at, 4, "\xff\xff\xff\xff");
    folder_.Write("state/history.db", bytes);
    const auto history = History::Open(Dir(), kNow);
    ASSERT_TRUE(history) << at << ": " << history.error().message;
    EXPECT_NE((*history)->set_aside().find("is damaged"), std::string::npos) << at;
    EXPECT_TRUE((*history)->Save({WholeJob(8)})) << at;
  }
}

TEST_F(HistoryTest, ADatabaseOfSomethingElseIsSetAside) {
  fs::create_directories(Dir());
  SQLite::Database(File(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
      .exec("CREATE TABLE songs (name TEXT)");
  EXPECT_NE(Open()->set_aside().find("is a database of something else"), std::string::npos);
}

TEST_F(HistoryTest, WhatIsNoDatabaseIsSetAside) {
  fs::create_directories(Dir());
  folder_.Write("state/history.db", std::string(5'000, 'x'));
  const auto history = Open();
  EXPECT_NE(history->set_aside().find("is damaged"), std::string::npos);
  EXPECT_TRUE(history->Save({WholeJob(1)}));
}

// Cut at many places, a file is read, or set aside; it never ends the program.
TEST_F(HistoryTest, ATornFileIsReadOrSetAside) {
  std::vector<PastJob> many;
  for (int64_t id = 1; id <= 40; ++id) many.push_back(WholeJob(id));
  ASSERT_TRUE(Open()->Save(many));
  SQLite::Database(File(), SQLite::OPEN_READWRITE).exec("PRAGMA wal_checkpoint(TRUNCATE)");
  const std::string whole = folder_.Read("state/history.db");
  ASSERT_GT(whole.size(), 20'000u);
  size_t set_aside = 0;
  for (size_t cut = 0; cut < whole.size(); cut += 997) {
    fs::remove_all(Dir());
    fs::create_directories(Dir());
    folder_.Write("state/history.db", whole.substr(0, cut));
    const auto history = Open();
    ASSERT_NE(history, nullptr);
    if (!history->set_aside().empty()) ++set_aside;
    int64_t unreadable = 0;
    const auto jobs = history->Load(unreadable);
    EXPECT_LE(jobs ? jobs->size() + static_cast<size_t>(unreadable) : 0, 40u);
    EXPECT_TRUE(history->Save({WholeJob(99)})) << cut;
  }
  EXPECT_GT(set_aside, 10u);
}

// Killed at any moment, what it said was written is there, whole, and nothing else.
TEST_F(HistoryTest, SurvivesBeingKilled) {
  constexpr int kBatch = 5;
  int64_t next = 1;
  for (int round = 0; round < 20; ++round) {
    int told[2];
    ASSERT_EQ(pipe(told), 0);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      close(told[0]);
      auto history = History::Open(Dir(), kNow);
      for (int64_t id = next; history; id += kBatch) {
        std::vector<PastJob> batch;
        for (int64_t i = 0; i < kBatch; ++i) batch.push_back(WholeJob(id + i));
        if (!(*history)->Save(batch)) _exit(1);
        if (write(told[1], &id, sizeof id) < 0) _exit(1);
      }
      _exit(1);
    }
    close(told[1]);
    int64_t last = 0;
    // Every other time not before it has saved something, however slow the machine is.
    if (round % 2 == 0) {
      ASSERT_EQ(read(told[0], &last, sizeof last), ssize_t{sizeof last});
    }
    usleep(static_cast<useconds_t>(2'000 + round * 1'713));
    kill(child, SIGKILL);
    for (int64_t id = 0; read(told[0], &id, sizeof id) == sizeof id;) last = id;
    close(told[0]);
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << WEXITSTATUS(status);
    const auto history = Open();
    EXPECT_EQ(history->set_aside(), "");
    const std::vector<PastJob> jobs = JobsIn(*history);
    EXPECT_EQ(jobs.size() % kBatch, 0u);
    EXPECT_GE(jobs.size(), static_cast<size_t>(last == 0 ? 0 : last + kBatch - 1));
    for (const PastJob& job : jobs) ExpectSame(job, WholeJob(job.record.id));
    next = static_cast<int64_t>(jobs.size()) + 1;
  }
  EXPECT_GT(next, 10 * kBatch);
}

TEST(HistoryDetail, ReadsBackWhatItWrote) {
  PastJob read;
  ASSERT_TRUE(DecodeDetail(EncodeDetail(WholeJob(7)), read));
  EXPECT_EQ(*read.forecast_record, *WholeJob(7).forecast_record);
  EXPECT_EQ(*read.submission, *WholeJob(7).submission);
  EXPECT_TRUE(EncodeDetail(PastJob{}).empty());
}

RC_GTEST_PROP(HistoryDetail, AnyBytesAreReadOrRefused, (const std::vector<uint8_t>& bytes)) {
  PastJob job;
  const bool read = DecodeDetail(bytes, job);
  RC_ASSERT(read || (job.forecast_record == nullptr && job.submission == nullptr));
}

RC_GTEST_PROP(HistoryDetail, DamagedBytesAreReadOrRefused, ()) {
  std::vector<uint8_t> bytes = EncodeDetail(WholeJob(7));
  const auto at = *rc::gen::inRange<size_t>(0, bytes.size());
  bytes[at] = *rc::gen::arbitrary<uint8_t>();
  bytes.resize(*rc::gen::inRange<size_t>(at, bytes.size() + 1));
  PastJob job;
  if (DecodeDetail(bytes, job) && job.forecast_record) {
    RC_ASSERT(job.forecast_record->features.size() == kWaitFeatures);
  }
}

}  // namespace
}  // namespace gpuadvise::daemon
