#include "client/run/outcome_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/fakes/temporary_folder.h"

namespace gpuadvise::client {
namespace {

using testing::HasSubstr;

Outcome OutcomeOfJob(int64_t job_id, size_t attempts = 1) {
  Outcome outcome;
  outcome.job_id = job_id;
  outcome.attempts.resize(attempts);
  return outcome;
}

std::string WhyNot(const std::string& path) {
  const auto outcome = ReadOutcomeFile(path, ::geteuid());
  return outcome ? "" : outcome.error().message;
}

TEST(OutcomeFile, IsReadAsItWasWritten) {
  const TemporaryFolder folder;
  ASSERT_TRUE(WriteOutcome(OutcomeOfJob(7, 2), folder.Path("")));
  const auto outcome = ReadOutcomeFile(folder.Path(kOutcomeFile), ::geteuid());
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->job_id, 7);
  EXPECT_EQ(outcome->attempts.size(), 2u);
}

TEST(OutcomeFile, ThatOfAnotherJobIsKept) {
  const TemporaryFolder folder;
  ASSERT_TRUE(WriteOutcome(OutcomeOfJob(7), folder.Path("")));
  ASSERT_TRUE(WriteOutcome(OutcomeOfJob(8), folder.Path("")));
  ASSERT_TRUE(WriteOutcome(OutcomeOfJob(8, 2), folder.Path("")));
  EXPECT_EQ(ReadOutcomeFile(folder.Path("gpuadvise-outcome-7.json"), ::geteuid())->job_id, 7);
  EXPECT_EQ(ReadOutcomeFile(folder.Path(kOutcomeFile), ::geteuid())->attempts.size(), 2u);
}

TEST(OutcomeFile, StartsBeforeARequeueAreGoneOnFromAndNothingElse) {
  const TemporaryFolder folder;
  Outcome outcome = OutcomeOfJob(7, 2);
  outcome.restarts = 1;
  ASSERT_TRUE(WriteOutcome(outcome, folder.Path("")));
  EXPECT_EQ(EarlierAttempts(folder.Path(""), 7, 2).size(), 2u);
  EXPECT_EQ(EarlierAttempts(folder.Path(""), 7, 1).size(), 0u) << "another run in the same job";
  EXPECT_EQ(EarlierAttempts(folder.Path(""), 8, 2).size(), 0u);
  EXPECT_EQ(EarlierAttempts(folder.Path("nowhere"), 7, 2).size(), 0u);
}

TEST(OutcomeFile, OfMoreStartsThanCanBeReadTheNewestAreWritten) {
  const TemporaryFolder folder;
  Outcome outcome = OutcomeOfJob(7, kMostAttempts + 3);
  outcome.attempts.back().began = 99;
  ASSERT_TRUE(WriteOutcome(outcome, folder.Path("")));
  const auto read = ReadOutcomeFile(folder.Path(kOutcomeFile), ::geteuid());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->attempts.size(), kMostAttempts);
  EXPECT_EQ(read->attempts.back().began, 99);
}

TEST(OutcomeFile, WhatATrainingsLogSaidThatCannotBeIsLeftOut) {
  const TemporaryFolder folder;
  Outcome outcome = OutcomeOfJob(7);
  outcome.attempts[0].steps = int64_t{1} << 60;
  outcome.attempts[0].loss = 1.7e308;
  outcome.attempts[0].seconds_per_step = -3;
  ASSERT_TRUE(WriteOutcome(outcome, folder.Path("")));
  EXPECT_TRUE(ReadOutcomeFile(folder.Path(kOutcomeFile), ::geteuid()));
}

TEST(OutcomeFile, ALinkInTheWayIsNotFollowed) {
  const TemporaryFolder folder;
  folder.Write("victim", "mine");
  std::filesystem::create_symlink(folder.Path("victim"), folder.Path(kOutcomeFile));
  ASSERT_TRUE(WriteOutcome(OutcomeOfJob(7), folder.Path("")));
  EXPECT_FALSE(std::filesystem::is_symlink(folder.Path(kOutcomeFile)));
  EXPECT_EQ(std::filesystem::file_size(folder.Path("victim")), 4u);
}

TEST(OutcomeFile, WhatIsNoFileOfOnesOwnIsRefusedWithoutWaiting) {
  const TemporaryFolder folder;
  EXPECT_THAT(WhyNot(folder.Path("none")), HasSubstr("cannot be opened"));
  ASSERT_EQ(::mkfifo(folder.Path("pipe").c_str(), 0600), 0);
  EXPECT_THAT(WhyNot(folder.Path("pipe")), HasSubstr("not a regular file"));
  std::filesystem::create_symlink("/etc/passwd", folder.Path("link"));
  EXPECT_THAT(WhyNot(folder.Path("link")), HasSubstr("it is a link"));
  EXPECT_THAT(WhyNot(folder.Path("")), HasSubstr("not a regular file"));
  std::ofstream(folder.Path("huge")) << std::string(kMaxOutcomeBytes + 1, ' ');
  EXPECT_THAT(WhyNot(folder.Path("huge")), HasSubstr("longer than"));
  std::ofstream(folder.Path("cut")) << R"({"version": 1, "job_id": "7", "att)";
  EXPECT_THAT(WhyNot(folder.Path("cut")), HasSubstr("it is not valid JSON"));
  if (::geteuid() == 0) {
    std::ofstream(folder.Path("theirs")) << "{}";
    ASSERT_EQ(::chown(folder.Path("theirs").c_str(), 12345, 12345), 0);
    EXPECT_THAT(WhyNot(folder.Path("theirs")), HasSubstr("belongs to somebody else"));
  }
}

class Reporting : public testing::Test {
 protected:
  OutcomeReport Report(const std::string& folder, const std::string& site_folder = "") {
    return OutcomeReport(
        folder, site_folder,
        [this](const Outcome& outcome) -> Result<void> {
          ++tried_;
          now_ += takes_;
          if (!answers_) return Fail(ErrorCode::kUnavailable, "nobody");
          sent_.push_back(outcome);
          return {};
        },
        [this] { return now_; }, [this](double seconds) { paused_ += seconds; });
  }

  // The outcome in the folder; "" none.
  std::string Left() const {
    const std::string begin = "gpuadvise-outcome-" + std::to_string(::geteuid()) + "-7-";
    for (const auto& entry : std::filesystem::directory_iterator(folder_.Path(""))) {
      if (entry.path().filename().string().starts_with(begin)) return entry.path().string();
    }
    return "";
  }

  TemporaryFolder folder_;
  bool answers_ = true;
  double takes_ = 0;
  double now_ = 0;
  double paused_ = 0;
  int tried_ = 0;
  std::vector<Outcome> sent_;
};

TEST_F(Reporting, GoesToFileAndDaemon) {
  Outcome running = OutcomeOfJob(7);
  running.running = true;
  OutcomeReport report = Report(folder_.Path(""));
  report.Progress(running);
  EXPECT_TRUE(ReadOutcomeFile(folder_.Path(kOutcomeFile), ::geteuid())->running);
  EXPECT_TRUE(report.End(OutcomeOfJob(7)));
  EXPECT_FALSE(ReadOutcomeFile(folder_.Path(kOutcomeFile), ::geteuid())->running);
  EXPECT_EQ(sent_.size(), 2u);
}

TEST_F(Reporting, ADaemonThatAnswersSlowlyIsNotAskedAgainWhileTheTrainingRuns) {
  takes_ = 1;
  OutcomeReport report = Report(folder_.Path(""));
  for (int i = 0; i < 5; ++i) report.Progress(OutcomeOfJob(7));
  EXPECT_EQ(tried_, 1);
  EXPECT_TRUE(report.End(OutcomeOfJob(7)));
  EXPECT_EQ(tried_, 2);
}

TEST_F(Reporting, ADaemonThatIsAwayIsAskedAgainAfterEverLongerWaits) {
  answers_ = false;
  OutcomeReport report = Report(folder_.Path(""));
  std::vector<double> tries;
  for (; now_ < 4'000; now_ += 60) {
    const int before = tried_;
    report.Progress(OutcomeOfJob(7));
    if (tried_ > before) tries.push_back(now_);
  }
  EXPECT_EQ(tries, (std::vector<double>{0, 60, 180, 420, 900, 1860, 2820, 3780}));
  answers_ = true;
  now_ = 5'000;
  report.Progress(OutcomeOfJob(7));
  now_ += 60;
  report.Progress(OutcomeOfJob(7));
  EXPECT_EQ(sent_.size(), 2u) << "heard again, every report is";
}

TEST_F(Reporting, TheLastReportIsTriedThreeTimesWithinSeconds) {
  OutcomeReport report = Report(folder_.Path(""));
  report.Progress(OutcomeOfJob(7));
  answers_ = false;
  EXPECT_TRUE(report.End(OutcomeOfJob(7)));
  EXPECT_EQ(tried_, 1 + 3);
  EXPECT_GT(paused_, 1);
  EXPECT_LT(paused_, 5);
  EXPECT_TRUE(Report(folder_.Path("")).End(OutcomeOfJob(7)));
  EXPECT_EQ(tried_, 1 + 3 + 1) << "where nobody was ever heard of nobody waits";
}

TEST_F(Reporting, OutsideOfSlurmNobodyIsAsked) {
  OutcomeReport report = Report(folder_.Path(""));
  EXPECT_TRUE(report.End(OutcomeOfJob(0)));
  EXPECT_EQ(tried_, 0);
}

TEST_F(Reporting, WhatTheDaemonDoesNotHearIsLeftInTheSitesFolderForItToRead) {
  EXPECT_TRUE(Report("/proc/nowhere", folder_.Path("")).End(OutcomeOfJob(7)));
  EXPECT_EQ(Left(), "") << "the daemon heard of it";
  answers_ = false;
  const mode_t before = ::umask(077);
  EXPECT_TRUE(Report("/proc/nowhere", folder_.Path("")).End(OutcomeOfJob(7)));
  ::umask(before);
  struct stat about {};
  ASSERT_EQ(::stat(Left().c_str(), &about), 0) << Left();
  EXPECT_EQ(about.st_mode & 0777, 0644u);
}

TEST_F(Reporting, OnlyWhereNeitherHearsOfItThatIsAnError) {
  EXPECT_TRUE(Report("/proc/nowhere").End(OutcomeOfJob(7)));
  answers_ = false;
  EXPECT_TRUE(Report(folder_.Path("")).End(OutcomeOfJob(7)));
  EXPECT_FALSE(Report("/proc/nowhere").End(OutcomeOfJob(7)));
}

}  // namespace
}  // namespace gpuadvise::client
