#include "backtest/back_test.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "backtest/cluster_file.h"
#include "backtest/job_log.h"
#include "backtest/replay.h"
#include "backtest/report.h"
#include "common/forecast/start_of.h"
#include "common/history/forecast_history.h"
#include "common/yaml/yaml_file.h"

namespace gpuadvise::backtest {
namespace {

const std::string kData = TEST_DATA;

JobLog LogFrom(const std::string& name) {
  return *ParseCsvLog(ReadLogFile(kData + "/" + name)->text, name);
}
Snapshot ClusterFrom(const std::string& name) {
  return *ClusterOf(*LoadYamlFile(kData + "/" + name));
}

BackTestResult Replayed(const JobLog& log, BackTestOptions options = {}) {
  options.samples = 8;
  return RunBackTest(log, ClusterFrom("lab_cluster.yaml"), options, [](size_t, size_t) {});
}

TEST(BackTest, IsTheSameOnAnyNumberOfThreads) {
  JobLog log = LogFrom("lab_fifo_excerpt.csv");
  log.jobs.resize(150);
  BackTestOptions two;
  two.threads = 2;
  const auto alone = Replayed(log);
  const auto together = Replayed(log, two);
  ASSERT_EQ(alone.jobs.size(), together.jobs.size());
  for (size_t i = 0; i < alone.jobs.size(); ++i) {
    EXPECT_EQ(alone.jobs[i].said[0].quantiles, together.jobs[i].said[0].quantiles) << i;
  }
}

TEST(BackTest, JobsThatWaitAreAskedAboutAgain) {
  JobLog log = LogFrom("lab_fifo_excerpt.csv");
  log.jobs.resize(150);
  BackTestOptions options;
  options.again_seconds = 600;
  const auto result = Replayed(log, options);
  ASSERT_FALSE(result.again.empty());
  for (const AskedAgain& one : result.again) {
    EXPECT_GE(one.age, 0);
    EXPECT_GE(one.left, 0);
    EXPECT_LE(one.p10, one.p90);
  }
  EXPECT_TRUE(Replayed(log).again.empty());
}

TEST(BackTest, WhatHappensLaterChangesNoForecast) {
  const JobLog whole = LogFrom("lab_fifo_excerpt.csv");
  const UnixSeconds cut = whole.jobs[120].eligible;
  JobLog early;
  for (LogJob job : whole.jobs) {
    if (job.eligible > cut) continue;
    if (job.start && *job.start > cut) job.start.reset(), job.end.reset();
    if (job.end && *job.end > cut) job.end.reset();
    early.jobs.push_back(job);
  }
  const auto with_future = Replayed(whole);
  const auto without = Replayed(early);
  for (size_t i = 0; i < without.jobs.size(); ++i) {
    EXPECT_EQ(with_future.jobs[i].job_id, without.jobs[i].job_id);
    EXPECT_EQ(with_future.jobs[i].said[0].quantiles, without.jobs[i].said[0].quantiles) << i;
  }
}

TEST(BackTest, ScoresOnlyWhatIsAsked) {
  const JobLog log = LogFrom("lab_fifo_excerpt.csv");
  BackTestOptions options;
  options.from = 0.5;
  options.to = 0.75;
  const auto part = Replayed(log, options);
  EXPECT_NEAR(static_cast<double>(part.jobs.size()), log.jobs.size() / 4.0, 2);
  options = {};
  options.sample = 0.3;
  const auto sampled = Replayed(log, options);
  EXPECT_GT(sampled.jobs.size(), 20u);
  EXPECT_LT(sampled.jobs.size(), log.jobs.size() / 2);
  EXPECT_EQ(sampled.submissions, static_cast<int64_t>(log.jobs.size()));
}

TEST(BackTest, BeatsTheBaselinesOnADayOfARealSlurm) {
  const auto result = Replayed(LogFrom("lab_fifo_excerpt.csv"));
  const auto jobs = InGroup(result.jobs, ScoreGroup::kDoesNotFitNow);
  ASSERT_GT(jobs.size(), 100u);
  EXPECT_LT(RatioToBest(jobs, Loss::kCrpsLog, 1).ratio, 0.75);
  EXPECT_LT(RatioToBest(jobs, Loss::kCrpsSeconds, 1).ratio, 0.85);
}

// With the run times that jobs really had, the scheduler is played as it really went.
TEST(Simulation, WithTrueRunTimesReproducesTheStartsOfARealSlurm) {
  const JobLog log = LogFrom("lab_fifo_excerpt.csv");
  std::unordered_map<int64_t, double> truth;
  for (const LogJob& job : log.jobs) truth[job.id] = static_cast<double>(*job.end - *job.start);
  ForecastHistory past;
  Replay replay(log, ClusterFrom("lab_cluster.yaml"));
  SimulationOptions options;
  options.samples = 1;
  options.known_run_times = &truth;
  std::vector<double> errors;
  for (const LogEvent& event : ListEvents(log)) {
    const LogJob& job = log.jobs[event.job];
    const double wait = static_cast<double>(*job.start - job.eligible);
    if (event.kind == LogEventKind::kSubmit && wait > 600) {
      const auto snapshot = std::make_shared<const Snapshot>(replay.At(event.time));
      const auto queue = ObserveAndPrepare(snapshot, past, options);
      const auto start = SimulateStart(*queue, RequestOf(job), SubmitterOf(job));
      ASSERT_TRUE(start) << start.error().message;
      errors.push_back(std::abs(start->wait.simulation.Quantile(0.5) - wait));
    }
    replay.Apply(event);
  }
  ASSERT_GT(errors.size(), 50u);
  std::nth_element(errors.begin(), errors.begin() + static_cast<std::ptrdiff_t>(errors.size() / 2),
                   errors.end());
  EXPECT_LE(errors[errors.size() / 2], 200);
}

TEST(Report, HoldsEveryGroupAndPredictor) {
  const JobLog log = LogFrom("small_log.csv");
  const auto result =
      RunBackTest(log, ClusterFrom("small_cluster.yaml"), {}, [](size_t, size_t) {});
  const auto json = ReportJson(log, result);
  for (const char* group : kScoreGroupNames) {
    for (const char* predictor : kPredictorNames) {
      for (const char* score :
           {"crps_seconds", "crps_log", "median_abs_error_seconds", "within_60s", "within_600s",
            "within_3600s", "brier_60s", "coverage_p50", "coverage_p90", "jobs"}) {
        EXPECT_TRUE(json["groups"][group][predictor].contains(score))
            << group << predictor << score;
      }
    }
  }
  EXPECT_EQ(json["groups"]["all"]["product"]["jobs"], 4);
  EXPECT_EQ(json["groups"]["fits_now"]["zero"]["jobs"], 3);
  const std::string table = ReportTable(log, result);
  EXPECT_NE(table.find("4 jobs of 4 submissions scored"), std::string::npos);
  EXPECT_NE(table.find("does_not_fit_now (1 job)"), std::string::npos);
}

// ---- the program -------------------------------------------------------------------------------

struct Ran {
  int code = 0;
  std::string text;
};

Ran Program(const std::string& arguments) {
  FILE* pipe = popen((std::string(BACKTEST_PROGRAM) + " " + arguments + " 2>&1").c_str(), "r");
  Ran ran;
  std::array<char, 4096> block;
  while (const size_t count = fread(block.data(), 1, block.size(), pipe)) {
    ran.text.append(block.data(), count);
  }
  ran.code = WEXITSTATUS(pclose(pipe));
  return ran;
}

TEST(Program, PrintsJson) {
  const Ran ran = Program("--trace " + kData + "/small_log.csv --cluster " + kData +
                          "/small_cluster.yaml --json");
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(nlohmann::json::parse(ran.text)["scored"], 4);
}

TEST(Program, WrongUseIsOneSentenceAndExit2) {
  const std::string cluster = " --cluster " + kData + "/small_cluster.yaml";
  const Ran missing = Program("--trace /nowhere.csv" + cluster);
  EXPECT_EQ(missing.code, 2);
  EXPECT_NE(missing.text.find("/nowhere.csv: cannot be opened"), std::string::npos);
  EXPECT_EQ(Program("--trace " + kData + "/small_log.csv").code, 2);
  EXPECT_EQ(Program(cluster).code, 2);
  EXPECT_EQ(Program("--trace " + kData + "/small_log.csv --from 2" + cluster).code, 2);
  EXPECT_EQ(Program("--again 10 --trace " + kData + "/small_log.csv" + cluster).code, 2);
  EXPECT_EQ(
      Program("--trace " + kData + "/small_log.csv --sacct " + kData + "/small_log.csv" + cluster)
          .code,
      2);
  const Ran empty = Program("--trace " + kData + "/small_log.csv --partition none" + cluster);
  EXPECT_EQ(empty.code, 2);
  EXPECT_NE(empty.text.find("nothing to score"), std::string::npos);
  EXPECT_EQ(Program("--trace " + kData + "/small_cluster.yaml" + cluster).code, 2);
}

}  // namespace
}  // namespace gpuadvise::backtest
