#include "backtest/scoring.h"

#include <gtest/gtest.h>

#include <cmath>

namespace gpuadvise::backtest {
namespace {

Scored JobWith(double wait, double said, double weight = 1) {
  Scored job;
  job.group = WaitGroup::kNotFree;
  job.weight = weight;
  job.wait = wait;
  job.said.fill(ReduceForecast(WaitDistribution::At(said)));
  return job;
}

std::vector<const Scored*> Pointers(const std::vector<Scored>& jobs) {
  return InGroup(jobs, ScoreGroup::kAll);
}

TEST(Crps, OfAPointIsHalfItsError) {
  // The pinball losses of a point at all of seven symmetric quantiles average to half the error.
  const PublishedForecast said = ReduceForecast(WaitDistribution::At(100));
  EXPECT_NEAR(CrpsSeconds(said, 300), 100, 1e-4);
  EXPECT_NEAR(CrpsSeconds(said, 40), 30, 1e-4);
  EXPECT_NEAR(CrpsLog(said, 260), 0.5 * std::log(320.0 / 160), 1e-6);
  EXPECT_EQ(CrpsSeconds(said, 100), 0);
}

TEST(Crps, ByHandForThreeSamples) {
  // Quantiles of {0, 10, 20}: .05 .1 .25 -> 0, .5 -> 10, .75 .9 .95 -> 20; the wait is 10.
  const PublishedForecast said = ReduceForecast(WaitDistribution::OfSamples({0, 10, 20}));
  const double by_hand = (10 * (0.05 + 0.1 + 0.25) + 0 + 10 * (0.25 + 0.1 + 0.05)) / 7;
  EXPECT_NEAR(CrpsSeconds(said, 10), by_hand, 1e-5);
}

TEST(ComputeScores, CountsByWeight) {
  const std::vector<Scored> jobs = {JobWith(0, 0, 1), JobWith(1000, 0, 3)};
  const Scores scores = ComputeScores(Pointers(jobs), 0);
  EXPECT_EQ(scores.jobs, 2);
  EXPECT_NEAR(scores.crps_seconds, 375, 1e-6);
  EXPECT_EQ(scores.median_abs_error_seconds, 1000);
  EXPECT_EQ(scores.waited_abs_error_seconds, 1000);
  EXPECT_NEAR(scores.within_60s, 0.25, 1e-9);
  EXPECT_NEAR(scores.within_3600s, 1, 1e-9);
  EXPECT_NEAR(scores.brier_60s, 0.75,
              1e-9);  // said "within a minute" for sure, wrong for three of four
}

TEST(ComputeScores, CoverageIsAmongForecastsOfMoreThanAMinute) {
  const std::vector<Scored> jobs = {JobWith(0, 30), JobWith(50, 100), JobWith(150, 100)};
  const Scores scores = ComputeScores(Pointers(jobs), 0);
  EXPECT_EQ(scores.covered_jobs, 2);
  EXPECT_NEAR(scores.coverage_p90, 0.5, 1e-9);
}

TEST(ComputeScores, AJobThatStillWaitsPastItsP90IsAMissAndBeforeThatNothing) {
  Scored young = JobWith(50, 100);
  young.started = false;
  Scored old = JobWith(5000, 100);
  old.started = false;
  const std::vector<Scored> jobs = {young, old, JobWith(90, 100)};
  const Scores scores = ComputeScores(Pointers(jobs), 0);
  EXPECT_EQ(scores.jobs, 1);
  EXPECT_EQ(scores.covered_jobs, 2);
  EXPECT_NEAR(scores.coverage_p90, 0.5, 1e-9);
}

TEST(ComputeScores, NobodyGivesNothing) {
  const Scores scores = ComputeScores({}, 0);
  EXPECT_EQ(scores.jobs, 0);
  EXPECT_EQ(scores.crps_log, 0);
}

TEST(InGroup, TheLastTwoTogetherDoNotFit) {
  std::vector<Scored> jobs(3);
  jobs[0].group = WaitGroup::kFitsNow;
  jobs[1].group = WaitGroup::kFreeButQueued;
  jobs[2].group = WaitGroup::kNotFree;
  EXPECT_EQ(InGroup(jobs, ScoreGroup::kAll).size(), 3u);
  EXPECT_EQ(InGroup(jobs, ScoreGroup::kDoesNotFitNow).size(), 2u);
  EXPECT_EQ(InGroup(jobs, ScoreGroup::kNotFree).size(), 1u);
  EXPECT_EQ(InGroup(jobs, ScoreGroup::kFitsNow).size(), 1u);
}

TEST(RatioToBest, NamesTheBestBaseline) {
  std::vector<Scored> jobs;
  for (int i = 0; i < 40; ++i) {
    Scored job = JobWith(1000, 0);
    job.week = i / 10;
    job.said[0] = ReduceForecast(WaitDistribution::At(900));
    job.said[3] = ReduceForecast(WaitDistribution::At(800));
    jobs.push_back(job);
  }
  const Ratio ratio = RatioToBest(Pointers(jobs), Loss::kCrpsSeconds, 1);
  EXPECT_EQ(ratio.best_baseline, "like_states");
  EXPECT_NEAR(ratio.ratio, 0.5, 1e-6);
  EXPECT_NEAR(ratio.low, 0.5, 1e-6);
  EXPECT_NEAR(ratio.high, 0.5, 1e-6);
}

TEST(WorstSoFar, IsFoundFromTheTwoHundredthJobOn) {
  std::vector<Scored> jobs;
  for (int i = 0; i < 400; ++i) {
    Scored job = JobWith(1000, 0);  // every baseline is off by 1,000 s
    // The product is bad at first, which counts only in the sum, and good later.
    job.said[0] = ReduceForecast(WaitDistribution::At(i < 100 ? 5000 : 1000));
    jobs.push_back(job);
  }
  const double at_200 =
      100 * CrpsSeconds(jobs[0].said[0], 1000) / (200 * CrpsSeconds(jobs[0].said[1], 1000));
  EXPECT_NEAR(WorstSoFar(Pointers(jobs), Loss::kCrpsSeconds), at_200, 1e-6);
  jobs.resize(199);
  EXPECT_EQ(WorstSoFar(Pointers(jobs), Loss::kCrpsSeconds), 0);
}

TEST(WithinQuantile, AWaitThatWasSaidWithSomeProbabilityIsShared) {
  const Place place = PlaceIn(WaitDistribution::OfSamples({0, 0, 0, 700}), 0);
  EXPECT_NEAR(WithinQuantile(place, 0.1), 0.1 / 0.75, 1e-6);
  EXPECT_EQ(WithinQuantile(place, 0.9), 1);
  const Place between = PlaceIn(WaitDistribution::OfSamples({0, 0, 0, 700}), 100);
  EXPECT_EQ(WithinQuantile(between, 0.5), 0);
  EXPECT_EQ(WithinQuantile(between, 0.75), 1);
}

TEST(ComputeScores, PlacesOfAForecastThatIsRightAreItsQuantilesWhereManyStartAtOnce) {
  const auto said = WaitDistribution::OfSamples({0, 0, 0, 700});
  std::vector<Scored> jobs;
  for (const double wait : {0.0, 0.0, 0.0, 700.0}) {
    Scored job = JobWith(wait, 0);
    job.said.fill(ReduceForecast(said));
    job.places.fill(PlaceIn(said, wait));
    jobs.push_back(job);
  }
  const Scores scores = ComputeScores(Pointers(jobs), 0);
  EXPECT_NEAR(scores.coverage_p50, 0.75, 1e-6);
  EXPECT_NEAR(scores.place_p10, 0.1, 1e-6);
  EXPECT_NEAR(scores.place_p50, 0.5, 1e-6);
  EXPECT_NEAR(scores.place_p90, 0.9, 1e-6);
}

TEST(ToBestPart, IsOfAllAndOfTheWorstSpan) {
  std::vector<Scored> jobs;
  for (int i = 0; i < 1500; ++i) {
    Scored job = JobWith(1000, 0);
    job.said[0] = ReduceForecast(WaitDistribution::At(500));
    // The forest is best in the last span alone, and the simulation as good as the product before.
    job.said[7] = ReduceForecast(WaitDistribution::At(i < 1000 ? 0 : 750));
    job.said[6] = ReduceForecast(WaitDistribution::At(i < 1000 ? 500 : 0));
    jobs.push_back(job);
  }
  const AgainstParts against = ToBestPart(Pointers(jobs), Loss::kCrpsSeconds);
  EXPECT_EQ(against.best_part, "simulation");
  EXPECT_NEAR(against.ratio, 750.0 / 1000, 1e-6);
  EXPECT_NEAR(against.worst_span, 2, 1e-6);
  jobs.resize(499);
  EXPECT_EQ(ToBestPart(Pointers(jobs), Loss::kCrpsSeconds).worst_span, 0);
}

}  // namespace
}  // namespace gpuadvise::backtest
