#include "daemon/state/experiment_log.h"

#include <gtest/gtest.h>

#include <atomic>

#include "tests/daemon/fake_clock.h"
#include "tests/daemon/store/past_jobs.h"
#include "tests/daemon/temp_folder.h"
#include "tests/fakes/snapshot_text.h"

namespace gpuadvise::daemon {
namespace {

constexpr int64_t kYear = int64_t{366} * 86'400;
constexpr int64_t kAnn = 1001;

class ExperimentLogTest : public testing::Test {
 protected:
  std::unique_ptr<HistoryWriter> Open() const {
    auto history = History::Open(folder_.Path("state"), kSnapshotTime);
    EXPECT_TRUE(history);
    return std::make_unique<HistoryWriter>(std::move(*history), "", clock_, kYear);
  }

  static Experiment Submission(int64_t job_id, UnixSeconds at = kSnapshotTime) {
    Experiment experiment;
    experiment.job_id = job_id;
    experiment.uid = kAnn;
    experiment.user = "ann";
    experiment.submitted_at = at;
    experiment.family = "f";
    experiment.strategy = {
        {"gpu", "a100-80gb"}, {"gres_type", "a100"}, {"gpus_per_node", 2}, {"nodes", 1}};
    return experiment;
  }

  static Outcome Result(int64_t job_id, size_t attempts, bool running = false) {
    Outcome outcome;
    outcome.job_id = job_id;
    outcome.attempts.resize(attempts);
    outcome.attempts.back().micro_batch = 8;
    outcome.attempts.back().accumulation = 1;
    outcome.attempts.back().steps = outcome.attempts.back().steps_done = 100;
    outcome.attempts.back().began = kSnapshotTime + 100 + static_cast<int64_t>(attempts);
    outcome.attempts.back().seconds = 300;
    outcome.attempts.back().seconds_per_step = 2;
    outcome.running = running;
    return outcome;
  }

  TempFolder folder_;
  FakeClock clock_{kSnapshotTime};
};

TEST_F(ExperimentLogTest, SurvivesARestartWithOutcomeAndTimes) {
  {
    const auto history = Open();
    ExperimentLog log(*history);
    log.AddSubmitted(Submission(7), false);
    ASSERT_TRUE(log.Report(Result(7, 1), kAnn, std::nullopt));
    log.OnJobsChanged({WholeJob(7)});
  }
  const auto history = Open();
  ExperimentLog log(*history);
  log.Load();
  const auto found = log.Find(7, kAnn);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->times.start, kSnapshotTime + 100);
  EXPECT_EQ(found->outcome->attempts.size(), 1u);
  EXPECT_FALSE(log.learned()->empty());
}

TEST_F(ExperimentLogTest, AnEndThatOnlyTheHistoryKnowsIsTold) {
  const auto history = Open();
  ExperimentLog log(*history);
  log.AddSubmitted(Submission(7), false);
  EXPECT_FALSE(log.Find(7, kAnn)->times.end);
  history->Put({WholeJob(7)});
  EXPECT_EQ(log.NewestOfUser(kAnn, 10).front().times.end, kSnapshotTime + 4'000);
}

TEST_F(ExperimentLogTest, AnEndThatAccountingTellsIsLearnedFromWithoutBeingAsked) {
  const auto history = Open();
  ExperimentLog log(*history);
  log.AddSubmitted(Submission(7), false);
  ASSERT_TRUE(log.Report(Result(7, 1), kAnn, std::nullopt));
  EXPECT_TRUE(log.learned()->empty());
  history->Complete({WholeJob(7).record});
  log.CatchUp();
  EXPECT_FALSE(log.learned()->empty());
}

TEST_F(ExperimentLogTest, AnEarlierJobOfTheSameNumberIsAnotherJob) {
  const auto history = Open();
  ExperimentLog log(*history);
  history->Put({WholeJob(7, kSnapshotTime - 100'000)});
  log.AddSubmitted(Submission(7), false);
  EXPECT_FALSE(log.Find(7, kAnn)->times.end);
  EXPECT_FALSE(log.Find(7, kAnn)->times.start);
}

TEST_F(ExperimentLogTest, AReportThatWasOvertakenChangesNothing) {
  const auto history = Open();
  ExperimentLog log(*history);
  log.AddSubmitted(Submission(7), false);
  ASSERT_TRUE(log.Report(Result(7, 3), kAnn, std::nullopt));
  ASSERT_TRUE(log.Report(Result(7, 2, true), kAnn, std::nullopt));
  EXPECT_EQ(log.Find(7, kAnn)->outcome->attempts.size(), 3u);
  EXPECT_FALSE(log.Find(7, kAnn)->outcome->running);
}

TEST_F(ExperimentLogTest, NothingIsLearnedFromARunThatGoesOn) {
  const auto history = Open();
  ExperimentLog log(*history);
  log.AddSubmitted(Submission(7), false);
  log.OnJobsChanged({WholeJob(7)});
  ASSERT_TRUE(log.Report(Result(7, 1, true), kAnn, std::nullopt));
  EXPECT_TRUE(log.learned()->empty());
  ASSERT_TRUE(log.Report(Result(7, 1), kAnn, std::nullopt));
  EXPECT_FALSE(log.learned()->empty());
}

TEST_F(ExperimentLogTest, AnImportedOldReportDoesNotReplaceTheEnd) {
  const auto history = Open();
  ExperimentLog log(*history);
  log.AddSubmitted(Submission(7), false);
  ASSERT_TRUE(log.Report(Result(7, 1), kAnn, std::nullopt));
  ASSERT_TRUE(log.Report(Result(7, 1, true), kAnn, std::nullopt));
  EXPECT_FALSE(log.Find(7, kAnn)->outcome->running);
}

TEST_F(ExperimentLogTest, AClaimToAnothersJobTouchesNothingOfIt) {
  const auto history = Open();
  ExperimentLog log(*history);
  log.AddSubmitted(Submission(7), false);
  Experiment claim = Submission(7);
  claim.uid = 555;
  claim.user = "eve";
  log.AddSubmitted(claim, false);
  log.OnJobsChanged({WholeJob(7)});
  EXPECT_TRUE(log.Find(7, kAnn)->times.end);
  EXPECT_FALSE(log.Find(7, 555)->times.start) << "it is ann's";
  ASSERT_TRUE(log.Report(Result(7, 1), kAnn, std::nullopt));
  EXPECT_FALSE(log.Find(7, 555)->outcome);
}

TEST_F(ExperimentLogTest, OneUserPushesOutNobodyElse) {
  const auto history = Open();
  ExperimentLog log(*history);
  log.AddSubmitted(Submission(7), false);
  int64_t id = 100;
  for (; log.held().rows < 3 || log.Kept(100, 555); ++id) {
    ASSERT_LT(id, 5'000) << "nothing is ever forgotten";
    Experiment flood = Submission(id, kSnapshotTime + 10);
    flood.uid = 555;
    flood.name = std::string(4'000, 'x');
    log.AddSubmitted(flood, true);
  }
  EXPECT_LE(log.held().bytes, ExperimentLog::kMaxBytesOfOne + 10'000);
  EXPECT_TRUE(log.Kept(7, kAnn));
  EXPECT_TRUE(log.Kept(id - 1, 555));
  EXPECT_TRUE(log.Find(100, 555)) << "the history still has it";
}

TEST_F(ExperimentLogTest, ClaimsThatSlurmNeverShowsAreBoundedPerUser) {
  const auto history = Open();
  ExperimentLog log(*history);
  log.AddSubmitted(Submission(7), false);
  for (size_t i = 0; i < ExperimentLog::kMostUnseenOfOne + 5; ++i) {
    Experiment claim = Submission(static_cast<int64_t>(100 + i), kSnapshotTime + 10);
    claim.uid = 555;
    log.AddSubmitted(claim, false);
  }
  EXPECT_EQ(log.held().rows, ExperimentLog::kMostUnseenOfOne + 1);
  EXPECT_TRUE(log.Find(7, kAnn));
  EXPECT_FALSE(log.Find(100, 555)) << "not even on the disk";
  EXPECT_TRUE(log.Find(105, 555));
}

// ---- claims: until Slurm shows the job -------------------------------------------------------

Snapshot Showing(int64_t job_id, int64_t uid) {
  Snapshot snapshot =
      SnapshotOf("node n1 gpu4090:4\npend " + std::to_string(job_id) + " gpu4090:1 user x");
  snapshot.jobs.at(0).uid = uid;
  return snapshot;
}

TEST_F(ExperimentLogTest, AClaimToAJobThatSlurmShowsAsAnothersDiesAtOnceAndForGood) {
  {
    const auto history = Open();
    ExperimentLog log(*history);
    log.AddSubmitted(Submission(7), false);
    ASSERT_TRUE(log.Find(7, kAnn));
    log.OnSnapshot(Showing(7, 555), kSnapshotTime + 1);
    EXPECT_FALSE(log.Find(7, kAnn));
    EXPECT_FALSE(log.Report(Result(7, 1), kAnn, std::nullopt));
  }
  const auto history = Open();
  ExperimentLog log(*history);
  log.Load();
  EXPECT_FALSE(log.Find(7, kAnn));
}

TEST_F(ExperimentLogTest, AClaimThatNothingShowsIsForgottenEverywhere) {
  const UnixSeconds late = kSnapshotTime + ExperimentLog::kSettleSeconds + 1;
  const auto history = Open();
  ExperimentLog log(*history);
  log.OnSnapshot(Showing(9, 555), kSnapshotTime);
  log.AddSubmitted(Submission(7), false);
  log.OnSnapshot(Showing(9, 555), late);
  log.OnSnapshot(Showing(9, 555), late);
  EXPECT_TRUE(log.Find(7, kAnn)) << "two polls say little";
  log.OnSnapshot(Showing(9, 555), kSnapshotTime + 90);
  EXPECT_TRUE(log.Find(7, kAnn)) << "accounting may still tell of it";
  log.OnSnapshot(Showing(9, 555), late);
  EXPECT_FALSE(log.Find(7, kAnn));
  EXPECT_FALSE(history->FindExperiment(7, kAnn));
  EXPECT_EQ(log.held().rows, 0u);
  EXPECT_EQ(log.held().bytes, 0);
}

TEST_F(ExperimentLogTest, AJobThatOnlyAccountingHasSeenStays) {
  const UnixSeconds late = kSnapshotTime + ExperimentLog::kSettleSeconds + 1;
  const auto history = Open();
  ExperimentLog log(*history);
  log.OnSnapshot(Showing(9, 555), kSnapshotTime);
  log.AddSubmitted(Submission(7), false);
  history->Complete({WholeJob(7).record});
  for (int poll = 0; poll < 5; ++poll) log.OnSnapshot(Showing(9, 555), late);
  EXPECT_EQ(log.Find(7, kAnn)->times.end, kSnapshotTime + 4'000);
  EXPECT_TRUE(history->FindExperiment(7, kAnn)->seen);
}

TEST_F(ExperimentLogTest, AClaimIsSettledAfterARestartToo) {
  const UnixSeconds late = kSnapshotTime + ExperimentLog::kSettleSeconds + 1;
  {
    const auto history = Open();
    ExperimentLog log(*history);
    log.AddSubmitted(Submission(7), false);
    log.AddSubmitted(Submission(8), false);
  }
  const auto history = Open();
  ExperimentLog log(*history);
  log.Load();
  ASSERT_TRUE(log.Find(7, kAnn));
  for (int poll = 0; poll < 4; ++poll) log.OnSnapshot(Showing(8, kAnn), late + poll * 30);
  EXPECT_TRUE(log.Find(7, kAnn)) << "nobody watched until now";
  const UnixSeconds later = late + ExperimentLog::kSettleSeconds + 1;
  log.OnSnapshot(Showing(8, kAnn), later);
  EXPECT_FALSE(log.Find(7, kAnn));
  EXPECT_TRUE(log.Find(8, kAnn));
  for (int poll = 0; poll < 4; ++poll) log.OnSnapshot(Showing(9, 555), later);
  EXPECT_TRUE(log.Find(8, kAnn)) << "it was shown, and has ended";
}

TEST_F(ExperimentLogTest, AClaimStaysWhereTheHistoryCannotBeAsked) {
  HistoryWriter history(nullptr, "it cannot be opened", clock_, kYear);
  std::atomic<bool> readable = false;
  history.KeepTrying(
      [&]() -> gpuadvise::Result<std::unique_ptr<History>> {
        if (readable) return History::Open(folder_.Path("state"), kSnapshotTime);
        return Fail(ErrorCode::kUnavailable, "no room");
      },
      kOpenFileAgain);
  const UnixSeconds late = kSnapshotTime + ExperimentLog::kSettleSeconds + 1;
  ExperimentLog log(history);
  log.OnSnapshot(Showing(9, 555), kSnapshotTime);
  log.AddSubmitted(Submission(7), false);
  for (int poll = 0; poll < 5; ++poll) log.OnSnapshot(Showing(9, 555), late);
  EXPECT_TRUE(log.Find(7, kAnn));
  readable = true;
  ASSERT_EQ(history.TryToOpen(), HistoryWriter::Tried::kOpen);
  log.OnSnapshot(Showing(9, 555), late);
  EXPECT_FALSE(log.Find(7, kAnn));
}

TEST_F(ExperimentLogTest, AClaimThatMemoryHasNoRoomForIsNotLeftOnTheDisk) {
  const auto history = Open();
  ExperimentLog log(*history);
  int64_t id = 100;
  for (; id == 100 || log.Kept(100, kAnn); ++id) {
    ASSERT_LT(id, 5'000) << "nothing is ever forgotten";
    Experiment claim = Submission(id, kSnapshotTime + id);
    claim.name = std::string(20'000, 'x');
    log.AddSubmitted(claim, false);
  }
  EXPECT_FALSE(history->FindExperiment(100, kAnn));
  EXPECT_TRUE(history->FindExperiment(id - 1, kAnn));
}

TEST_F(ExperimentLogTest, AClaimSaidTwiceIsOneRow) {
  const auto history = Open();
  ExperimentLog log(*history);
  log.AddSubmitted(Submission(7), false);
  log.AddSubmitted(Submission(7, kSnapshotTime + 20), false);
  EXPECT_EQ(log.held().rows, 1u);
  log.AddSubmitted(Submission(7, kSnapshotTime + 30), true);
  EXPECT_EQ(log.held().rows, 1u);
  EXPECT_TRUE(history->FindExperiment(7, kAnn)->seen);
}

TEST_F(ExperimentLogTest, SayingAgainWhatIsKnownWritesNothing) {
  const auto history = Open();
  ExperimentLog log(*history);
  Experiment shown = Submission(7);
  shown.advice_id = "a-1";
  log.AddSubmitted(shown, true);
  ASSERT_TRUE(log.Report(Result(7, 1), kAnn, std::nullopt));
  for (int again = 1; again < 5; ++again) {
    shown.submitted_at = kSnapshotTime + again;
    log.AddSubmitted(shown, true);
  }
  EXPECT_EQ(log.held().rows, 1u);
  EXPECT_TRUE(log.Find(7, kAnn)->outcome);
  shown.advice_id = "a-2";
  log.AddSubmitted(shown, true);
  EXPECT_EQ(log.held().rows, 1u);
  EXPECT_EQ(log.Find(7, kAnn)->advice_id, "a-2");
  EXPECT_TRUE(log.Find(7, kAnn)->outcome) << "it is still that job's";
}

TEST_F(ExperimentLogTest, WhatIsAskedForBeforeAllIsLoadedIsLookedUp) {
  {
    const auto history = Open();
    ExperimentLog log(*history);
    log.AddSubmitted(Submission(7), true);
  }
  const auto history = Open();
  ExperimentLog log(*history);
  EXPECT_TRUE(log.Knows(7, kAnn));
  EXPECT_FALSE(log.Knows(7, 555));
  ASSERT_TRUE(log.Report(Result(7, 1), kAnn, std::nullopt));
  EXPECT_EQ(log.Find(7, kAnn)->family, "f") << "what was advised is not lost";
  log.Load();
  EXPECT_EQ(log.held().rows, 1u);
  EXPECT_TRUE(log.Find(7, kAnn)->outcome) << "what is in memory is newer";
}

TEST_F(ExperimentLogTest, NeitherSecretsNorStagesReachTheDisk) {
  const auto history = Open();
  ExperimentLog log(*history);
  Experiment submission = Submission(7);
  submission.request = {{"spec", {{"name", "t"}, {"env", {{"HF_TOKEN", "hf_SECRET"}}}}}};
  submission.strategy["stages"] = {"hf_SECRET"};
  log.AddSubmitted(submission, false);
  const auto kept = history->FindExperiment(7, kAnn);
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->text.find("hf_SECRET"), std::string::npos);
  EXPECT_NE(kept->text.find(R"("name":"t")"), std::string::npos);
}

TEST_F(ExperimentLogTest, OthersNeitherReadNorReport) {
  const auto history = Open();
  ExperimentLog log(*history);
  log.AddSubmitted(Submission(7), false);
  EXPECT_FALSE(log.Report(Result(7, 1), 555, std::nullopt));
  EXPECT_FALSE(log.Report(Result(8, 1), kAnn, std::nullopt));
  EXPECT_FALSE(log.Find(7, 555));
  EXPECT_TRUE(log.NewestOfUser(555, 10).empty());
  EXPECT_FALSE(log.Find(7, kAnn)->outcome);
}

TEST_F(ExperimentLogTest, TheNewestComeFirst) {
  const auto history = Open();
  ExperimentLog log(*history);
  for (int64_t id = 1; id <= 5; ++id) log.AddSubmitted(Submission(id, kSnapshotTime + id), false);
  const auto rows = log.NewestOfUser(kAnn, 2);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].job_id, 5);
  EXPECT_EQ(rows[1].job_id, 4);
}

TEST_F(ExperimentLogTest, RowsThatCannotBeReadAreLeftOut) {
  const auto history = Open();
  history->Put(KeptExperiment{1, kAnn, kSnapshotTime, "{torn"});
  history->Put(KeptExperiment{7, kAnn, kSnapshotTime, ToText(Submission(7))});
  ExperimentLog log(*history);
  log.Load();
  EXPECT_EQ(log.NewestOfUser(kAnn, 10).size(), 1u);
}

}  // namespace
}  // namespace gpuadvise::daemon
