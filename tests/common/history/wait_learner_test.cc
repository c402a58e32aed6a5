#include "common/history/wait_learner.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "common/base/job_random.h"
#include "common/base/statistics.h"
#include "common/history/conformal.h"
#include "common/history/expert_pool.h"
#include "common/history/quantile_forest.h"
#include "common/history/wait_features.h"
#include "common/history/wait_history.h"
#include "tests/fakes/snapshot_text.h"

namespace gpuadvise {
namespace {

// ---- histories ---------------------------------------------------------------------------------

JobRecord JobOf(int64_t id, UnixSeconds submit) {
  JobRecord job;
  job.id = id;
  job.user = "u" + std::to_string(id % 3);
  job.partition = "main";
  job.gpu = "a100";
  job.gpus = 1;
  job.limit_seconds = 3600;
  job.submit = job.eligible = submit;
  return job;
}

TEST(WaitHistory, SaysNoWaitWhereNothingIsKnown) {
  const WaitHistory history;
  EXPECT_EQ(history.LikeStates(MakeStateKeys(JobOf(1, 0), 0, 0, 0)), WaitDistribution());
}

TEST(WaitHistory, TwentyLikeStatesAreBelievedElseOneLevelUp) {
  WaitHistory history;
  const StateKeys quiet = MakeStateKeys(JobOf(1, 0), 0, 0, 0);
  const StateKeys busy = MakeStateKeys(JobOf(1, 0), 2, 50, 0);
  for (int i = 0; i < 30; ++i) history.Started(quiet, 5, 1);
  for (int i = 0; i < 19; ++i) history.Started(busy, 7000, 1);
  EXPECT_EQ(history.LikeStates(quiet).Quantile(0.9), 5);
  EXPECT_EQ(history.LikeStates(busy).Quantile(0.5), 5);  // of the partition, of which 30 of 49
  history.Started(busy, 7000, 1);
  EXPECT_EQ(history.LikeStates(busy).Quantile(0.1), 7000);
  EXPECT_EQ(history.InPartition(busy).Quantile(0.5), 5);
}

TEST(WaitHistory, ABurstCountsAsOne) {
  WaitHistory history;
  const StateKeys state = MakeStateKeys(JobOf(1, 0), 0, 0, 0);
  for (int i = 0; i < 20; ++i) history.Started(state, 10, 1);
  for (int i = 0; i < 100; ++i) history.Started(state, 9000, 0.01);
  EXPECT_EQ(history.LikeStates(state).Quantile(0.9), 10);
}

// ---- features ----------------------------------------------------------------------------------

TEST(WaitFeatures, AreAsManyWhateverTheQueue) {
  const RecentUse recent;
  SimulatedWait simulated;
  const auto empty = ComputeWaitFeatures(QueueFeatures(SnapshotOf("node n1 a100:4")), JobOf(1, 0),
                                         simulated, recent, {}, {});
  const auto busy = ComputeWaitFeatures(
      QueueFeatures(SnapshotOf("node n1 a100:4\nrun 7 n1 a100:4 ends 1h\n"
                               "pend 8 a100:4 user u1\npend 9 a100:1 user bob")),
      JobOf(1, 0), simulated, recent, {}, {});
  EXPECT_EQ(empty.size(), busy.size());
  EXPECT_GE(empty.size(), 60u);
  EXPECT_NE(empty, busy);
}

TEST(RecentUse, HalvesWithTime) {
  RecentUse recent;
  JobRecord job = JobOf(1, 0);
  job.start = 0;
  recent.Ended(job, 1000);
  std::vector<float> now;
  recent.Append(job, 1000, now);
  std::vector<float> later;
  recent.Append(job, 1000 + 7 * 86'400, later);
  EXPECT_NEAR(static_cast<double>(now[0]), std::log1p(1000), 1e-3);
  EXPECT_NEAR(static_cast<double>(later[0]), std::log1p(500), 1e-3);
}

// ---- forest ------------------------------------------------------------------------------------

// Waits of 100 s where the feature is low and of 10,000 s where it is high.
QuantileForest Grown(int rows, UnixSeconds& now) {
  QuantileForest forest(1);
  for (int i = 0; i < rows; ++i) {
    const double u = DrawUniform(2, 0, static_cast<uint64_t>(i));
    const int64_t row = forest.Add({static_cast<float>(u), 0.5F}, now, i);
    now += 60;
    forest.Started(row, u < 0.5 ? 100 : 10'000, now);
  }
  return forest;
}

TEST(QuantileForest, SaysNothingBeforeItHasSeenEnough) {
  UnixSeconds now = 0;
  EXPECT_FALSE(Grown(59, now).Predict({0.2F, 0.5F}, now).has_value());
  EXPECT_TRUE(Grown(60, now).Predict({0.2F, 0.5F}, now).has_value());
}

TEST(QuantileForest, TellsStatesApart) {
  UnixSeconds now = 0;
  const QuantileForest forest = Grown(400, now);
  EXPECT_EQ(forest.Predict({0.2F, 0.5F}, now)->Quantile(0.5), 100);
  EXPECT_EQ(forest.Predict({0.8F, 0.5F}, now)->Quantile(0.5), 10'000);
}

TEST(QuantileForest, AQueueThatStandsStillShowsBeforeAnyOfItStarts) {
  UnixSeconds now = 0;
  QuantileForest forest = Grown(400, now);
  const double before = forest.Predict({0.2F, 0.5F}, now)->Quantile(0.5);
  for (int i = 0; i < 800; ++i) forest.Add({0.2F, 0.5F}, now, 1000 + i);
  now += 20'000;
  const double after = forest.Predict({0.2F, 0.5F}, now)->Quantile(0.5);
  EXPECT_EQ(before, 100);
  EXPECT_GT(after, 15'000);
}

TEST(QuantileForest, WithoutCensoringIsTheEmpiricalDistribution) {
  ForestOptions options;
  options.trees = 1;
  options.least_leaf = 1000;  // one leaf: everything
  options.half_life_rows = 1e12;
  QuantileForest forest(1, options);
  for (int i = 0; i < 100; ++i) forest.Started(forest.Add({1.0F}, 0, i), i % 10, 1);
  // Rows of before the first tree may be missing from its draw, later ones are all there.
  const auto waits = forest.Predict({1.0F}, 1);
  ASSERT_TRUE(waits);
  EXPECT_NEAR(waits->Cdf(4), 0.5, 0.08);
  EXPECT_EQ(waits->Quantile(1), 9);
}

TEST(QuantileForest, IsDeterministicForASeed) {
  UnixSeconds a = 0;
  UnixSeconds b = 0;
  EXPECT_EQ(*Grown(300, a).Predict({0.4F, 0.1F}, a), *Grown(300, b).Predict({0.4F, 0.1F}, b));
}

// ---- pool --------------------------------------------------------------------------------------

std::array<bool, kExperts> AllReady() {
  std::array<bool, kExperts> ready{};
  ready.fill(true);
  return ready;
}

TEST(ExpertPool, WeightsSumToOneAndTheUnreadyHaveNone) {
  const ExpertPool pool;
  auto ready = AllReady();
  ready[static_cast<size_t>(Expert::kForest)] = false;
  for (const WaitGroup group :
       {WaitGroup::kFitsNow, WaitGroup::kFreeButQueued, WaitGroup::kNotFree}) {
    const ExpertWeights weights = pool.Weights(group, ready);
    double sum = 0;
    for (const double weight : weights) sum += weight;
    EXPECT_NEAR(sum, 1, 1e-12);
    EXPECT_EQ(weights[static_cast<size_t>(Expert::kForest)], 0);
    EXPECT_GT(weights[static_cast<size_t>(Expert::kSimulation)], 0.4);  // from the first minute
  }
}

TEST(ExpertPool, FollowsTheExpertThatIsRight) {
  ExpertPool pool;
  std::array<WaitDistribution, kExperts> experts;
  experts.fill(WaitDistribution::At(0));
  experts[static_cast<size_t>(Expert::kForest)] = WaitDistribution::At(5000);
  for (int i = 0; i < 300; ++i) {
    pool.Started(WaitGroup::kNotFree, EvaluateOnGrid(experts), AllReady(), 5000, 1);
  }
  EXPECT_GT(pool.Weights(WaitGroup::kNotFree, AllReady())[static_cast<size_t>(Expert::kForest)],
            0.9);
}

TEST(ExpertPool, JobsThatStillWaitCountBeforeTheyStart) {
  ExpertPool pool;
  std::array<WaitDistribution, kExperts> experts;
  experts.fill(WaitDistribution::At(0));
  experts[static_cast<size_t>(Expert::kPlanLimits)] = WaitDistribution::At(90'000);
  const auto at = static_cast<size_t>(Expert::kPlanLimits);
  const double before = pool.Weights(WaitGroup::kNotFree, AllReady())[at];
  for (int i = 0; i < 500; ++i) {
    pool.StillWaits(WaitGroup::kNotFree, EvaluateOnGrid(experts), AllReady(), 20'000, 1);
  }
  EXPECT_GT(pool.Weights(WaitGroup::kNotFree, AllReady())[at], 3 * before);
}

// The weight of `wrong`, which says that nobody waits, after 5,000 jobs that waited 500 s, of which
// the others are half right, and `jobs` more that did not wait.
double WeightAfterTheChange(Expert wrong, int jobs) {
  ExpertPool pool;
  const auto at = static_cast<size_t>(wrong);
  std::array<WaitDistribution, kExperts> experts;
  experts.fill(WaitDistribution::OfSamples({0, 1000}));
  experts[at] = WaitDistribution::At(0);
  const ExpertGrid grid = EvaluateOnGrid(experts);
  for (int i = 0; i < 5000; ++i) pool.Started(WaitGroup::kNotFree, grid, AllReady(), 500, 1);
  for (int i = 0; i < jobs; ++i) pool.Started(WaitGroup::kNotFree, grid, AllReady(), 0, 1);
  return pool.Weights(WaitGroup::kNotFree, AllReady())[at];
}

// Were merit never kept from falling, it would take thousands of jobs.
TEST(ExpertPool, WhoWasWrongForLongRulesAfterTheWorldHasChanged) {
  for (size_t k = 0; k < kExperts; ++k) {
    EXPECT_LT(WeightAfterTheChange(static_cast<Expert>(k), 0), 0.05) << k;
    EXPECT_GT(WeightAfterTheChange(static_cast<Expert>(k), 500), 0.5) << k;
  }
}

TEST(ExpertPool, WhatIsKnownOfAWaitingJobIsLearnedOnce) {
  std::array<WaitDistribution, kExperts> experts;
  experts.fill(WaitDistribution::OfSamples({0, 500, 3000}));
  experts[static_cast<size_t>(Expert::kForest)] = WaitDistribution::OfSamples({900, 20'000});
  const ExpertGrid grid = EvaluateOnGrid(experts);
  ExpertPool at_once;
  at_once.Started(WaitGroup::kNotFree, grid, AllReady(), 20'000, 0.01);
  ExpertPool in_parts;
  in_parts.StillWaits(WaitGroup::kNotFree, grid, AllReady(), 2'000, 0.01);
  in_parts.Started(WaitGroup::kNotFree, grid, AllReady(), 20'000, 0.01, 2'000);
  ExpertPool twice;
  twice.StillWaits(WaitGroup::kNotFree, grid, AllReady(), 2'000, 0.01);
  twice.Started(WaitGroup::kNotFree, grid, AllReady(), 20'000, 0.01);
  const auto forest = [](const ExpertPool& pool) {
    return pool.Weights(WaitGroup::kNotFree, AllReady())[static_cast<size_t>(Expert::kForest)];
  };
  EXPECT_NEAR(forest(in_parts), forest(at_once), 5e-5);
  EXPECT_GT(forest(twice), forest(at_once) + 1e-4);
}

// CRPS of log(wait + 60 s) on the grid.
double LossOf(const std::array<double, kGridPoints>& shares, double wait) {
  double loss = 0;
  for (size_t i = 0; i + 1 < kGridPoints; ++i) {
    const double wrong = shares[i] - (wait <= GridSeconds(i) ? 1.0 : 0.0);
    loss += wrong * wrong * std::log((GridSeconds(i + 1) + 60) / (GridSeconds(i) + 60));
  }
  return loss;
}

// A year of jobs: the better of two experts changes every 100 jobs, the others are far off and vary
// as clusters do. Weights stay what the last jobs make of them, however many there were before.
TEST(ExpertPool, StaysWithTheBestThroughManyThousandsOfJobs) {
  constexpr uint64_t kJobs = 30'000;
  ExpertPool pool;
  double pooled_loss = 0;
  std::array<double, kExperts> losses{};
  for (uint64_t job = 0; job < kJobs; ++job) {
    const double wait = 60 * std::expm1(7 * DrawUniform(1, 1, job));
    const auto off = [&](size_t expert, double by) {
      const double z = NormalQuantile(DrawUniform(2, expert, job));
      return std::max((wait + 60) * std::exp(by * z) - 60, 0.0);
    };
    std::array<WaitDistribution, kExperts> experts;
    for (size_t k = 0; k < kExperts; ++k) {
      const bool best = k == (job / 100 % 2 == 0 ? 5 : 6);
      const double by = k < 5 ? 0.8 + 0.4 * static_cast<double>(k) : best ? 0.3 : 0.5;
      experts[k] = WaitDistribution::OfSamples({off(k, by), off(k + kExperts, by)});
    }
    const ExpertGrid grid = EvaluateOnGrid(experts);
    const ExpertWeights weights = pool.Weights(WaitGroup::kNotFree, AllReady());
    std::array<double, kGridPoints> pooled{};
    for (size_t k = 0; k < kExperts; ++k) {
      std::array<double, kGridPoints> own{};
      for (size_t i = 0; i < kGridPoints; ++i) {
        own[i] = static_cast<double>(grid[k][i]);
        pooled[i] += weights[k] * own[i];
      }
      if (job > kJobs / 2) losses[k] += LossOf(own, wait);
    }
    if (job > kJobs / 2) pooled_loss += LossOf(pooled, wait);
    pool.Started(WaitGroup::kNotFree, grid, AllReady(), wait, 1);
  }
  EXPECT_LT(pooled_loss, *std::min_element(losses.begin(), losses.end()));
}

// The bound: over 600 jobs, each of which can cost 11, the pool loses at most 245 more than the
// best expert, whatever comes. Without learning it would be more than 500.
RC_GTEST_PROP(ExpertPool, LosesLittleMoreThanTheBestExpertWhateverComes, ()) {
  constexpr uint64_t kJobs = 600;
  const auto seed = static_cast<uint64_t>(*rc::gen::inRange(0, 1'000'000));
  const auto favoured = static_cast<size_t>(*rc::gen::inRange(0, static_cast<int>(kExperts)));
  const int kind = *rc::gen::inRange(0, 3);  // random, one who is always right, an adversary
  ExpertPool pool;
  double pooled_loss = 0;
  std::array<double, kExperts> losses{};
  for (uint64_t job = 0; job < kJobs; ++job) {
    std::array<WaitDistribution, kExperts> experts;
    for (size_t k = 0; k < kExperts; ++k) {
      const auto wait = [&](uint64_t which) {
        return 60 * std::expm1(8 * DrawUniform(seed, which * kExperts + k, job));
      };
      experts[k] = WaitDistribution::OfSamples({wait(0), wait(1)});
    }
    const ExpertGrid grid = EvaluateOnGrid(experts);
    const ExpertWeights weights = pool.Weights(WaitGroup::kNotFree, AllReady());
    std::array<double, kGridPoints> pooled{};
    for (size_t k = 0; k < kExperts; ++k) {
      for (size_t i = 0; i < kGridPoints; ++i) {
        pooled[i] += weights[k] * static_cast<double>(grid[k][i]);
      }
    }
    double wait = 60 * std::expm1(8 * DrawUniform(seed, 99, job));
    if (kind == 1) wait = experts[favoured].points().front().seconds;
    if (kind == 2) wait = LossOf(pooled, 0) > LossOf(pooled, 100'000) ? 0 : 100'000;
    pooled_loss += LossOf(pooled, wait);
    for (size_t k = 0; k < kExperts; ++k) {
      std::array<double, kGridPoints> own{};
      std::copy(grid[k].begin(), grid[k].end(), own.begin());
      losses[k] += LossOf(own, wait);
    }
    pool.Started(WaitGroup::kNotFree, grid, AllReady(), wait, 1);
  }
  const double best = *std::min_element(losses.begin(), losses.end());
  RC_ASSERT(pooled_loss <= best + 245);
}

// ---- calibration --------------------------------------------------------------------------------

std::vector<float> UpTo(int longest) {
  std::vector<float> waits;
  for (int i = 1; i <= longest; ++i) waits.push_back(static_cast<float>(i));
  return waits;
}

WaitDistribution Equally(const std::vector<float>& waits) {
  return WaitDistribution::OfSamples({waits.begin(), waits.end()});
}

constexpr size_t kGroup = 2;

TEST(Conformal, PlacesAreShares) {
  const std::vector<float> waits = {10, 20, 30, 40};
  EXPECT_DOUBLE_EQ(Conformal::PlaceOf(waits, 5).high, 0);
  EXPECT_DOUBLE_EQ(Conformal::PlaceOf(waits, 20).low, 0.25);
  EXPECT_DOUBLE_EQ(Conformal::PlaceOf(waits, 20).high, 0.5);
  EXPECT_NEAR(Conformal::PlaceOf(waits, 34.8683).low, 0.75, 1e-4);  // half of 90 to 100, by factors
  EXPECT_NEAR(Conformal::PlaceOf(waits, 140).low, 1 + std::log(2), 1e-12);
  EXPECT_DOUBLE_EQ(Conformal::PlaceOf({0, 0, 0, 90}, 0).high, 0.75);
}

TEST(Conformal, LeavesAGoodForecastAlone) {
  Conformal conformal(3);
  const auto waits = UpTo(1000);
  for (int i = 0; i < 600; ++i) {
    const double place = DrawUniform(3, 0, static_cast<uint64_t>(i));
    conformal.Started(kGroup, i, {place, place}, 1);
  }
  const auto calibrated = conformal.Calibrate(kGroup, Equally(waits));
  for (const double q : {0.1, 0.5, 0.9}) EXPECT_NEAR(calibrated.Quantile(q), 1000 * q, 50) << q;
}

// Share of `outcome`s within each forecast's quantiles .1, .5 and .9, after 400 to learn.
std::array<double, 3> CoverageOf(const std::vector<float>& said,
                                 const std::function<double(double)>& outcome) {
  Conformal conformal(3);
  std::array<double, 3> covered{};
  for (int i = 0; i < 2000; ++i) {
    const auto waits = conformal.Calibrate(kGroup, Equally(said));
    const double wait = outcome(DrawUniform(4, 0, static_cast<uint64_t>(i)));
    const std::array quantiles = {0.1, 0.5, 0.9};
    for (size_t k = 0; k < covered.size() && i >= 400; ++k) {
      covered[k] += wait <= waits.Quantile(quantiles[k]) ? 1 / 1600.0 : 0;
    }
    conformal.Started(kGroup, i, Conformal::PlaceOf(said, wait), 1);
  }
  return covered;
}

TEST(Conformal, CoverageComesBackWhereTheForecastIsTooNarrowTooWideOrTooEarly) {
  const std::vector<std::function<double(double)>> worlds = {
      [](double u) { return 20 + 360 * u; },   // of 1 … 200: wider, and some beyond all of it
      [](double u) { return 80 + 40 * u; },    // narrower
      [](double u) { return 150 + 100 * u; },  // later
  };
  for (size_t world = 0; world < worlds.size(); ++world) {
    const auto covered = CoverageOf(UpTo(200), worlds[world]);
    EXPECT_NEAR(covered[0], 0.1, 0.04) << world;
    EXPECT_NEAR(covered[1], 0.5, 0.05) << world;
    EXPECT_NEAR(covered[2], 0.9, 0.04) << world;
  }
}

TEST(Conformal, JobsThatStillWaitCountOnceAndAsMoreThanTheirPlace) {
  const auto p50 = [](const Conformal& conformal) {
    return conformal.Calibrate(kGroup, Equally(UpTo(1000))).Quantile(0.5);
  };
  Conformal waiting(3);
  Conformal started(3);
  for (int i = 0; i < 100; ++i) {
    waiting.StillWaits(kGroup, i, 0.92, 1);
    started.Started(kGroup, i, {0.92, 0.92}, 1);
  }
  EXPECT_GT(p50(started), 600);
  EXPECT_GT(p50(waiting), p50(started));
  for (int i = 0; i < 100; ++i) {
    waiting.StillWaits(kGroup, i, 0.95, 1);
    waiting.Started(kGroup, i, {0.92, 0.92}, 1);
  }
  EXPECT_NEAR(p50(waiting), p50(started), 1e-6);
}

RC_GTEST_PROP(Conformal, ACalibratedForecastIsADistributionInOrder, ()) {
  Conformal conformal(3);
  for (int i = *rc::gen::inRange(1, 900); i > 0; --i) {
    const double place = *rc::gen::inRange(0, 400) / 100.0;
    const double high = place < 1 ? place + (1 - place) * *rc::gen::inRange(0, 2) : place;
    if (*rc::gen::inRange(0, 3) == 0) {
      conformal.StillWaits(kGroup, i % 50, place, 1);
    } else {
      conformal.Started(kGroup, i, {place, high}, 1.0 / *rc::gen::inRange(1, 9));
    }
  }
  std::vector<double> samples;
  for (int i = 0; i < 400; ++i) samples.push_back(10.0 * i);
  const auto waits = WaitDistribution::OfSamples(samples);
  const auto calibrated = conformal.Calibrate(kGroup, waits);
  double before = 0;
  for (int i = 0; i <= 20; ++i) {
    const double at = calibrated.Quantile(i / 20.0);
    RC_ASSERT(std::isfinite(at));
    RC_ASSERT(at >= before);
    before = at;
  }
  const auto at_once = WaitDistribution::OfSamples({0, 5, 60});
  RC_ASSERT(conformal.Calibrate(kGroup, at_once) == at_once);
}

// ---- all together -------------------------------------------------------------------------------

// Waits of 30 s when the simulation says so; told in the order of time.
WaitForecast LearnAndAsk(int jobs, double truth, WaitLearner& learner) {
  Snapshot state = SnapshotOf("node n1 a100:4");
  SimulatedWait simulated;
  simulated.simulation = WaitDistribution::At(4000);
  simulated.plan_limits_seconds = 40'000;
  simulated.plan_last_two_seconds = 8000;
  for (int i = 0; i < jobs; ++i) {
    state.taken_at = i * 10'000;
    const JobRecord job = JobOf(i, state.taken_at);
    learner.Advance(state.taken_at);
    learner.Submitted(job, std::make_shared<const ForecastRecord>(MakeForecastRecord(
                               learner.Forecast(QueueFeatures(state), job, simulated))));
    learner.Started(i, state.taken_at + static_cast<int64_t>(truth));
    learner.Ended(i, state.taken_at + static_cast<int64_t>(truth) + 100);
  }
  state.taken_at = jobs * 10'000;
  return learner.Forecast(QueueFeatures(state), JobOf(jobs, state.taken_at), simulated);
}

TEST(WaitLearner, TheSimulationRulesFromTheFirstMinute) {
  WaitLearner learner;
  const WaitForecast first = LearnAndAsk(0, 0, learner);
  EXPECT_EQ(first.group, WaitGroup::kNotFree);
  EXPECT_GT(first.weights[static_cast<size_t>(Expert::kSimulation)], 0.4);
  EXPECT_EQ(first.weights[static_cast<size_t>(Expert::kForest)], 0);
  EXPECT_NEAR(first.wait.Quantile(0.5), 4000, 1);
}

TEST(WaitLearner, ThePastTakesOverWhereTheSimulationIsWrong) {
  WaitLearner learner;
  const WaitForecast later = LearnAndAsk(300, 600, learner);
  EXPECT_NEAR(later.wait.Quantile(0.5), 600, 1);
  EXPECT_LT(later.weights[static_cast<size_t>(Expert::kSimulation)], 0.2);
}

// Those that wait longest have not started: what has says nothing of how long a wait can be.
TEST(WaitLearner, TheSimulationMaySayMoreThanAnyWaitBefore) {
  WaitLearner learner;
  LearnAndAsk(300, 600, learner);
  SimulatedWait simulated;
  simulated.simulation = WaitDistribution::OfSamples({50'000, 60'000, 70'000});
  const WaitDistribution said =
      learner.Forecast(QueueFeatures(SnapshotOf("node n1 a100:4")), JobOf(300, 0), simulated)
          .pooled;
  for (const double seconds : {50'000, 60'000, 70'000}) {
    EXPECT_GT(said.Cdf(seconds), said.Cdf(seconds - 1)) << seconds;
  }
}

TEST(WaitLearner, IsDeterministic) {
  WaitLearner a;
  WaitLearner b;
  EXPECT_EQ(LearnAndAsk(150, 600, a).wait, LearnAndAsk(150, 600, b).wait);
}

TEST(WaitLearner, AJobPastItsP90IsAMissBeforeItStarts) {
  WaitLearner learner;
  LearnAndAsk(100, 600, learner);
  Snapshot state = SnapshotOf("node n1 a100:4");
  SimulatedWait simulated;
  simulated.simulation = WaitDistribution::At(600);
  state.taken_at = 2'000'000;
  const double before = learner.Forecast(QueueFeatures(state), JobOf(1, state.taken_at), simulated)
                            .wait.Quantile(0.9);
  for (int i = 0; i < 40; ++i) {
    const JobRecord job = JobOf(5000 + i, state.taken_at + 100 * i);
    learner.Submitted(job, std::make_shared<const ForecastRecord>(MakeForecastRecord(
                               learner.Forecast(QueueFeatures(state), job, simulated))));
  }
  state.taken_at += 200'000;
  learner.Advance(state.taken_at);
  const double after = learner.Forecast(QueueFeatures(state), JobOf(1, state.taken_at), simulated)
                           .wait.Quantile(0.9);
  EXPECT_GT(after, 10 * before);
}

TEST(WaitLearner, ACopyLearnsOnItsOwn) {
  WaitLearner learner;
  const WaitDistribution before = LearnAndAsk(0, 0, learner).wait;
  WaitLearner copy = learner;
  LearnAndAsk(100, 600, copy);
  EXPECT_EQ(LearnAndAsk(0, 0, learner).wait, before);
  learner = copy;
  EXPECT_NE(LearnAndAsk(0, 0, learner).wait, before);
}

// The weight of the simulation, which says 4,000 s, after `jobs` jobs that started after 100 s;
// `alike` of them were submitted together.
double SimulationWeightAfter(int jobs, int alike) {
  WaitLearner learner;
  Snapshot state = SnapshotOf("node n1 a100:4");
  SimulatedWait simulated;
  simulated.simulation = WaitDistribution::At(4000);
  const auto ask = [&](int id) {
    JobRecord job = JobOf(id, state.taken_at);
    job.user = "ann";
    return std::pair(job, learner.Forecast(QueueFeatures(state), job, simulated));
  };
  for (int i = 0; i < jobs; ++i) {
    state.taken_at = i / alike * 10'000;
    const auto [job, forecast] = ask(i);
    learner.Submitted(job, std::make_shared<const ForecastRecord>(MakeForecastRecord(forecast)));
  }
  for (int i = 0; i < jobs; ++i) learner.Started(i, i / alike * 10'000 + 100);
  return ask(jobs).second.weights[static_cast<size_t>(Expert::kSimulation)];
}

TEST(WaitLearner, ABurstTeachesAsMuchAsOneJob) {
  const double one = SimulationWeightAfter(1, 1);
  EXPECT_NEAR(SimulationWeightAfter(40, 40), one, 0.15);  // in forty small steps
  EXPECT_LT(SimulationWeightAfter(40, 1), one - 0.1);
}

TEST(WaitLearner, NothingIsLearnedOfJobsThatNothingWasSaidOfButTheirWaits) {
  WaitLearner learner;
  for (int i = 0; i < 100; ++i) {
    learner.Submitted(JobOf(i, i * 10'000));
    learner.Started(i, i * 10'000 + 600);
  }
  const WaitForecast after = LearnAndAsk(0, 0, learner);
  EXPECT_EQ(after.experts[static_cast<size_t>(Expert::kPartitionMedian)].Quantile(0.5), 600);
  WaitLearner fresh;
  EXPECT_EQ(after.weights, LearnAndAsk(0, 0, fresh).weights);
}

TEST(WaitLearner, TheGroupIsWhatIsKnownAtSubmission) {
  const auto group = [](bool free_now, int64_t competing) {
    SimulatedWait simulated;
    simulated.free_now = free_now;
    simulated.jobs_competing = competing;
    return WaitLearner()
        .Forecast(QueueFeatures(SnapshotOf("node n1 a100:4")), JobOf(1, 0), simulated)
        .group;
  };
  EXPECT_EQ(group(true, 0), WaitGroup::kFitsNow);
  EXPECT_EQ(group(true, 3), WaitGroup::kFreeButQueued);
  EXPECT_EQ(group(false, 0), WaitGroup::kNotFree);
}

// The rest of the wait of job 1, of which histories said 1,000 s at its submission.
WaitDistribution RestAfter(UnixSeconds age, std::optional<int64_t> job) {
  WaitLearner learner;
  for (int i = 100; i < 140; ++i) {
    learner.Submitted(JobOf(i, 0));
    learner.Started(i, 1000);
  }
  SimulatedWait simulated;
  simulated.simulation = WaitDistribution::At(50);
  const Snapshot state = SnapshotOf("node n1 a100:4");
  learner.Submitted(JobOf(1, 2000),
                    std::make_shared<const ForecastRecord>(MakeForecastRecord(
                        learner.Forecast(QueueFeatures(state), JobOf(1, 2000), simulated))));
  return learner.ForecastWaiting(job, 2000 + age, simulated);
}

TEST(WaitLearner, WhatWasSaidOfAWaitingJobCountsLessItsAgeUntilItIsProvedWrong) {
  // A point of the grid lies within 8 % of what was said. One in twenty is calibrated to lie
  // beyond.
  EXPECT_NEAR(RestAfter(0, 1).Quantile(0.94), 1000, 100);
  EXPECT_NEAR(RestAfter(400, 1).Quantile(0.94), 600, 100);
  EXPECT_EQ(RestAfter(2000, 1).Quantile(1), 50);
  EXPECT_EQ(RestAfter(0, std::nullopt).Quantile(1), 50);
  EXPECT_EQ(RestAfter(0, 77).Quantile(1), 50);
}

// The p50 of what is left for a job of `age`, where the simulation said "10,000 s more" to 300 jobs
// that were two hours old, and each of them started after `left` seconds.
double RestWhereOthersWereAskedAgain(double left, UnixSeconds age) {
  WaitLearner learner;
  SimulatedWait simulated;
  simulated.simulation = WaitDistribution::OfSamples({9'000, 9'500, 10'000, 10'500, 11'000});
  simulated.plan_limits_seconds = simulated.plan_last_two_seconds = 10'000;
  for (int64_t i = 1; i <= 300; ++i) {
    const UnixSeconds submit = 20'000 * i;
    learner.Submitted(JobOf(i, submit));
    learner.AskedAgain(i, submit + 7'200, simulated);
    learner.Started(i, submit + 7'200 + static_cast<UnixSeconds>(left));
  }
  const UnixSeconds submit = 20'000 * 400;
  learner.Submitted(JobOf(400, submit));
  return learner.ForecastWaiting(400, submit + age, simulated).Quantile(0.5);
}

TEST(WaitLearner, WhatIsSaidOfWaitingJobsIsCalibratedAtTheirAge) {
  EXPECT_NEAR(RestWhereOthersWereAskedAgain(10'000, 7'200), 10'000, 700);
  EXPECT_LT(RestWhereOthersWereAskedAgain(100, 7'200), 9'200);
  EXPECT_GT(RestWhereOthersWereAskedAgain(30'000, 7'200), 15'000);
  // Nothing was said at submission and nothing at four hours and more: as the others say.
  EXPECT_NEAR(RestWhereOthersWereAskedAgain(30'000, 60), 10'000, 700);
}

TEST(WaitLearner, EventsOfUnknownJobsAreIgnored) {
  WaitLearner learner;
  learner.Started(1, 5);
  learner.Ended(2, 5);
  learner.Vanished(3, 5);
  learner.Advance(10);
  EXPECT_EQ(LearnAndAsk(0, 0, learner).forest_ready, false);
}

}  // namespace
}  // namespace gpuadvise
