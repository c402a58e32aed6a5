#include "backtest/asked_again.h"

#include <gtest/gtest.h>

#include <vector>

namespace gpuadvise::backtest {
namespace {

// Of a job that starts `wait` seconds after it came, each forecast exact but for `late` seconds.
std::vector<AskedAgain> Said(int64_t job, double wait, double every, double late) {
  std::vector<AskedAgain> said;
  for (double age = 0; age < wait; age += every) {
    AskedAgain one;
    one.job_id = job;
    one.age = age;
    one.left = wait - age;
    one.p10 = one.p50 = one.p90 = one.left + late;
    said.push_back(one);
  }
  return said;
}

TEST(AskedAgain, APromiseThatHoldsNeitherDriftsNorJumps) {
  const auto scores = ScoresByAge(Said(1, 7'200, 600, 0));
  ASSERT_EQ(scores.size(), 4u);  // up to 10 min, 1 h, 4 h; all
  const AgainScores& all = scores.back();
  EXPECT_EQ(all.asked, 12);
  EXPECT_DOUBLE_EQ(all.drift, 0);
  EXPECT_DOUBLE_EQ(all.jumps, 0);
  EXPECT_DOUBLE_EQ(all.coverage_p50, 1);
  EXPECT_DOUBLE_EQ(all.median_abs_error, 0);
}

TEST(AskedAgain, AWaitThatIsAlwaysTheSameRecedesAsTheClockRuns) {
  std::vector<AskedAgain> said = Said(1, 36'000, 600, 0);
  for (AskedAgain& one : said) one.p50 = 5'000;
  const auto scores = ScoresByAge(said);
  EXPECT_DOUBLE_EQ(scores[1].drift, 1);      // from 10 min to 1 h: nothing but the clock moved
  EXPECT_DOUBLE_EQ(scores.back().jumps, 0);  // each time by ten minutes only
}

TEST(AskedAgain, WhatComesTooEarlyComesNearerAtItsStart) {
  const auto scores = ScoresByAge(Said(1, 6'000, 600, 3'000));
  EXPECT_DOUBLE_EQ(scores.front().drift, 0);
  EXPECT_DOUBLE_EQ(scores.back().drift, -0.5);  // 3,000 s at its end, of 6,000 that passed
}

TEST(AskedAgain, AP50ThatIsElsewhereTheNextTimeIsAJump) {
  std::vector<AskedAgain> said = Said(1, 7'200, 600, 0);
  said[5].p50 = 20'000;
  // To the sixth and back from it, of eleven steps.
  EXPECT_NEAR(ScoresByAge(said).back().jumps, 2.0 / 11, 1e-9);
}

TEST(AskedAgain, WhoNeverStartsCountsInNoCoverage) {
  std::vector<AskedAgain> said = Said(1, 1'200, 600, 0);
  for (AskedAgain& one : said) one.started = false;
  const AgainScores all = ScoresByAge(said).back();
  EXPECT_EQ(all.asked, 2);
  EXPECT_DOUBLE_EQ(all.coverage_p90, 0);
  EXPECT_DOUBLE_EQ(all.drift, 0);  // its one step, which held
}

TEST(AskedAgain, AShortBurstWeighsAsMuchAsAJobAlone) {
  std::vector<AskedAgain> said = Said(1, 1'200, 600, 0);
  for (int64_t job = 2; job <= 11; ++job) {
    for (AskedAgain& one : Said(job, 1'200, 600, -601)) {
      one.weight = 0.1;
      said.push_back(one);
    }
  }
  EXPECT_NEAR(ScoresByAge(said).front().coverage_p50, 0.5, 1e-9);
}

}  // namespace
}  // namespace gpuadvise::backtest
