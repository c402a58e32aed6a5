// What is kept, wherever the history lives: built once with its place in a file and once with its
// place in a server (history_place.h).
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/store/history.h"
#include "tests/daemon/store/history_place.h"
#include "tests/daemon/store/past_jobs.h"

namespace gpuadvise::daemon {
namespace {

constexpr UnixSeconds kNow = kSnapshotTime;
constexpr int64_t kMiB = int64_t{1} << 20;

class HistoryRows : public testing::Test {
 protected:
  HistoryPlace place_;
};

KeptExperiment Fat(int64_t job_id, int64_t uid, size_t bytes = 60'000) {
  return {job_id, uid, kNow + job_id, std::string(bytes, 'x'), true};
}

TEST_F(HistoryRows, KeepsAllThatIsKnownOfAJob) {
  PastJob bare;
  bare.record.id = 8;
  bare.record.submit = kNow + 1;
  bare.record.eligible = kNow + 1;
  bare.lost = true;
  ASSERT_TRUE(place_.Open()->Save({WholeJob(7), bare}));
  const std::vector<PastJob> jobs = JobsIn(*place_.Open());
  ASSERT_EQ(jobs.size(), 2u);
  ExpectSame(jobs[0], WholeJob(7));
  ExpectSame(jobs[1], bare);
}

TEST_F(HistoryRows, TheSameJobIsOneRowAndAnotherSubmissionAnother) {
  const auto history = place_.Open();
  PastJob job = WholeJob(7);
  job.record.end.reset();
  ASSERT_TRUE(history->Save({job}));
  ASSERT_TRUE(history->Save({WholeJob(7), WholeJob(7, kNow + 400 * 86'400)}));
  const std::vector<PastJob> jobs = JobsIn(*history);
  ASSERT_EQ(jobs.size(), 2u);
  EXPECT_EQ(jobs[0].record.end, kNow + 4'000);
}

TEST_F(HistoryRows, CountsTheTasksOfArraysThatHaveEnded) {
  const auto history = place_.Open();
  std::vector<JobRecord> records;
  const auto add = [&](int64_t id, int64_t array, const char* state, UnixSeconds submit = kNow) {
    JobRecord record = WholeJob(id, submit).record;
    record.array_job_id = array;
    record.state = state;
    records.push_back(record);
  };
  add(101, 70, "COMPLETED");
  add(102, 70, "TIMEOUT");
  add(103, 71, "COMPLETED");
  add(104, 72, "COMPLETED");
  add(105, 70, "COMPLETED", kNow - 1'000'000);  // of another array of that number, long ago
  add(106, 0, "COMPLETED");
  add(70, 70, "CANCELLED");
  records.back().start.reset();  // what was left of it in the queue
  ASSERT_TRUE(history->Complete(records));
  const auto ended = history->EndedTasksOf({70, 71, 0}, kNow - 300);
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->completed, 2);
  EXPECT_EQ(ended->failed, 1);
}

TEST_F(HistoryRows, AccountingAddsWhatWasMissedAndCorrectsWhatWasSeen) {
  const auto history = place_.Open();
  PastJob seen = WholeJob(7);
  seen.record.end = kNow + 3'990;  // the middle of a gap
  PastJob lost = WholeJob(8);
  lost.record.end.reset();
  lost.lost = true;
  PastJob open = WholeJob(9);
  open.record.end.reset();
  ASSERT_TRUE(history->Save({seen, lost, open}));
  JobRecord running = WholeJob(9).record;
  running.end.reset();
  const auto changed =
      history->Complete({WholeJob(7).record, WholeJob(8).record, running, WholeJob(10).record});
  ASSERT_TRUE(changed);
  EXPECT_EQ(*changed, 2);  // the lost one and the one that nobody saw
  const std::vector<PastJob> jobs = JobsIn(*history);
  ASSERT_EQ(jobs.size(), 4u);
  EXPECT_EQ(jobs[0].record.end, kNow + 4'000);
  ASSERT_TRUE(jobs[0].said);  // what was forecast stays
  EXPECT_FALSE(jobs[1].lost);
  EXPECT_EQ(jobs[2].record.end, std::nullopt);
  EXPECT_FALSE(jobs[3].said);
  EXPECT_EQ(*history->Complete({WholeJob(7).record}), 0);
}

TEST_F(HistoryRows, ForgetsTheOldAndWhatIsTooOldToLearnFrom) {
  const auto history = place_.Open();
  constexpr int64_t kDay = 86'400;
  ASSERT_TRUE(history->Save(
      {WholeJob(1, kNow - 500 * kDay), WholeJob(2, kNow - 40 * kDay), WholeJob(3, kNow - kDay)}));
  ASSERT_TRUE(history->Prune(kNow - 400 * kDay, kNow));
  const std::vector<PastJob> jobs = JobsIn(*history);
  ASSERT_EQ(jobs.size(), 2u);
  EXPECT_EQ(jobs[0].record.id, 2);
  EXPECT_EQ(jobs[0].forecast_record, nullptr);
  EXPECT_TRUE(jobs[0].said);
  EXPECT_NE(jobs[1].forecast_record, nullptr);
}

TEST_F(HistoryRows, NotesSurvive) {
  ASSERT_TRUE(place_.Open()->Note("seeded_until", 42));
  EXPECT_EQ(*place_.Open()->Noted("seeded_until"), 42);
  EXPECT_EQ(*place_.Open()->Noted("never"), std::nullopt);
}

TEST_F(HistoryRows, SaysHowLargeAndOldItIs) {
  EXPECT_EQ(*place_.Info(), std::nullopt);
  const auto history = place_.Open();
  ASSERT_TRUE(history->Save({WholeJob(7), WholeJob(8, kNow + 60)}));
  for (const auto& info : {*history->Info(), **place_.Info()}) {
    EXPECT_EQ(info.jobs, 2);
    EXPECT_EQ(info.oldest, kNow);
    EXPECT_EQ(info.newest, kNow + 60);
    EXPECT_GT(info.bytes, 4'000);
  }
}

TEST_F(HistoryRows, DecilesThatCannotBeMakeARowUnreadable) {
  for (const std::string text :
       {"", "[", "7", "[1,2]", "[0,0,7,40,90,130,200,310,null]",
        "[0,0,7,40,90,130,200,310,4294967296]", "[-1,0,7,40,90,130,200,310,400]"}) {
    ASSERT_TRUE(place_.Open()->Save({WholeJob(7), WholeJob(8)}));
    place_.Execute("UPDATE job SET said_deciles = '" + text + "' WHERE job_id = 7");
    int64_t unreadable = 0;
    const auto jobs = place_.Open()->Load(unreadable);
    ASSERT_TRUE(jobs);
    EXPECT_EQ(jobs->size(), 1u) << text;
    EXPECT_EQ(unreadable, 1) << text;
  }
}

TEST_F(HistoryRows, ExperimentsComeBackTheNewestFirst) {
  const auto history = place_.Open();
  ASSERT_TRUE(history->Save(
      {KeptExperiment{3, 1001, kNow + 3, "c"}, KeptExperiment{1, 1001, kNow + 1, "a"},
       KeptExperiment{2, 1001, kNow + 2, "b"}, KeptExperiment{2, 1001, kNow + 2, "B", true}}));
  EXPECT_EQ(TextsIn(*history), (std::vector<std::string>{"c", "B", "a"}));
  EXPECT_TRUE((*history->FindExperiment(2, 1001))->seen);
  EXPECT_FALSE((*history->FindExperiment(3, 1001))->seen);
  EXPECT_FALSE(*history->FindExperiment(3, 1002));
  ASSERT_TRUE(history->Prune(kNow + 2, kNow + 3));
  ASSERT_TRUE(history->Save({KeptExperiment{3, 1001, kNow + 3, ""}}));
  EXPECT_EQ(TextsIn(*history), (std::vector<std::string>{"B"}));
}

TEST_F(HistoryRows, OfOneUsersLogNoMoreIsReadThanIsKeptInMemory) {
  const auto history = place_.Open();
  std::vector<KeptExperiment> rows = {Fat(1, 2)};
  for (int64_t id = 2; id < 400; ++id) rows.push_back(Fat(id, 1));
  ASSERT_TRUE(history->Save(rows));
  int64_t bytes = 0;
  bool other = false;
  ASSERT_TRUE(history->EachExperiment([&](const KeptExperiment& kept) {
    bytes += BytesOf(kept);
    other = other || kept.uid == 2;
  }));
  EXPECT_LE(bytes, kLoadedExperimentBytesOfOne + BytesOf(Fat(1, 2)));
  EXPECT_GT(bytes, kLoadedExperimentBytesOfOne / 2);
  EXPECT_TRUE(other) << "one user's rows hide nobody's";
}

TEST_F(HistoryRows, RecordsOfJobsAreFoundByTheirNumber) {
  const auto history = place_.Open();
  ASSERT_TRUE(history->Save({WholeJob(7), WholeJob(8)}));
  const auto records = history->RecordsOf({8, 9});
  ASSERT_EQ(records->size(), 1u);
  EXPECT_EQ(records->front(), WholeJob(8).record);
}

TEST_F(HistoryRows, WhoHasMostOfTheLogLosesTheirOldest) {
  HistoryBounds bounds;
  bounds.bytes = 8 * kMiB;
  bounds.experiment_bytes_of_one = 3 * kMiB;
  const auto history = place_.Open(bounds);
  ASSERT_TRUE(history->Save({Fat(1, 1), Fat(2, 2)}));
  for (int64_t id = 3; id < 203; ++id) ASSERT_TRUE(history->Save({Fat(id, id % 2 == 0 ? 1 : 3)}));
  EXPECT_TRUE(*history->FindExperiment(2, 2)) << "the other users had more";
  EXPECT_FALSE(*history->FindExperiment(1, 1));
  EXPECT_TRUE(*history->FindExperiment(202, 1));
  int64_t bytes = 0;
  ASSERT_TRUE(history->EachExperiment([&](const KeptExperiment& kept) { bytes += BytesOf(kept); }));
  EXPECT_LE(bytes, bounds.experiment_bytes());
}

// More rows than are read at a time.
TEST_F(HistoryRows, ManyAreReadWholeAndInTheirOrder) {
  const auto history = place_.Open();
  std::vector<PastJob> jobs;
  for (int64_t id = 2'500; id >= 1; --id) jobs.push_back(WholeJob(id, kNow + id));
  ASSERT_TRUE(history->Save(jobs));
  const std::vector<PastJob> loaded = JobsIn(*history);
  ASSERT_EQ(loaded.size(), 2'500u);
  for (size_t i = 0; i < loaded.size(); ++i) {
    ASSERT_EQ(loaded[i].record.id, static_cast<int64_t>(i) + 1);
  }
  int64_t seen = 0;
  ASSERT_TRUE(history->ForEachUsage([&](const PastJob& job) { seen += job.record.gpus; }));
  EXPECT_EQ(seen, 2 * 2'500);
  int64_t taken = 0;
  ASSERT_TRUE(history->EachRun(kNow, "", [&](const History::Run&) { return ++taken < 10; }));
  EXPECT_EQ(taken, 10) << "it stops where it is told to";
  ASSERT_TRUE(history->Save({WholeJob(3'000)})) << "and nothing stays open";
}

TEST_F(HistoryRows, RunsAreOfOneUserAndTime) {
  const auto history = place_.Open();
  PastJob other = WholeJob(3, kNow + 3);
  other.record.user = "o'neill";
  PastJob waits = WholeJob(4, kNow + 4);
  waits.record.start.reset();
  waits.record.end.reset();
  ASSERT_TRUE(history->Save({WholeJob(1, kNow - 10), WholeJob(2, kNow + 2), other, waits}));
  std::vector<std::string> accounts;
  ASSERT_TRUE(history->EachRun(kNow, "o'neill", [&](const History::Run& run) {
    accounts.push_back(run.account);
    return true;
  }));
  EXPECT_EQ(accounts.size(), 1u);
}

// Names come from users: what is no text is kept as far as it is one.
TEST_F(HistoryRows, BytesThatAreNoTextDoNoHarm) {
  const auto history = place_.Open();
  PastJob odd = WholeJob(7);
  odd.record.name = std::string("a\xff\xfe z ") + "\xed\xa0\x80";
  ASSERT_TRUE(history->Save({odd, WholeJob(8)}));
  const auto jobs = JobsIn(*history);
  ASSERT_EQ(jobs.size(), 2u);
  EXPECT_EQ(jobs[0].record.name.front(), 'a');
}

TEST_F(HistoryRows, OfTooManyJobsTheOldestGo) {
  std::vector<PastJob> jobs;
  for (int64_t id = 1; id <= 3'000; ++id) jobs.push_back(WholeJob(id, kNow + id));
  ASSERT_TRUE(place_.Open()->Save(jobs));
  HistoryBounds bounds;
  bounds.bytes = 2 * kMiB;
  const auto history = place_.Open(bounds);
  ASSERT_TRUE(history->Prune(0, kNow));
  const auto left = JobsIn(*history);
  EXPECT_GT(left.size(), 100u);
  EXPECT_LT(left.size(), 2'500u);
  EXPECT_EQ(left.back().record.id, 3'000) << "the newest stay";
}

}  // namespace
}  // namespace gpuadvise::daemon
