#include "common/slurm/accounted_job.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "common/base/text.h"
#include "common/slurm/snapshot_json.h"

namespace gpuadvise {
namespace {

constexpr const char* kRan =
    "12|12|1790000000|1790000010|1790000100|1790003700|120|2|16|"
    "billing=16,cpu=16,gres/gpu=8,gres/gpu:a100=8,mem=64G,node=2|ann|lab|gpu|normal|COMPLETED|"
    "n[1-2]|train me|\n";

TEST(Sacct, ARowIsAJob) {
  int64_t unreadable = 0;
  const auto jobs = ParseSacct(kRan, "|", unreadable);
  ASSERT_EQ(jobs.size(), 1u);
  const JobRecord& job = jobs[0].record;
  EXPECT_EQ(job.id, 12);
  EXPECT_EQ(job.eligible, 1'790'000'010);
  EXPECT_EQ(job.start, 1'790'000'100);
  EXPECT_EQ(job.end, 1'790'003'700);
  EXPECT_EQ(job.limit_seconds, SlurmNumber(7'200));
  EXPECT_EQ(job.gpus, 8);
  EXPECT_EQ(job.gpu, "a100");
  EXPECT_EQ(job.cpus, 16);
  EXPECT_EQ(job.name, "train me");
  EXPECT_EQ(jobs[0].nodes, (std::vector<std::string>{"n1", "n2"}));
}

TEST(Sacct, OneThatWasCancelledWhileItWaitedNeverStarted) {
  int64_t unreadable = 0;
  const auto jobs = ParseSacct(
      "13|13|1790000000|1790000000|1790000500|1790000500|UNLIMITED|1|1|cpu=1|ann|lab|gpu|normal|"
      "CANCELLED by 0|None assigned|x|\n",
      "|", unreadable);
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_FALSE(jobs[0].record.start);
  EXPECT_EQ(jobs[0].record.end, 1'790'000'500);
}

TEST(Sacct, ATaskIsOfItsArray) {
  const auto array_of = [](const char* id) {
    int64_t unreadable = 0;
    const std::string row = ReplaceAll(kRan, "12|12|", std::string("12|") + id + "|");
    return ParseSacct(row, "|", unreadable).at(0).record.array_job_id;
  };
  EXPECT_EQ(array_of("7_5"), 7);
  EXPECT_EQ(array_of("12_[3-9%2]"), 12);
  EXPECT_EQ(array_of("12"), 0);
  EXPECT_EQ(array_of("12+1"), 0);
  EXPECT_EQ(array_of("x_1"), 0);
}

TEST(Sacct, OneThatRunsHasNoEnd) {
  int64_t unreadable = 0;
  const auto jobs = ParseSacct(
      "14|14|1790000000|Unknown|1790000500|Unknown|60|1|1|cpu=1|ann|lab|gpu|normal|RUNNING|n1|x|\n",
      "|", unreadable);
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_EQ(jobs[0].record.eligible, 1'790'000'000);
  EXPECT_FALSE(jobs[0].record.end);
}

TEST(Sacct, WhatCannotBeReadIsCountedAndTheRestUsed) {
  int64_t unreadable = 0;
  const std::string no_id = ReplaceAll(kRan, "12|12|179", "x|12|179");
  EXPECT_EQ(ParseSacct("rubbish\n" + std::string(kRan) + no_id + kRan + "x|y\n\n", "|", unreadable)
                .size(),
            2u);
  EXPECT_EQ(unreadable, 2);
}

TEST(Sacct, ANameThatLooksLikeRowsIsAName) {
  const std::string mark = "@mark@";
  const std::string name = "a\n" + ReplaceAll(kRan, "|", "\x1f") + kRan + "\n\n\xff\x1b";
  const std::string text = ReplaceAll(ReplaceAll(kRan, "train me|", "NAME|"), "|", mark);
  int64_t unreadable = 0;
  const auto jobs = ParseSacct(ReplaceAll(text, "NAME", name) + text, mark, unreadable);
  ASSERT_EQ(jobs.size(), 2u);
  EXPECT_EQ(jobs[0].record.name, name);
  EXPECT_EQ(jobs[1].record.name, "NAME");
  EXPECT_EQ(unreadable, 0);
}

RC_GTEST_PROP(Sacct, AnyTextIsReadOrCounted, (const std::string& text)) {
  int64_t unreadable = 0;
  const auto jobs = static_cast<int64_t>(ParseSacct(text, "|", unreadable).size());
  RC_ASSERT(jobs + unreadable <= 1 + std::count(text.begin(), text.end(), '|'));
}

TEST(Sacct, AnErrorIsASentenceWithWhatIsMissingMeanwhile) {
  const std::string down = "slurmdbd, Slurm's accounting database, does not answer";
  EXPECT_EQ(DescribeAccountingError("sacct: error: Problem talking to the database: Connection "
                                    "refused"),
            down + " (Connection refused)");
  EXPECT_EQ(WithoutAccounting("sacct: error: Sending PersistInit msg: No route to host")
                .find(down + " (No route to host): until then `eff` has no figures"),
            0u);
  EXPECT_EQ(DescribeAccountingError("Slurm accounting storage is disabled"),
            "Slurm keeps no accounting here");
  EXPECT_EQ(WithoutAccounting("Slurm accounting storage is disabled"), "");
  EXPECT_EQ(WithoutAccounting(""), "");
  EXPECT_EQ(DescribeAccountingError("sacct took too long"), "sacct took too long");
}

TEST(JobRecordJson, ReadsBackWhatItWrote) {
  int64_t unreadable = 0;
  const JobRecord job = ParseSacct(kRan, "|", unreadable).at(0).record;
  const auto again = FromJson<JobRecord>(ToJson(job));
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, job);
}

}  // namespace
}  // namespace gpuadvise
