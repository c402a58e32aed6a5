#include "backtest/workload.h"

#include <gtest/gtest.h>

#include "backtest/cluster_file.h"
#include "common/yaml/yaml_file.h"

namespace gpuadvise::backtest {
namespace {

const std::string kColumns = "t_s,user,gres,nodes,limit_min,runtime_s,probe\n";

Snapshot Lab() { return *ClusterOf(*LoadYamlFile(std::string(TEST_DATA) + "/lab_cluster.yaml")); }

JobLog Played(const std::string& rows) {
  auto log = SimulateWorkload(kColumns + rows, "made.csv", Lab());
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

TEST(SimulateWorkload, JobsEndWhenTheyDoAndOthersStartThen) {
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

TEST(SimulateWorkload, TheQueueIsLookedAtAsOftenLateInTheDay) {
  const JobLog log = Played(
      "0,ann,gpu4090:2,1,1200,60000,0\n"
      "57000,bob,gpu4090:4,1,60,100,0\n"
      "57010,cid,gpu4090:1,1,10,100,0\n"
      "57400,cid,gpu4090:1,1,10,100,0\n");
  EXPECT_LE(WaitOfLine(log, 4), 60);  // only backfill starts them: bob waits for ann
  EXPECT_LE(WaitOfLine(log, 5), 60);
}

TEST(SimulateWorkload, TheLimitEndsWhatRunsLonger) {
  const JobLog log = Played("0,ann,gpu4090:4,1,10,9000,0\n");
  EXPECT_EQ(*JobOnLine(log, 2).end - *JobOnLine(log, 2).start, 600);
}

TEST(SimulateWorkload, BadRowsAreLeftOutWithTheirLines) {
  const JobLog log = Played(
      "0,ann,gpu4090:4,1,600,1000,0\n"
      "x,ann,gpu4090:4,1,600,1000,0\n"
      "5,ann,gpu4090,1,600,1000,0\n"
      "6,ann,v100:2,1,600,1000,0\n");
  EXPECT_EQ(log.jobs.size(), 1u);
  EXPECT_EQ(log.left_out.size(), 2u);
  const auto& unread = log.left_out.at(
      "t_s, nodes, limit_min or runtime_s is not a number, or gres is not type:count");
  EXPECT_EQ(unread.rows, 2);
  EXPECT_EQ(unread.first_line, 3);
}

TEST(SimulateWorkload, SaysWhatIsMissing) {
  const auto none = SimulateWorkload(kColumns + "0,ann,v100:1,1,10,100,0\n", "made.csv", Lab());
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message, "made.csv: the cluster has none of its GPUs");
  const auto short_header = SimulateWorkload("t_s,user\n0,ann\n", "made.csv", Lab());
  ASSERT_FALSE(short_header);
  EXPECT_NE(short_header.error().message.find("no column 'gres'"), std::string::npos);
}

}  // namespace
}  // namespace gpuadvise::backtest
