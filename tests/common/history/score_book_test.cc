// Scored forecasts, one by one and as figures.
#include "common/history/score_book.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "common/history/accuracy.h"

namespace gpuadvise {
namespace {

JobRecord JobOf(int64_t id, UnixSeconds eligible) {
  JobRecord job;
  job.id = id;
  job.partition = "main";
  job.gpu = "a100";
  job.gpus = 4;
  job.submit = eligible - 100;
  job.eligible = eligible;
  return job;
}

PublishedForecast Said(double p50, double p90) {
  PublishedForecast said;
  said.p50 = p50;
  said.p90 = p90;
  return said;
}

TEST(ScoreBook, AForecastIsScoredWhenItsJobStarts) {
  ScoreBook book;
  book.Said(JobOf(7, 1000), Said(60, 600));
  EXPECT_TRUE(book.scores().empty());
  book.Started(7, 1300);
  ASSERT_EQ(book.scores().size(), 1u);
  const StartScore& score = book.scores().front();
  EXPECT_EQ(score.job_id, 7);
  EXPECT_EQ(score.wait, 300);  // from when it could have started
  EXPECT_EQ(score.started_at, 1300);
  EXPECT_EQ(score.gpus, 4);
  EXPECT_EQ(score.said, Said(60, 600));
  EXPECT_FALSE(score.slurm_error_seconds);
}

TEST(ScoreBook, WhoLeavesOrWasNeverForecastIsNotScored) {
  ScoreBook book;
  book.Said(JobOf(7, 1000), Said(60, 600));
  book.Left(7);
  book.Started(7, 1300);
  book.Started(8, 1300);
  EXPECT_TRUE(book.scores().empty());
}

TEST(ScoreBook, AJobIsScoredOnceAndByTheLastForecast) {
  ScoreBook book;
  book.Said(JobOf(7, 1000), Said(60, 600));
  book.Said(JobOf(7, 1000), Said(5, 6));
  book.Started(7, 1300);
  book.Started(7, 1400);
  ASSERT_EQ(book.scores().size(), 1u);
  EXPECT_EQ(book.scores().front().said.p50, 5);
}

TEST(ScoreBook, OfSlurmTheFirstStartTimeCounts) {
  ScoreBook book;
  book.SlurmSaid(7, 5);  // of a job that nothing was said of
  book.Said(JobOf(7, 1000), Said(60, 600));
  book.SlurmSaid(7, 2000);
  book.SlurmSaid(7, 1300);
  book.Started(7, 1300);
  EXPECT_EQ(book.scores().front().slurm_error_seconds, 700);
}

TEST(ScoreBook, AStartBeforeItCouldIsNoWait) {
  ScoreBook book;
  book.Said(JobOf(7, 1000), Said(60, 600));
  book.Started(7, 900);
  EXPECT_EQ(book.scores().front().wait, 0);
}

TEST(ScoreBook, TheOldestGoWhenThereAreTooMany) {
  ScoreBook book;
  for (int64_t id = 1; id <= static_cast<int64_t>(kKeptScores) + 3; ++id) {
    book.Said(JobOf(id, 1000), Said(60, 600));
    book.Started(id, 1000 + id);
  }
  EXPECT_EQ(book.scores().size(), kKeptScores);
  EXPECT_EQ(book.scores().front().job_id, 4);
}

// ---- figures
// -------------------------------------------------------------------------------------

StartScore Score(double p50, double p90, double wait) {
  StartScore score;
  score.said = Said(p50, p90);
  score.wait = wait;
  return score;
}

Accuracy Of(const std::vector<StartScore>& scores) {
  std::vector<const StartScore*> all;
  for (const StartScore& score : scores) all.push_back(&score);
  return ComputeAccuracy(all);
}

TEST(Accuracy, OfNothingIsNothing) {
  const Accuracy none = Of({});
  EXPECT_EQ(none.jobs, 0);
  EXPECT_EQ(none.median_abs_error_seconds, 0);
  EXPECT_EQ(none.coverage_p90, 0);
}

TEST(Accuracy, CoverageIsAboutThoseThatWereSaidToWait) {
  const Accuracy accuracy = Of({Score(0, 60, 9000), Score(0, 60, 60),  // at once
                                Score(100, 200, 100), Score(100, 200, 200), Score(100, 200, 201)});
  EXPECT_EQ(accuracy.jobs, 5);
  EXPECT_EQ(accuracy.covered_jobs, 3);
  EXPECT_DOUBLE_EQ(accuracy.at_once, 0.5);
  EXPECT_DOUBLE_EQ(accuracy.coverage_p50, 1.0 / 3);
  EXPECT_DOUBLE_EQ(accuracy.coverage_p90, 2.0 / 3);
  EXPECT_DOUBLE_EQ(accuracy.within_600s, 4.0 / 5);
  EXPECT_EQ(accuracy.covered_median_abs_error_seconds, 100);
}

TEST(Accuracy, OursAndSlurmsErrorsAreOfTheSameJobs) {
  std::vector<StartScore> scores = {Score(0, 90, 5000), Score(0, 90, 10), Score(0, 90, 20)};
  scores[1].slurm_error_seconds = 300;
  scores[2].slurm_error_seconds = 400;
  const Accuracy accuracy = Of(scores);
  EXPECT_EQ(accuracy.slurm_jobs, 2);
  EXPECT_EQ(accuracy.slurm_median_abs_error_seconds, 400);
  EXPECT_EQ(accuracy.median_abs_error_seconds_beside_slurm, 20);
  EXPECT_EQ(accuracy.median_abs_error_seconds, 20);
}

TEST(SizeClass, DoublesFromOneGpuOn) {
  const std::vector<std::string> classes = {"0", "1", "2-3", "2-3", "4-7"};
  for (size_t gpus = 0; gpus < classes.size(); ++gpus) {
    EXPECT_EQ(GpuSizeClass(static_cast<int64_t>(gpus)), classes[gpus]);
  }
  EXPECT_EQ(GpuSizeClass(-1), "0");
  EXPECT_EQ(GpuSizeClass(7), "4-7");
  EXPECT_EQ(GpuSizeClass(8), "8-15");
  EXPECT_EQ(GpuSizeClass(1000), "512-1023");
}

TEST(DescribeAccuracy, WaitsForEnoughOfEachKind) {
  const auto words = [](int at_once, int waits) {
    std::vector<StartScore> scores(static_cast<size_t>(at_once), Score(0, 10, 0));
    scores.resize(scores.size() + static_cast<size_t>(waits), Score(100, 200, 150));
    return DescribeAccuracy(Of(scores));
  };
  EXPECT_TRUE(words(10, 19).starts_with("accuracy not known yet (29 of 30 ")) << words(10, 19);
  EXPECT_NE(words(40, 29).find("accuracy of waits not known yet (29 of 30"), std::string::npos);
  EXPECT_EQ(words(0, 30).find("at once"), std::string::npos);
  EXPECT_NE(words(0, 30).find("100 % of 30 jobs forecast to wait"), std::string::npos)
      << words(0, 30);
}

RC_GTEST_PROP(Accuracy, SharesAndMediansAreThoseOfCountingAndSorting, ()) {
  std::vector<StartScore> scores;
  for (int i = *rc::gen::inRange(1, 20); i > 0; --i) {
    const double p50 = *rc::gen::inRange(0, 300);
    scores.push_back(Score(p50, p50 + *rc::gen::inRange(0, 300), *rc::gen::inRange(0, 2000)));
  }
  std::vector<double> errors;
  double waits = 0, by_p90 = 0;
  for (const StartScore& score : scores) {
    errors.push_back(std::abs(score.said.p50 - score.wait));
    if (score.said.p90 <= kPredictsWaitSeconds) continue;
    ++waits;
    by_p90 += score.wait <= score.said.p90 ? 1 : 0;
  }
  std::sort(errors.begin(), errors.end());
  const Accuracy accuracy = Of(scores);
  RC_ASSERT(accuracy.median_abs_error_seconds == errors[errors.size() / 2]);
  RC_ASSERT(static_cast<double>(accuracy.covered_jobs) == waits);
  RC_ASSERT(accuracy.coverage_p90 == (waits > 0 ? by_p90 / waits : 0));
  RC_ASSERT(accuracy.coverage_p50 <= accuracy.coverage_p90);
}

}  // namespace
}  // namespace gpuadvise
