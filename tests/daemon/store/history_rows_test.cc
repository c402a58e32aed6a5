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
  const auto history = place_.Open("", bounds);
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
  ASSERT_TRUE(history->EachUsage([&](const PastJob& job) { seen += job.record.gpus; }));
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
  const auto runs = history->RunsOf("ann", kNow, 100);
  ASSERT_TRUE(runs);
  ASSERT_EQ(runs->size(), 1u);
  EXPECT_EQ(runs->front().id, 2);
  EXPECT_EQ(history->RunsOf("o'neill", kNow, 100)->size(), 1u);
  std::vector<std::string> accounts;
  ASSERT_TRUE(history->EachRun(kNow, "o'neill", [&](const History::Run& run) {
    accounts.push_back(run.account);
    return true;
  }));
  EXPECT_EQ(accounts.size(), 1u);
  const auto since = history->EverybodySince(kNow, 1);
  ASSERT_TRUE(since);
  EXPECT_EQ(since->from, kNow + 3) << "more than one was submitted since";
  EXPECT_EQ(since->jobs.size(), 3u) << "those that ran at that moment, too";
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
  const auto history = place_.Open("", bounds);
  ASSERT_TRUE(history->Prune(0, kNow));
  const auto left = JobsIn(*history);
  EXPECT_GT(left.size(), 100u);
  EXPECT_LT(left.size(), 2'500u);
  EXPECT_EQ(left.back().record.id, 3'000) << "the newest stay";
}

// ---- what a standby gives back -------------------------------------------------------------

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

class HistoryExchange : public testing::Test {
 protected:
  HistoryExchange() { EXPECT_TRUE(standby_->BeginReign()); }

  HistoryPlace first_place_, standby_place_;
  const std::unique_ptr<History> first_ = first_place_.Open("first");
  const std::unique_ptr<History> standby_ = standby_place_.Open("standby");
};

TEST_F(HistoryExchange, AForecastThatBothScoredCountsOnce) {
  ASSERT_TRUE(first_->Save({WholeJob(7)}));
  ASSERT_TRUE(standby_->Save({WholeJob(7)}));
  const MergedRows merged = GiveAllBack(*standby_, *first_);
  EXPECT_EQ(merged.taken, 0);
  EXPECT_EQ(merged.known, 1);
  EXPECT_EQ(first_place_.Cell("SELECT min(scored_by) FROM job"), "first");
}

TEST_F(HistoryExchange, WhatOnlyTheStandbySawIsTakenAsItIsAndOnce) {
  ASSERT_TRUE(standby_->Save({WholeJob(7), WholeJob(8)}));
  EXPECT_EQ(GiveAllBack(*standby_, *first_).taken, 2);
  EXPECT_EQ(GiveAllBack(*standby_, *first_).known, 2) << "the answer was lost, sent again";
  int64_t unreadable = 0;
  const auto jobs = first_->Load(unreadable);
  ASSERT_TRUE(jobs);
  ASSERT_EQ(jobs->size(), 2u);
  EXPECT_EQ(unreadable, 0);
  EXPECT_EQ(jobs->front().record.name, WholeJob(7).record.name);
  EXPECT_EQ(jobs->front().said->deciles, WholeJob(7).said->deciles);
  EXPECT_NE(jobs->front().forecast_record, nullptr);
  EXPECT_EQ(first_place_.Cell("SELECT min(scored_by) FROM job"), "standby");
}

TEST_F(HistoryExchange, ARowThatLacksItsEndOrForecastTakesThem) {
  PastJob begun = WholeJob(7);
  begun.record.end.reset();
  PastJob unforeseen = WholeJob(8);
  unforeseen.said.reset();
  ASSERT_TRUE(first_->Save({begun, unforeseen}));
  ASSERT_TRUE(standby_->Save({WholeJob(7), WholeJob(8)}));
  EXPECT_EQ(GiveAllBack(*standby_, *first_).taken, 2);
  EXPECT_EQ(first_place_.Cell("SELECT count(*) FROM job WHERE \"end\" IS NULL"), "0");
  EXPECT_EQ(first_place_.Cell("SELECT scored_by FROM job WHERE job_id = 7"), "first");
  EXPECT_EQ(first_place_.Cell("SELECT scored_by FROM job WHERE job_id = 8"), "standby");
}

TEST_F(HistoryExchange, OnlyWhatWasSavedInThePlaceOfTheFirstIsGivenBack) {
  standby_->SetBoot("before");
  ASSERT_TRUE(standby_->Save({WholeJob(7)}));
  standby_->SetBoot("standby");
  ASSERT_TRUE(standby_->Save({WholeJob(8)}));
  EXPECT_EQ(GiveAllBack(*standby_, *first_).taken, 1);
  EXPECT_TRUE(*standby_->OwesRows());
  ASSERT_TRUE(standby_->EndReign());
  EXPECT_FALSE(*standby_->OwesRows());
  EXPECT_EQ(GiveAllBack(*standby_, *first_).taken, 0);
}

TEST_F(HistoryExchange, ManyRowsComeInSeveralRequests) {
  std::vector<PastJob> jobs;
  std::vector<KeptExperiment> experiments;
  for (int i = 1; i <= 600; ++i) {
    jobs.push_back(WholeJob(1, kSnapshotTime + i));
    experiments.push_back({i, 1'000, kSnapshotTime, std::string(500, 'x'), true});
  }
  ASSERT_TRUE(standby_->Save(jobs));
  ASSERT_TRUE(standby_->Save(experiments));
  EXPECT_EQ(GiveAllBack(*standby_, *first_).taken, 1'200);
  EXPECT_EQ(first_place_.Cell("SELECT count(*) FROM experiment"), "600");
}

TEST_F(HistoryExchange, BytesThatNoStandbySentChangeNothing) {
  ASSERT_TRUE(standby_->Save({WholeJob(7)}));
  const std::string rows = standby_->RowsToReturn({})->bytes;
  for (size_t cut = 0; cut < rows.size(); ++cut) {
    const auto merged = first_->Merge(rows.substr(0, cut));
    ASSERT_FALSE(merged) << cut;
    ASSERT_EQ(merged.error().code, ErrorCode::kBadInput);
  }
  EXPECT_FALSE(first_->Merge(std::string(100'000, '\x9f'))) << "lists in lists";
  EXPECT_EQ(first_place_.Cell("SELECT count(*) FROM job"), "0");
}

}  // namespace
}  // namespace gpuadvise::daemon
