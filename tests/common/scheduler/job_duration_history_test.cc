#include "common/history/job_duration_history.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "common/scheduler/job_duration_draw.h"

namespace gpuadvise {
namespace {

constexpr int64_t kHour = 3600;

JobRecord JobOf(const std::string& user, int64_t limit_hours, const std::string& name = "") {
  JobRecord job;
  job.user = user;
  job.name = name;
  job.account = "lab";
  job.partition = "main";
  job.gpus = 1;
  job.limit_seconds = limit_hours * kHour;
  return job;
}

// `times` jobs that ran so long, an hour apart.
void Ran(RunTimeHistory& history, JobRecord job, int64_t seconds, int times) {
  for (int i = 0; i < times; ++i) {
    job.submit = job.submit + kHour;
    job.start = job.submit;
    job.end = *job.start + seconds;
    history.Ended(job);
  }
}

TEST(RunTimeBin, CoversSecondsToMonths) {
  EXPECT_EQ(RunTimeBin(0), 0);
  EXPECT_EQ(RunTimeBin(1), 0);
  EXPECT_EQ(RunTimeBin(2), kRunTimeBinsPerOctave);
  EXPECT_EQ(RunTimeBin(1e18), kRunTimeBins - 1);
  for (int bin = 1; bin < kRunTimeBins; ++bin) {
    EXPECT_EQ(RunTimeBin(RunTimeBinStart(bin) * 1.001), bin);
  }
}

TEST(RunTimeDistribution, ExactlyIsExact) {
  const auto exact = RunTimeDistribution::Exactly(500);
  EXPECT_EQ(exact.Quantile(0.01), 500);
  EXPECT_EQ(exact.Quantile(0.99), 500);
  EXPECT_EQ(exact.Cdf(499), 0);
  EXPECT_EQ(exact.Cdf(500), 1);
  EXPECT_EQ(exact.Mean(), 500);
}

RunTimeHistogram DrawHistogram() {
  RunTimeHistogram weights{};
  for (int i = 0; i < 5; ++i) {
    weights[static_cast<size_t>(*rc::gen::inRange(0, kRunTimeBins + 1))] +=
        static_cast<float>(*rc::gen::inRange(1, 9));
  }
  return weights;
}

RC_GTEST_PROP(RunTimeDistribution, QuantileAndCdfAreInverse, ()) {
  const RunTimeDistribution runs(DrawHistogram(), *rc::gen::inRange(60, 400'000));
  for (const double u : {0.01, 0.2, 0.5, 0.77, 0.99}) {
    const double at = runs.Quantile(u);
    RC_ASSERT(runs.Cdf(at * 1.0001 + 0.001) >= u - 1e-3);
    RC_ASSERT(runs.Cdf(at * 0.9999 - 0.001) <= u + 1e-3);
  }
}

RC_GTEST_PROP(RunTimeDistribution, NobodyOutlivesTheLimit, ()) {
  const int64_t limit = *rc::gen::inRange(60, 400'000);
  const RunTimeDistribution runs(DrawHistogram(), limit);
  RC_ASSERT(runs.Quantile(1.0) <= static_cast<double>(limit));
  RC_ASSERT(runs.Cdf(static_cast<double>(limit)) == 1);
  RC_ASSERT(runs.Mean() <= static_cast<double>(limit) + 1e-6);
}

TEST(RunTimeHistory, ANewSiteStartsFromThePrior) {
  const RunTimeHistory history;
  const RunTimeDistribution runs = history.Of(JobOf("ann", 10));
  // Half of Graham's GPU jobs ran for at most 22 % of their limit; 6 % until it.
  EXPECT_NEAR(runs.Quantile(0.5), 0.22 * 10 * kHour, 0.06 * 10 * kHour);
  EXPECT_NEAR(1 - runs.Cdf(0.99 * 10 * kHour), 0.06, 0.03);
  EXPECT_EQ(history.LastTwo(JobOf("ann", 10)), 10.0 * kHour);
}

TEST(RunTimeHistory, AUserWhoRepeatsThemselvesIsBelieved) {
  RunTimeHistory history;
  Ran(history, JobOf("ann", 10), 1000, 30);
  const RunTimeDistribution runs = history.Of(JobOf("ann", 10));
  EXPECT_NEAR(runs.Quantile(0.5), 1000, 150);
  EXPECT_GT(runs.Quantile(0.9), 800);
  EXPECT_LT(runs.Quantile(0.8), 1300);
}

TEST(RunTimeHistory, OthersAreTakenForWhatOthersDoRelativeToTheLimit) {
  RunTimeHistory history;
  for (int user = 0; user < 30; ++user) {
    Ran(history, JobOf("u" + std::to_string(user), 10), 5 * kHour, 3);
  }
  const RunTimeDistribution runs = history.Of(JobOf("new", 10));
  EXPECT_NEAR(runs.Quantile(0.5), 5.0 * kHour, 1.0 * kHour);
}

TEST(RunTimeHistory, AUserWhoAlwaysAsksForTwiceTheTimeIsKnownByThat) {
  RunTimeHistory history;
  for (int64_t hours = 1; hours <= 20; ++hours) {
    Ran(history, JobOf("ann", hours), hours * kHour / 2, 1);
    Ran(history, JobOf("bob", hours), hours * kHour / 10, 1);
  }
  EXPECT_NEAR(history.Of(JobOf("ann", 30)).Quantile(0.5), 15.0 * kHour, 3.0 * kHour);
  EXPECT_NEAR(history.Of(JobOf("bob", 30)).Quantile(0.5), 3.0 * kHour, 1.0 * kHour);
}

TEST(RunTimeHistory, AJobNameSaysMoreThanItsUser) {
  RunTimeHistory history;
  for (int i = 0; i < 20; ++i) {
    Ran(history, JobOf("ann", 10, "short"), 100, 1);
    Ran(history, JobOf("ann", 10, "long"), 20'000, 1);
  }
  EXPECT_NEAR(history.Of(JobOf("ann", 10, "short")).Quantile(0.5), 100, 30);
  EXPECT_NEAR(history.Of(JobOf("ann", 10, "long")).Quantile(0.5), 20'000, 4000);
}

TEST(RunTimeHistory, TheSpikeAtTheLimitIsKept) {
  RunTimeHistory history;
  Ran(history, JobOf("ann", 2), 2 * kHour + 5, 20);
  const RunTimeDistribution runs = history.Of(JobOf("ann", 2));
  EXPECT_LT(runs.Cdf(2.0 * kHour - 1), 0.4);
  EXPECT_EQ(runs.Quantile(0.7), 2.0 * kHour);
}

TEST(RunTimeHistory, JobsThatStillRunAreEvidenceOfLongerOnes) {
  RunTimeHistory history;
  Ran(history, JobOf("ann", 100), 600, 5);
  const double before = history.Of(JobOf("ann", 100)).Cdf(2.0 * kHour);
  std::vector<JobRecord> running(5, JobOf("ann", 100));
  for (JobRecord& job : running) job.start = 0;
  history.SetRunning(running, 10 * kHour);
  EXPECT_LT(history.Of(JobOf("ann", 100)).Cdf(2.0 * kHour), before - 0.2);
  history.SetRunning({}, 11 * kHour);
  EXPECT_EQ(history.Of(JobOf("ann", 100)).Cdf(2.0 * kHour), before);
}

TEST(RunTimeHistory, LastTwoIsTheMeanOfTheUsersLastTwoWithinTheLimit) {
  RunTimeHistory history;
  Ran(history, JobOf("ann", 10), 5000, 1);
  EXPECT_EQ(history.LastTwo(JobOf("ann", 10)), 5000);
  Ran(history, JobOf("ann", 10), 1000, 1);
  EXPECT_EQ(history.LastTwo(JobOf("ann", 10)), 3000);
  EXPECT_EQ(history.LastTwo(JobOf("bob", 3)), 3.0 * kHour);
  JobRecord quick = JobOf("ann", 0);
  quick.limit_seconds = 600;
  EXPECT_EQ(history.LastTwo(quick), 600);
}

TEST(RunTimeHistory, AClockThatRanBackwardsIsLeftOut) {
  RunTimeHistory history;
  JobRecord job = JobOf("ann", 1);
  job.start = 100;
  job.end = 50;
  history.Ended(job);
  EXPECT_EQ(history.jobs(), 0);
}

// ---- drawing ---------------------------------------------------------------------------------

RunTimeDistribution Wide() {
  RunTimeHistogram weights{};
  for (int bin = 60; bin < 120; ++bin) weights[static_cast<size_t>(bin)] = 1;
  return {weights, 1'000'000};
}

TEST(DrawRunTimes, TheSameSeedAndSampleDrawTheSame) {
  const RunTimeDistribution wide = Wide();
  const std::vector<RunTimeQuestion> questions = {
      {1, 5, 0, &wide}, {2, 5, 900, &wide}, {3, -1, 0, &wide}, {4, -1, 0, nullptr}};
  EXPECT_EQ(DrawRunTimes(questions, 7, 3), DrawRunTimes(questions, 7, 3));
  EXPECT_NE(DrawRunTimes(questions, 7, 3), DrawRunTimes(questions, 7, 4));
  EXPECT_EQ(DrawRunTimes(questions, 7, 3)[3], 0);
}

TEST(DrawRunTimes, NobodyHasRunLessThanTheyHaveAlready) {
  const RunTimeDistribution wide = Wide();
  for (uint64_t sample = 0; sample < 50; ++sample) {
    const std::vector<RunTimeQuestion> questions = {{1, 5, 5000, &wide}, {2, -1, 5000, &wide}};
    for (const double time : DrawRunTimes(questions, 1, sample)) EXPECT_GE(time, 5000 * 0.99);
  }
}

// Share of samples in which both jobs lie on the same side of the median.
double Together(int32_t burst_of_second) {
  const RunTimeDistribution wide = Wide();
  const double middle = wide.Quantile(0.5);
  int together = 0;
  for (uint64_t sample = 0; sample < 2000; ++sample) {
    const std::vector<RunTimeQuestion> questions = {{1, 5, 0, &wide},
                                                    {2, burst_of_second, 0, &wide}};
    const auto times = DrawRunTimes(questions, 1, sample);
    together += (times[0] > middle) == (times[1] > middle);
  }
  return together / 2000.0;
}

TEST(DrawRunTimes, JobsSubmittedTogetherRunAlike) {
  EXPECT_NEAR(Together(-1), 0.5, 0.04);
  EXPECT_GT(Together(5), 0.62);
}

TEST(DrawRunTimes, AFellowThatRunsOnMeansALongerRunForThoseToCome) {
  const RunTimeDistribution wide = Wide();
  double alone = 0;
  double warned = 0;
  for (uint64_t sample = 0; sample < 500; ++sample) {
    const std::vector<RunTimeQuestion> young = {{1, 5, 0, &wide}, {2, 5, 0, &wide}};
    const std::vector<RunTimeQuestion> old = {{1, 5, wide.Quantile(0.9), &wide}, {2, 5, 0, &wide}};
    alone += DrawRunTimes(young, 1, sample)[1];
    warned += DrawRunTimes(old, 1, sample)[1];
  }
  EXPECT_GT(warned, 1.3 * alone);
}

TEST(DrawRunTimes, EveryJobKeepsItsOwnDistribution) {
  const RunTimeDistribution wide = Wide();
  int below = 0;
  for (uint64_t sample = 0; sample < 2000; ++sample) {
    const std::vector<RunTimeQuestion> questions = {{1, 5, 0, &wide}, {2, 5, 0, &wide}};
    below += DrawRunTimes(questions, 1, sample)[1] <= wide.Quantile(0.25);
  }
  EXPECT_NEAR(below / 2000.0, 0.25, 0.04);
}

}  // namespace
}  // namespace gpuadvise
