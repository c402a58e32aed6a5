#include "backtest/regret.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "backtest/cluster_file.h"
#include "backtest/world.h"
#include "yaml/yaml_file.h"

namespace gpuadvise::backtest {
namespace {

const std::string kColumns = "t_s,user,gres,nodes,limit_min,runtime_s,probe\n";

Snapshot Lab() { return *ClusterOf(*LoadYamlFile(std::string(TEST_DATA) + "/lab_cluster.yaml")); }

JobLog Played(const std::string& rows) {
  auto log = PlayWorkload(kColumns + rows, "made.csv", Lab());
  EXPECT_TRUE(log) << (log ? "" : log.error().message);
  return *log;
}

const LogJob& JobOnLine(const JobLog& log, int64_t line) {
  for (const LogJob& job : log.jobs) {
    if (job.id == line) return job;
  }
  throw std::out_of_range("no such line");
}

int64_t WaitOfLine(const JobLog& log, int64_t line) {
  const LogJob& job = JobOnLine(log, line);
  return *job.start - job.submit;
}

// ---- days that were made -----------------------------------------------------------------------

TEST(PlayWorkload, JobsEndWhenTheyDoAndOthersStartThen) {
  const JobLog log = Played(
      "0,ann,gpu4090:4,1,600,1000,0\n"
      "10,bob,gpu4090:4,1,60,100,0\n"
      "20,ann,gpu4070:1,1,60,100,0\n");
  EXPECT_LE(WaitOfLine(log, 2), 60);
  EXPECT_EQ(*JobOnLine(log, 2).end - *JobOnLine(log, 2).start, 1000);
  EXPECT_NEAR(static_cast<double>(WaitOfLine(log, 3)), 990, 60);
  EXPECT_LE(WaitOfLine(log, 4), 60);
  EXPECT_EQ(JobOnLine(log, 4).node_list, std::vector<std::string>{"classt06"});
}

TEST(PlayWorkload, TheLimitEndsWhatRunsLonger) {
  const JobLog log = Played("0,ann,gpu4090:4,1,10,9000,0\n");
  EXPECT_EQ(*JobOnLine(log, 2).end - *JobOnLine(log, 2).start, 600);
}

TEST(PlayWorkload, BadRowsAreLeftOutWithTheirLines) {
  const JobLog log = Played(
      "0,ann,gpu4090:4,1,600,1000,0\n"
      "x,ann,gpu4090:4,1,600,1000,0\n"
      "5,ann,gpu4090,1,600,1000,0\n"
      "6,ann,v100:2,1,600,1000,0\n");
  EXPECT_EQ(log.jobs.size(), 1u);
  EXPECT_EQ(log.left_out.size(), 2u);
  const auto& unread =
      log.left_out.at("t_s, nodes, limit_min or runtime_s is no number, or gres is not type:count");
  EXPECT_EQ(unread.rows, 2);
  EXPECT_EQ(unread.first_line, 3);
}

TEST(PlayWorkload, SaysWhatIsMissing) {
  const auto none = PlayWorkload(kColumns + "0,ann,v100:1,1,10,100,0\n", "made.csv", Lab());
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message, "made.csv: the cluster has none of its GPUs");
  const auto short_header = PlayWorkload("t_s,user\n0,ann\n", "made.csv", Lab());
  ASSERT_FALSE(short_header);
  EXPECT_NE(short_header.error().message.find("no column 'gres'"), std::string::npos);
}

// ---- what would have happened ------------------------------------------------------------------

World::Extra WholeNode(double run_seconds) {
  World::Extra extra;
  extra.request.partitions = {"markov_gpu"};
  extra.request.gpus_per_node = {{"gpu4090", 4}};
  extra.request.cpus = extra.request.cpus_per_task = 4;
  extra.request.time_limit_seconds = std::llround(run_seconds) + 600;
  extra.run_seconds = run_seconds;
  return extra;
}

TEST(World, KnowsHowLongJobsReallyRanAndWhoCameLater) {
  const JobLog log = Played(
      "0,ann,gpu4090:4,1,2880,1000,0\n"    // whole node, asked for two days
      "500,bob,gpu4090:4,1,2880,7000,0\n"  // before the extra one
      "700,cat,gpu4090:4,1,10,500,0\n");   // after it
  World world(log, Lab());
  const UnixSeconds first = JobOnLine(log, 2).submit;
  const auto wait = world.WaitOf(WholeNode(3600), first + 600);
  ASSERT_TRUE(wait);
  EXPECT_NEAR(*wait, 1000 + 7000 - 600, 120);
}

TEST(World, AJobOfAnotherGpuDoesNotWait) {
  const JobLog log = Played("0,ann,gpul40s:6,1,2880,90000,0\n");
  World world(log, Lab());
  EXPECT_LE(*world.WaitOf(WholeNode(60), log.jobs.front().submit + 50), 60);
}

// ---- choices -----------------------------------------------------------------------------------

// A day on which the 4090 node is always taken by jobs that run an hour of the 12 they ask for,
// and the 2080 Ti nodes are idle.
JobLog BusyDay() {
  std::string rows;
  for (int hour = 0; hour < 24; ++hour) {
    rows += fmt::format("{},u{},gpu4090:4,1,720,{},0\n", hour * 3600, hour % 3, 3500);
    rows += fmt::format("{},u{},gpu2080:1,1,60,{},0\n", hour * 3600 + 60, hour % 3, 600);
  }
  return Played(rows);
}

RegretOptions Options(const std::string& alternatives) {
  RegretOptions options;
  options.alternatives = *ParseAlternatives(alternatives);
  options.moments = 12;
  options.back_test.samples = 8;
  return options;
}

TEST(Regret, OfTheBestChoiceIsNothingAndOfTheWorstMore) {
  const auto dilemmas =
      RunRegret(BusyDay(), Lab(), 0, Options("gpu4090:4=1,gpu2080:4=30"), [](size_t, size_t) {});
  ASSERT_TRUE(dilemmas) << dilemmas.error().message;
  ASSERT_EQ(dilemmas->size(), 12u);
  for (const RankingCase& dilemma : *dilemmas) {
    ASSERT_EQ(dilemma.to_result.size(), 2u);
    // The 4090 is free within the hour and 30 times as fast; only the plan at the limits sees it
    // taken for half a day.
    if (dilemma.share > 0.2) {
      EXPECT_LT(dilemma.to_result[0], dilemma.to_result[1]);
    }
    EXPECT_EQ(dilemma.chosen[1], 0u);  // the fastest
    EXPECT_EQ(dilemma.chosen[2], 1u);  // the most idle
  }
  const auto json = RegretJson(*dilemmas)["choosers"];
  for (const char* name : kChooserNames) EXPECT_GE(json[name]["mean_regret"], 0) << name;
  EXPECT_LE(json["product"]["mean_regret"], json["most_idle"]["mean_regret"]);
  EXPECT_LE(json["product"]["low"], json["product"]["mean_regret"]);
  EXPECT_GE(json["product"]["high"], json["product"]["mean_regret"]);
  EXPECT_NE(RegretTable(*dilemmas).find("12 training jobs"), std::string::npos);
}

TEST(Regret, IsTheSameForTheSameSeed) {
  const JobLog day = BusyDay();
  const auto options = Options("gpu4090:4=3,gpu2080:4=5");
  const auto once = RunRegret(day, Lab(), 0, options, [](size_t, size_t) {});
  const auto twice = RunRegret(day, Lab(), 0, options, [](size_t, size_t) {});
  EXPECT_EQ(RegretJson(*once), RegretJson(*twice));
}

TEST(Regret, NeedsSomethingToChoose) {
  const auto none =
      RunRegret(BusyDay(), Lab(), 0, Options("gpu4090:4=1,h200:8=30"), [](size_t, size_t) {});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message,
            "no node of the cluster has h200 × 8, so there is nothing to choose; name other ways "
            "to run with --alternatives");
}

TEST(Alternatives, AreReadOrRefusedWithTheirText) {
  const auto good = ParseAlternatives(kGrootAlternatives);
  ASSERT_TRUE(good);
  ASSERT_EQ(good->size(), 3u);
  EXPECT_EQ((*good)[1].gpu, "gpul40s");
  EXPECT_EQ((*good)[1].gpus, 6);
  EXPECT_EQ((*good)[1].hours, 8);
  for (const char* bad : {"", "a", "a:0=3", "a:4", "a:4=", "a:4=-1", ":4=1", "a=4:1"}) {
    EXPECT_FALSE(ParseAlternatives(bad)) << bad;
  }
  EXPECT_EQ(ParseAlternatives("a:4=1,b").error().message,
            "'b' is no alternative: write GPU:COUNT=HOURS, such as gpu4090:4=11");
}

}  // namespace
}  // namespace gpuadvise::backtest
