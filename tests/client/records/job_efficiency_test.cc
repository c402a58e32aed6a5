#include "client/records/job_efficiency.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "client/records/job_log.h"
#include "common/base/date_time.h"

namespace gpuadvise::client {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr double kGib = 1024.0 * 1024 * 1024;

// Rows as sacct of Slurm 22.05 and later prints them: a job, its batch step and its tasks.
const char* const kRows =
    "4711|4711|ann|COMPLETED|gpu|3600|1440|8|1|02:24:00|64G||"
    "|billing=8,cpu=8,gres/gpu:a100=2,gres/gpu=2,mem=64G,node=1||2026-11-22T12:00:00|train|x\n"
    "4711.batch|4711.batch||COMPLETED||3600||8|1|02:24:00||8388608K|1|cpu=8,mem=64G,node=1"
    "|cpu=02:24:00,energy=0,mem=8589934592,gres/gpuutil=50,gres/gpumem=4G||batch\n"
    "4711.0|4711.0||COMPLETED||3500||8|1|00:10:00||1024K|2|cpu=8|mem=2097152||python\n"
    "4712|4712_3|ann|CANCELLED by 1001|gpu|30|UNLIMITED|4|2|00:00.500|16Gn|||||| \n"
    "broken|row\n";

TEST(JobEfficiency, IsReadFromAccounting) {
  const auto jobs = EfficiencyFrom(kRows);
  ASSERT_EQ(jobs.size(), 2u);
  const JobEfficiency& train = jobs[0];
  EXPECT_EQ(train.id, "4711");
  EXPECT_EQ(train.name, "train|x");
  EXPECT_EQ(train.gpus, 2);
  ASSERT_TRUE(train.ended_at);
  EXPECT_EQ(*train.ended_at, *ParseDateTime("2026-11-22T12:00:00", 0));
  EXPECT_EQ(train.limit_seconds, 86'400);
  EXPECT_DOUBLE_EQ(*train.CpuEfficiency(), 8640.0 / (3600 * 8));
  EXPECT_DOUBLE_EQ(*train.MemoryEfficiency(), 8.0 / 64);  // the step that took most
  EXPECT_DOUBLE_EQ(*train.TimeEfficiency(), 1.0 / 24);
  EXPECT_DOUBLE_EQ(*train.gpu_use, .25);  // 50 % over two GPUs
  EXPECT_EQ(*train.gpu_memory_bytes, static_cast<int64_t>(2 * kGib));
  const JobEfficiency& cut = jobs[1];
  EXPECT_EQ(cut.id, "4712_3");
  EXPECT_EQ(cut.state, "CANCELLED");
  EXPECT_FALSE(cut.limit_seconds);
  EXPECT_EQ(*cut.memory_requested_bytes, static_cast<int64_t>(32 * kGib));  // of two nodes
  EXPECT_FALSE(cut.MemoryEfficiency());
  EXPECT_FALSE(cut.TimeEfficiency());
}

TEST(JobEfficiency, WithoutTotalsAStepsTasksCount) {
  const auto jobs = EfficiencyFrom(
      "7|7|ann|FAILED|p|100|10|2|1|00:00:10|4000M||||\n"
      "7|7|ann|FAILED|p|100|10|2|1|00:00:10|4000M||||||a\n"
      "7.0|7.0||FAILED||100||2|1|00:00:10||1000K|4||||a\n");
  ASSERT_EQ(jobs.size(), 1u) << "a row that is cut off is left out";
  EXPECT_EQ(jobs[0].memory_used_bytes, 4 * 1000 * 1024);
}

TEST(JobEfficiency, HostileRowsAreLeftOut) {
  EXPECT_THAT(EfficiencyFrom(""), IsEmpty());
  EXPECT_THAT(EfficiencyFrom("||||||||||||||||"), ::testing::SizeIs(1));
  const std::string many(100'000, '|');
  EXPECT_EQ(EfficiencyFrom(many).size(), 1u);  // its name has bars
  const auto wild = EfficiencyFrom(
      "99999999999999999999|7|a|COMPLETED|p|-5|x|1e9|inf|nan:nan|9e99G||-1|cpu|mem=inf,gres/"
      "gpuutil=9e9||n\n");
  ASSERT_EQ(wild.size(), 1u);
  EXPECT_FALSE(wild[0].CpuEfficiency());
  EXPECT_FALSE(wild[0].MemoryEfficiency());
}

TEST(CpuTime, IsReadInAllItsForms) {
  EXPECT_DOUBLE_EQ(*CpuTimeOf("1-02:03:04"), 86'400 + 7'384);
  EXPECT_DOUBLE_EQ(*CpuTimeOf("02:03:04"), 7'384);
  EXPECT_DOUBLE_EQ(*CpuTimeOf("03:04.500"), 184.5);
  for (const char* text : {"", "5", "a:b", "1:2:3:4", "-1:00", "1:-2", "x-1:00:00"}) {
    EXPECT_FALSE(CpuTimeOf(text)) << text;
  }
}

TEST(NextTime, SaysWhatWouldHaveBeenEnough) {
  EXPECT_THAT(NextTime(EfficiencyFrom(kRows)[0]),
              ElementsAre(HasSubstr("--mem=10G would have been enough: it used 8 GiB of 64 GiB"),
                          HasSubstr("3 of 8 CPUs would have been enough: 2.4 were busy"),
                          HasSubstr("-t 01:30:00 would have been enough"),
                          HasSubstr("its GPUs were busy at most 25 % of the time")));
}

TEST(NextTime, ShortJobsAndThoseThatUsedItSayNothing) {
  JobEfficiency job = EfficiencyFrom(kRows)[0];
  job.elapsed_seconds = 30;
  EXPECT_THAT(NextTime(job), IsEmpty());
  job.elapsed_seconds = 80'000;
  job.cpu_seconds = 600'000;
  job.memory_used_bytes = static_cast<int64_t>(40 * kGib);
  job.gpu_use = .9;
  EXPECT_THAT(NextTime(job), IsEmpty());
  job.state = "OUT_OF_MEMORY";
  EXPECT_THAT(NextTime(job), ElementsAre(HasSubstr("ask for more than 64 GiB")));
  job.state = "TIMEOUT";
  EXPECT_THAT(NextTime(job), ElementsAre(HasSubstr("reached its time limit")));
}

// What scontrol and sacct print, by program.
class FakeSlurm : public SlurmQuery {
 public:
  Result<std::string> Ask(const std::string& program, const std::vector<std::string>&) override {
    const std::string& text = program == "scontrol" ? scontrol : sacct;
    if (text.starts_with("error ")) return Fail(ErrorCode::kInternal, text.substr(6));
    return text;
  }
  std::string scontrol;
  std::string sacct;
};

TEST(ExpandedLogPath, FillsSbatchsSymbolsIn) {
  const LogNames names{4711, 4700, 3, "train", "ann", "n7"};
  EXPECT_EQ(ExpandedLogPath("/a/slurm-%j.out", names), "/a/slurm-4711.out");
  EXPECT_EQ(ExpandedLogPath("%A_%a-%x-%u-%N-%s-%t-%n", names), "4700_3-train-ann-n7-batch-0-0");
  EXPECT_EQ(ExpandedLogPath("%8j %%j %q 100%", names), "00004711 %j %q 100%");
  EXPECT_EQ(ExpandedLogPath("%50j", names), "0000004711") << "no more than ten digits";
  EXPECT_EQ(ExpandedLogPath("a\\%j", names), "a%j");
  EXPECT_EQ(ExpandedLogPath("%A-%a", {5, 0, -1, "", "", ""}), "5-4294967294");
}

TEST(FindJobLog, ByScontrolElseByAccounting) {
  FakeSlurm slurm;
  slurm.scontrol =
      "JobId=4711 ArrayJobId=4700 ArrayTaskId=3 JobName=my train\n   UserId=ann(1001) "
      "GroupId=x(1)\n"
      "   JobState=RUNNING Reason=None\n   NodeList=n[07-09]\n   WorkDir=/home/ann/a b\n"
      "   StdErr=/e\n   StdOut=/home/ann/a b/%x-%A_%a-%N.out\n\nJobId=4712 StdOut=/other\n";
  auto log = FindJobLog("4711", slurm);
  ASSERT_TRUE(log) << log.error().message;
  EXPECT_EQ(log->path, "/home/ann/a b/my-4700_3-n07.out");
  EXPECT_FALSE(log->ended);
  slurm.scontrol = "JobId=5 JobName=bash\n   UserId=ann(1001)\n   JobState=RUNNING\n";
  log = FindJobLog("5", slurm);
  ASSERT_FALSE(log);
  EXPECT_THAT(log.error().message, HasSubstr("started by srun or salloc"));
  slurm.scontrol = "error scontrol failed: slurm_load_jobs error: Invalid job id specified";
  slurm.sacct = "6|4700_2|COMPLETED|ann|n3|t|/logs/%A_%a.out\n";
  log = FindJobLog("6", slurm);
  ASSERT_TRUE(log) << log.error().message;
  EXPECT_EQ(log->path, "/logs/4700_2.out");
  EXPECT_TRUE(log->ended);
  slurm.sacct = "error sacct failed: Invalid field requested: StdOut";
  EXPECT_THAT(FindJobLog("6", slurm).error().message, HasSubstr("24.05 and later"));
  slurm.sacct =
      "error sacct failed: sacct: error: Problem talking to the database: Connection refused";
  EXPECT_THAT(FindJobLog("6", slurm).error().message,
              HasSubstr("no longer in Slurm's memory, and slurmdbd, Slurm's accounting database"));
  slurm.sacct = "";
  EXPECT_THAT(FindJobLog("6", slurm).error().message, HasSubstr("knows no output file of job 6"));
  slurm.scontrol = "error scontrol failed: Unable to contact slurm controller";
  EXPECT_THAT(FindJobLog("6", slurm).error().message, HasSubstr("Unable to contact"));
}

}  // namespace
}  // namespace gpuadvise::client
