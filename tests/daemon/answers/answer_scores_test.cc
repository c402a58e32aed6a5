#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "common/history/forecast_history.h"
#include "daemon/answers/views.h"
#include "tests/common/history/wall_clocks.h"
#include "tests/fakes/shipped_catalogues.h"
#include "tests/fakes/snapshot_text.h"

namespace gpuadvise::daemon {
namespace {

using nlohmann::json;

// A cluster whose past is told by the test.
class AnswerScores : public testing::Test {
 protected:
  // A job that was said to wait `said` and started `wait` after `eligible`.
  void Started(const PublishedForecast& said, int64_t wait,
               UnixSeconds eligible = kSnapshotTime - 9'000,
               std::optional<UnixSeconds> slurm_said = std::nullopt) {
    PastJob job;
    job.record.id = ++jobs_;
    job.record.eligible = eligible;
    job.record.user = "ann";
    job.record.gpu = "gpul40s";
    job.record.gpus = 2;
    job.said = said;
    past_.Submitted(job);
    if (slurm_said) past_.SlurmSaid(jobs_, *slurm_said);
    past_.Started(jobs_, eligible + wait);
  }

  json Answer() {
    auto snapshot = std::make_shared<const Snapshot>(SnapshotOf("node n1 gpul40s:4\n"));
    const auto queue = PrepareQueue(snapshot, past_, {});
    const AdviceContext context{*snapshot, *queue, *queue, ShippedGpus(), ShippedModels()};
    api::Accuracy answer;
    AddScores(context, OneHourEast, answer);
    return ToJson(answer);
  }

  ForecastHistory past_;
  int64_t jobs_ = 0;
};

TEST_F(AnswerScores, NothingIsNoFigure) {
  const json answer = Answer();
  ASSERT_EQ(answer["calibration"].size(), 9u);
  EXPECT_EQ(
      answer["calibration"][4],
      (json{{"said", 0.5}, {"came", nullptr}, {"low", nullptr}, {"high", nullptr}, {"jobs", 0}}));
  EXPECT_EQ(answer["weeks"], json::array());
  EXPECT_EQ(answer["points"], json::array());
}

TEST_F(AnswerScores, EachQuantileIsCountedOfThoseSaidToWait) {
  for (int i = 0; i < 10; ++i) Started({100, 200, 300, 200, WaitGroup::kNotFree}, 90 + 25 * i);
  Started({0, 0, 10, 0, WaitGroup::kFitsNow}, 5'000);  // was said to start at once
  const json rows = Answer()["calibration"];
  EXPECT_EQ(rows[0]["jobs"], 10);
  EXPECT_EQ(rows[0]["came"], 0.1);
  EXPECT_EQ(rows[4]["came"], 0.5);
  EXPECT_EQ(rows[8]["came"], 0.9);
  EXPECT_NEAR(rows[4]["low"].get<double>(), 0.2366, 0.0001);  // Wilson, 5 of 10
  EXPECT_NEAR(rows[4]["high"].get<double>(), 0.7634, 0.0001);
}

using Came = std::vector<std::pair<int, double>>;  // of how many, which share

Came CameOf(const json& rows) {
  Came came;
  for (const json& row : rows) {
    came.emplace_back(row["jobs"], row["came"].is_null() ? -1 : row["came"].get<double>());
  }
  return came;
}

TEST_F(AnswerScores, AllRowsOfTheCalibrationAreOfTheSameJobs) {
  const Deciles deciles = {100, 120, 140, 160, 200, 220, 240, 260, 300};
  const PublishedForecast now = {100, 200, 300, 200, WaitGroup::kNotFree, deciles};
  const PublishedForecast before = {100, 200, 300, 200, WaitGroup::kNotFree};
  for (int i = 0; i < 4; ++i) Started(now, 110 + 30 * i);  // 110 … 200
  const Came nine = {{4, 0}, {4, .25}, {4, .5}, {4, .5}, {4, 1}, {4, 1}, {4, 1}, {4, 1}, {4, 1}};
  EXPECT_EQ(CameOf(Answer()["calibration"]), nine);
  EXPECT_EQ(Answer()["calibration"][6]["said"], 0.7);
  Started(before, 250);  // of an older history: three quantiles of all are known
  const Came three = {{5, 0},  {0, -1}, {0, -1}, {0, -1}, {5, .8},
                      {0, -1}, {0, -1}, {0, -1}, {5, 1}};
  EXPECT_EQ(CameOf(Answer()["calibration"]), three);
  for (int i = 4; i < 32; ++i) Started(now, 110 + 30 * (i % 4));
  EXPECT_EQ(CameOf(Answer()["calibration"]).at(1), (std::pair(32, .25)));
  EXPECT_EQ(CameOf(Answer()["calibration"]).at(4), (std::pair(32, 1.0)));
}

TEST_F(AnswerScores, WeeksBeginOnMondayByTheWall) {
  const UnixSeconds monday = OneHourEast(kSnapshotTime).week_start;
  Started({100, 200, 300, 200, WaitGroup::kNotFree}, 100, monday - 101);  // starts on Sunday
  Started({100, 200, 300, 200, WaitGroup::kNotFree}, 250, monday, monday + 1'250);
  const json weeks = Answer()["weeks"];
  ASSERT_EQ(weeks.size(), 2u);
  EXPECT_EQ(weeks[0]["week_start"], monday - 7 * 86'400);
  EXPECT_EQ(weeks[0]["coverage_p50"], 1.0);
  EXPECT_EQ(weeks[0]["slurm_median_abs_error_seconds"], nullptr);
  EXPECT_EQ(weeks[1]["week_start"], monday);
  EXPECT_EQ(weeks[1]["jobs"], 1);
  EXPECT_EQ(weeks[1]["covered_jobs"], 1);
  EXPECT_EQ(weeks[1]["coverage_p50"], 0.0);
  EXPECT_EQ(weeks[1]["coverage_p90"], 1.0);
  EXPECT_EQ(weeks[1]["median_abs_error_seconds"], 50);
  EXPECT_EQ(weeks[1]["slurm_jobs"], 1);
  EXPECT_EQ(weeks[1]["slurm_median_abs_error_seconds"], 1'000);
  EXPECT_EQ(weeks[1]["median_abs_error_seconds_beside_slurm"], 50);
}

TEST_F(AnswerScores, PointsAreTheNewestThatWereSaidToWaitAndNobodys) {
  Started({0, 0, 10, 0, WaitGroup::kFitsNow}, 5);
  for (int i = 0; i < 450; ++i) {
    Started({1, 2, 300, 4, WaitGroup::kNotFree}, 7, kSnapshotTime - 9'000 + i);
  }
  const json points = Answer()["points"];
  ASSERT_EQ(points.size(), kToldScores);
  EXPECT_EQ(points[399], (json{{"started_at", kSnapshotTime - 9'000 + 449 + 7},
                               {"gpu", "l40s"},
                               {"gpu_name", "L40S"},
                               {"gpus", 2},
                               {"said_p10_seconds", 1.0},
                               {"said_p50_seconds", 2.0},
                               {"said_p90_seconds", 300.0},
                               {"wait_seconds", 7.0},
                               {"slurm_error_seconds", nullptr}}));
  EXPECT_EQ(points[0]["started_at"], kSnapshotTime - 9'000 + 50 + 7);
  EXPECT_EQ(points.dump().find("ann"), std::string::npos);
}

RC_GTEST_PROP(WilsonRange, HoldsTheShareAndNarrowsWithTheNumber, ()) {
  const auto all = *rc::gen::inRange<int64_t>(1, 5'000);
  const auto part = *rc::gen::inRange<int64_t>(0, all + 1);
  const ShareRange range = WilsonRange(part, all);
  const double share = double(part) / double(all);
  RC_ASSERT(range.low >= 0 && range.low <= share + 1e-12);
  RC_ASSERT(range.high <= 1 && range.high >= share - 1e-12);
  const ShareRange more = WilsonRange(4 * part, 4 * all);
  RC_ASSERT(more.high - more.low < range.high - range.low);
  // Its ends solve |p - share| = z sqrt(p (1 - p) / n).
  for (const double p : {range.low, range.high}) {
    const double off = 1.959964 * std::sqrt(p * (1 - p) / double(all));
    RC_ASSERT(std::abs(std::abs(p - share) - off) < 1e-6);
  }
}

}  // namespace
}  // namespace gpuadvise::daemon
