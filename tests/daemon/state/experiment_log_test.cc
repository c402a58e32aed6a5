#include "daemon/state/experiment_log.h"

#include <gtest/gtest.h>

#include "tests/daemon/fake_clock.h"
#include "tests/daemon/store/past_jobs.h"
#include "tests/daemon/temp_folder.h"

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
    log.AddSubmitted(Submission(7));
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
  log.AddSubmitted(Submission(7));
  EXPECT_FALSE(log.Find(7, kAnn)->times.end);
  history->Put({WholeJob(7)});
  EXPECT_EQ(log.NewestOfUser(kAnn, 10).front().times.end, kSnapshotTime + 4'000);
}

TEST_F(ExperimentLogTest, AnEndThatAccountingTellsIsLearnedFromWithoutBeingAsked) {
  const auto history = Open();
  ExperimentLog log(*history);
  log.AddSubmitted(Submission(7));
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
  log.AddSubmitted(Submission(7));
  EXPECT_FALSE(log.Find(7, kAnn)->times.end);
  EXPECT_FALSE(log.Find(7, kAnn)->times.start);
}

TEST_F(ExperimentLogTest, AReportThatWasOvertakenChangesNothing) {
  const auto history = Open();
  ExperimentLog log(*history);
  log.AddSubmitted(Submission(7));
  ASSERT_TRUE(log.Report(Result(7, 3), kAnn, std::nullopt));
  ASSERT_TRUE(log.Report(Result(7, 2, true), kAnn, std::nullopt));
  EXPECT_EQ(log.Find(7, kAnn)->outcome->attempts.size(), 3u);
  EXPECT_FALSE(log.Find(7, kAnn)->outcome->running);
}

TEST_F(ExperimentLogTest, NothingIsLearnedFromARunThatGoesOn) {
  const auto history = Open();
  ExperimentLog log(*history);
  log.AddSubmitted(Submission(7));
  log.OnJobsChanged({WholeJob(7)});
  ASSERT_TRUE(log.Report(Result(7, 1, true), kAnn, std::nullopt));
  EXPECT_TRUE(log.learned()->empty());
  ASSERT_TRUE(log.Report(Result(7, 1), kAnn, std::nullopt));
  EXPECT_FALSE(log.learned()->empty());
}

TEST_F(ExperimentLogTest, AnImportedOldReportDoesNotReplaceTheEnd) {
  const auto history = Open();
  ExperimentLog log(*history);
  log.AddSubmitted(Submission(7));
  ASSERT_TRUE(log.Report(Result(7, 1), kAnn, std::nullopt));
  ASSERT_TRUE(log.Report(Result(7, 1, true), kAnn, std::nullopt));
  EXPECT_FALSE(log.Find(7, kAnn)->outcome->running);
}

TEST_F(ExperimentLogTest, AClaimToAnothersJobTouchesNothingOfIt) {
  const auto history = Open();
  ExperimentLog log(*history);
  log.AddSubmitted(Submission(7));
  Experiment claim = Submission(7);
  claim.uid = 555;
  claim.user = "eve";
  log.AddSubmitted(claim);
  log.OnJobsChanged({WholeJob(7)});
  EXPECT_TRUE(log.Find(7, kAnn)->times.end);
  EXPECT_FALSE(log.Find(7, 555)->times.start) << "it is ann's";
  ASSERT_TRUE(log.Report(Result(7, 1), kAnn, std::nullopt));
  EXPECT_FALSE(log.Find(7, 555)->outcome);
}

TEST_F(ExperimentLogTest, OneUserPushesOutNobodyElse) {
  const auto history = Open();
  ExperimentLog log(*history);
  log.AddSubmitted(Submission(7));
  for (size_t i = 0; i < ExperimentLog::kMostOfOne + 5; ++i) {
    Experiment flood = Submission(static_cast<int64_t>(100 + i), kSnapshotTime + 10);
    flood.uid = 555;
    log.AddSubmitted(flood);
  }
  EXPECT_TRUE(log.Find(7, kAnn));
  EXPECT_FALSE(log.Find(100, 555)) << "the oldest of them";
  EXPECT_EQ(log.NewestOfUser(555, 100'000).size(), ExperimentLog::kMostOfOne);
}

TEST_F(ExperimentLogTest, OthersNeitherReadNorReport) {
  const auto history = Open();
  ExperimentLog log(*history);
  log.AddSubmitted(Submission(7));
  EXPECT_FALSE(log.Report(Result(7, 1), 555, std::nullopt));
  EXPECT_FALSE(log.Report(Result(8, 1), kAnn, std::nullopt));
  EXPECT_FALSE(log.Find(7, 555));
  EXPECT_TRUE(log.NewestOfUser(555, 10).empty());
  EXPECT_FALSE(log.Find(7, kAnn)->outcome);
}

TEST_F(ExperimentLogTest, TheNewestComeFirst) {
  const auto history = Open();
  ExperimentLog log(*history);
  for (int64_t id = 1; id <= 5; ++id) log.AddSubmitted(Submission(id, kSnapshotTime + id));
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
