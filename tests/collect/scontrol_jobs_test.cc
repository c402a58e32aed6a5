#include "daemon/collect/scontrol_jobs.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "tests/collect/captured_text.h"
#include "tests/collect/squeue_text.h"

namespace gpuadvise::collect {
namespace {

// ---- jobs ----------------------------------------------------------------------------------

class ScontrolJobs : public testing::Test {
 protected:
  static const Job& Get(int64_t id) {
    static const std::string kText = CapturedText("odd_jobs.txt");
    static const std::vector<Job> kJobs = JobsOf(kText, ListedIn(kText)).jobs;
    return Find(kJobs, &Job::id, id);
  }
};

TEST_F(ScontrolJobs, HoldWhatTheirDetailLinesSay) {
  const Job& job = Get(11);  // --gpus=a100:2 --gpus-per-node=a100:1 -N2
  EXPECT_EQ(job.state, JobState::kRunning);
  ASSERT_EQ(job.allocations.size(), 2u);
  EXPECT_EQ(job.allocations[1],
            (Allocation{.node = "t2", .cpus = 2, .memory_mib = 4000, .gpus = {{"a100", 1}}}));
  EXPECT_EQ(job.request.nodes_min, 2);
  EXPECT_EQ(job.request.gpus_total, (GpuCounts{{"a100", 2}}));
  EXPECT_EQ(job.request.gpus_per_node, (GpuCounts{{"a100", 1}}));
}

TEST_F(ScontrolJobs, OfSeveralPartitionsAreOneArrayRecord) {
  const Job& job = Get(13);  // -p short,shared -n4 --array=1-900%7 -H
  EXPECT_EQ(job.array_job_id, 13);
  EXPECT_EQ(job.array_tasks, "1-900");
  EXPECT_EQ(job.array_task_count, 900);
  EXPECT_EQ(job.array_throttle, 7);
  EXPECT_EQ(job.request.partitions, (std::vector<std::string>{"short", "shared"}));
  EXPECT_EQ(job.priority, 0);
}

TEST_F(ScontrolJobs, OneRunningTaskOfAnArrayIsOneJob) {
  const Job& task = Get(20);
  EXPECT_EQ(task.array_job_id, 16);
  EXPECT_EQ(task.array_tasks, "2");
  EXPECT_EQ(task.array_task_count, 1);
}

TEST_F(ScontrolJobs, ThatWaitSayWhyAndWhatFor) {
  const Job& job = Get(4);  // --exclusive -w u1 --mem=0
  EXPECT_EQ(job.state, JobState::kPending);
  EXPECT_EQ(job.reason, "Resources");
  EXPECT_TRUE(job.request.exclusive);
  EXPECT_EQ(job.request.required_nodes, (std::vector<std::string>{"u1"}));
  EXPECT_EQ(job.request.memory_per_node_mib, SlurmNumber(0));
  EXPECT_FALSE(job.end_time);
  EXPECT_TRUE(job.allocations.empty());
}

TEST_F(ScontrolJobs, ThatAreHeldHaveNoEligibleTime) {
  const Job& job = Get(8);  // -H --nice=50 --no-requeue
  EXPECT_EQ(job.reason, "JobHeldUser");
  EXPECT_EQ(job.nice, 50);
  EXPECT_FALSE(job.requeue);
  EXPECT_FALSE(job.eligible_time);
  EXPECT_EQ(job.submit_time, 1795219735);
}

TEST_F(ScontrolJobs, WithoutALimitHaveNoEnd) {
  EXPECT_TRUE(Get(15).request.time_limit_seconds.infinite());
  EXPECT_EQ(Get(15).end_time, std::nullopt);
  EXPECT_EQ(Get(1).request.time_limit_seconds, SlurmNumber(600));
  EXPECT_EQ(Get(1).end_time, *Get(1).start_time + 600);
}

TEST_F(ScontrolJobs, ComponentsOfAHetJobKnowTheirLeader) {
  EXPECT_EQ(Get(17).het_job_id, 17);
  EXPECT_EQ(Get(18).het_job_id, 17);
  EXPECT_EQ(Get(1).het_job_id, 0);
}

TEST_F(ScontrolJobs, MemoryPerGpuIsMemoryOfTheirNode) {
  EXPECT_EQ(Get(3).request.memory_per_node_mib, SlurmNumber(6144));  // 3 GPUs of 2 GiB
  EXPECT_EQ(Get(6).request.memory_per_cpu_mib, SlurmNumber(2000));
}

TEST_F(ScontrolJobs, FeaturesAndExcludedNodesAreAsGiven) {
  EXPECT_EQ(Get(6).request.features, "ib&nvlink");
  EXPECT_EQ(Get(6).request.excluded_nodes, (std::vector<std::string>{"m1"}));
}

TEST_F(ScontrolJobs, UsersAreNamesAndNumbers) {
  EXPECT_EQ(Get(1).user, "lab1");
  EXPECT_EQ(Get(1).uid, 1001);
  EXPECT_EQ(Get(1).account, "");
}

std::vector<Job> JobsIn(const std::string& text) { return JobsOf(text, {{{"JobID", "7"}}}).jobs; }

Job OneJob(const std::string& lines) {
  const auto jobs = JobsIn("JobId=7 JobName=x\n   UserId=lab1(1001)\n   " + lines + "\n");
  EXPECT_EQ(jobs.size(), 1u);
  return jobs.empty() ? Job() : jobs[0];
}

TEST(ScontrolJob, ThatHasEndedIsLeftOut) {
  const std::string begin = "JobId=7 JobName=x\n   UserId=lab1(1001)\n";
  EXPECT_TRUE(JobsIn(begin + "   JobState=COMPLETED Reason=None\n").empty());
  EXPECT_TRUE(JobsIn(begin).empty());
  EXPECT_TRUE(JobsIn("No jobs in the system\n").empty());
}

TEST(ScontrolJob, WithABeginTimeWaitsForIt) {
  const Job job = OneJob("JobState=PENDING Reason=BeginTime EligibleTime=1795228815");
  EXPECT_EQ(job.request.begin_time, 1795228815);
  EXPECT_EQ(OneJob("JobState=PENDING Reason=Priority EligibleTime=1795228815").request.begin_time,
            std::nullopt);
}

TEST(ScontrolJob, MayAskForARangeOfNodes) {
  const JobRequest request = OneJob("JobState=PENDING NumNodes=2-4 NumCPUs=8-16").request;
  EXPECT_EQ(request.nodes_min, 2);
  EXPECT_EQ(request.nodes_max, 4);
  EXPECT_EQ(request.cpus, 8);
  EXPECT_EQ(OneJob("JobState=PENDING NumNodes=2-2").request.nodes_max, 0);
}

TEST(ScontrolJob, SaysBehindItsTextsWhatNewerReleasesAdd) {
  const Job job = OneJob(  // 26.05.5: sbatch -H -N4 --segment=2 --requeue=expedite
      "JobState=PENDING Reason=JobHeldUser Dependency=(null)\n"
      "   OverSubscribe=NO Exclusive=NO Contiguous=0 Licenses=(null) LicensesAlloc=(null) "
      "Network=(null)\n   Command=(null)\n   WorkDir=/tmp\n   StdErr=\n   StdIn=/dev/null\n"
      "   StdOut=/dev/null\n   SegmentSize=2\n   ExpeditedRequeue=Yes\n\n");
  EXPECT_EQ(job.request.segment_nodes, 2);
  EXPECT_TRUE(job.expedited_requeue);
}

TEST(ScontrolJob, WithNodesThatHoldTheSameIsExpanded) {
  const Job job =
      OneJob("JobState=RUNNING\n     Nodes=n[1-2] CPU_IDs=0-3,8 Mem=2G GRES=gpu:a:2(IDX:0,2)");
  ASSERT_EQ(job.allocations.size(), 2u);
  EXPECT_EQ(job.allocations[0].cpus, 5);
  EXPECT_EQ(job.allocations[1].memory_mib, 2048);
  EXPECT_EQ(job.allocations[1].gpus, (GpuCounts{{"a", 2}}));
}

TEST(ScontrolJob, CpuIdsAreCountedWithTheirRanges) {
  EXPECT_EQ(CountCpuIds("0-3,6"), 5);
  EXPECT_EQ(CountCpuIds(""), 0);
  EXPECT_EQ(CountCpuIds("5-3"), 0);
}

// ---- what users write --------------------------------------------------------------------------

// A record as scontrol prints it; `name` and `tail` are what its user wrote.
std::string RecordOf(int64_t id, int64_t uid, const std::string& name, const std::string& state,
                     const std::string& tail = "", const std::string& mcs_label = "N/A") {
  return "JobId=" + std::to_string(id) + " JobName=" + name + "\n   UserId=u(" +
         std::to_string(uid) + ") GroupId=g(1) MCS_label=" + mcs_label +
         "\n   Priority=5 Nice=0 Account=(null) QOS=(null)\n   JobState=" + state +
         " Reason=None Dependency=(null)\n   TimeLimit=01:00:00\n   Partition=p AllocNode:Sid=l:1\n"
         "   NumNodes=1 NumCPUs=2 NumTasks=1 CPUs/Task=1\n"
         "   OverSubscribe=OK Contiguous=0 Licenses=(null) Network=(null)\n   Command=(null)\n   "
         "WorkDir=/\n" +
         tail + "   Power=\n   \n\n";
}

Listed ListedAs(int64_t id, int64_t uid, const std::string& name, const std::string& state) {
  return {{"JobID", std::to_string(id)},
          {"UserID", std::to_string(uid)},
          {"Name", name},
          {"State", state},
          {"Partition", "p"},
          {"NumCPUs", "2"},
          {"TimeLimit", "01:00:00"}};
}

std::vector<int64_t> IdsOf(const ReadJobs& read) {
  std::vector<int64_t> ids;
  for (const Job& job : read.jobs) ids.push_back(job.id);
  return ids;
}

const std::string kForeign = RecordOf(9999, 1002, "evil", "RUNNING");

TEST(WhatUsersWrite, ACommentThatLooksLikeAJobIsNone) {
  const std::string text =
      RecordOf(7, 1001, "x", "PENDING", "   Comment=a\n\n" + kForeign + kForeign) +
      RecordOf(8, 1002, "y", "RUNNING");
  const ReadJobs read =
      JobsOf(text, {ListedAs(7, 1001, "x", "PENDING"), ListedAs(8, 1002, "y", "RUNNING")});
  EXPECT_EQ(IdsOf(read), (std::vector<int64_t>{7, 8}));
  EXPECT_EQ(read.left_out.records, 2);
  EXPECT_EQ(read.left_out.first,
            "job 9999 is not in squeue's list; it follows job 7 of user id 1001, whose text "
            "may contain it");
}

TEST(WhatUsersWrite, ANameIsTakenAsItIs) {
  const std::string name = "a\n   UserId=root(0)\n   Priority=9\n\n" + kForeign + "\x1b[31m\t\xff";
  const ReadJobs read =
      JobsOf(RecordOf(7, 1001, name, "PENDING"), {ListedAs(7, 1001, name, "PENDING")});
  ASSERT_EQ(IdsOf(read), (std::vector<int64_t>{7}));
  EXPECT_EQ(read.jobs[0].name, name);
  EXPECT_EQ(read.jobs[0].uid, 1001);
  EXPECT_EQ(read.jobs[0].priority, 5);
  EXPECT_EQ(read.left_out.records, 1);  // the foreign one
}

TEST(WhatUsersWrite, ALabelOrAccountSetsNoOtherField) {
  Listed listed = ListedAs(7, 1001, "x", "PENDING");
  listed["MCSLabel"] = "m\n   JobState=RUNNING Reason=None\n   Priority=99 Nice=0";
  const ReadJobs read = JobsOf(RecordOf(7, 1001, "x", "PENDING", "", listed["MCSLabel"]), {listed});
  ASSERT_EQ(read.jobs.size(), 1u);
  EXPECT_EQ(read.jobs[0].state, JobState::kPending);
  EXPECT_EQ(read.jobs[0].priority, 5);
}

TEST(WhatUsersWrite, APathOrCommandLineSetsNoField) {
  for (const std::string key : {"SubmitLine=sbatch --comment=x", "StdOut=/tmp/x", "Comment=x",
                                "MailUser=me", "Network=ib"}) {
    const ReadJobs read =
        JobsOf(RecordOf(7, 1001, "x", "PENDING",
                        "   " + key +
                            " Reservation=maint\n   TresPerNode=gres:gpu:8\n   MemPerTres=gpu:9\n"
                            "     Nodes=n1 CPU_IDs=0-9 Mem=7 GRES=gpu:8\n"),
               {ListedAs(7, 1001, "x", "PENDING")});
    ASSERT_EQ(read.jobs.size(), 1u);
    EXPECT_EQ(read.jobs[0].request.reservation, "") << key;
    EXPECT_TRUE(read.jobs[0].request.gpus_per_node.empty()) << key;
    EXPECT_TRUE(read.jobs[0].allocations.empty()) << key;
  }
}

// What is read of jobs 7, of user 1001, and 8, of user 1002, when scontrol prints these records.
ReadJobs ReadWithOnesAlone(const std::string& seven, const std::string& eight,
                           const std::vector<Listed>& listed) {
  const std::string printed = SqueueText(listed);
  JobList list;
  EXPECT_TRUE(AddListedJobs(printed, kMark, list));
  const std::string all = seven + eight;
  ReadJobs read = ParseJobs(all, list);
  for (const int64_t id : read.doubled) AddJobShownAlone(id == 7 ? seven : eight, id, list, read);
  std::sort(read.jobs.begin(), read.jobs.end(),
            [](const Job& a, const Job& b) { return a.id < b.id; });
  return read;
}

const std::string kRecordOf8 = RecordOf(8, 1002, "y", "RUNNING");
const std::vector<Listed> kBothListed = {ListedAs(7, 1001, "x", "PENDING"),
                                         ListedAs(8, 1002, "y", "RUNNING")};

TEST(WhatUsersWrite, OfAnIdWithTwoRecordsNoneIsTakenUntilItIsShownAlone) {
  // It says all that squeue says, and more than a real one can.
  const std::string forged =
      ReplaceAll(ReplaceAll(kRecordOf8, "Priority=5",
                            "Priority=9 Reservation=(null) TresPerJob=N/A TresPerNode=N/A "
                            "TresPerSocket=N/A TresPerTask=N/A MemPerTres=N/A WCKey=(null)"),
                 "AllocNode:Sid=l:1", "AllocNode:Sid=(null)");
  const std::string seven = RecordOf(7, 1001, "x", "PENDING", "   StdOut=a\n\n" + forged);
  for (const bool is_first : {true, false}) {
    const ReadJobs read = JobsOf(is_first ? seven + kRecordOf8 : kRecordOf8 + seven, kBothListed);
    EXPECT_EQ(IdsOf(read), (std::vector<int64_t>{7}));
    EXPECT_EQ(read.doubled, (std::vector<int64_t>{8}));
    EXPECT_EQ(read.left_out.first,
              "job 8 has 2 records, of which others' texts may hold some; what Slurm says of it "
              "alone counts");
  }
  const ReadJobs read = ReadWithOnesAlone(seven, kRecordOf8, kBothListed);
  ASSERT_EQ(IdsOf(read), (std::vector<int64_t>{7, 8}));
  EXPECT_EQ(read.jobs[1].priority, 5);
}

TEST(WhatUsersWrite, AListedTextThatIsNotThereHidesNoJob) {
  std::vector<Listed> listed = kBothListed;
  const std::string seven = RecordOf(7, 1001, "x", "PENDING", "   Comment=a\n");
  for (const std::string column : {"Name", "MCSLabel", "Account"}) {
    const std::string key = column == "Name"       ? "JobName="
                            : column == "MCSLabel" ? "MCS_label="
                                                   : "Account=";
    listed[0][column] = seven.substr(seven.find(key) + key.size()) + "JobId=8 JobName=";
    EXPECT_EQ(JobsOf(seven + kRecordOf8, listed).jobs.back().id, 8) << column;
  }
}

TEST(WhatUsersWrite, AJobShownAloneIsItsFirstRecord) {
  const std::string printed = SqueueText(kBothListed);
  JobList list;
  ASSERT_TRUE(AddListedJobs(printed, kMark, list));
  const auto priority_in = [&](const std::string& text) -> int64_t {
    ReadJobs read;
    AddJobShownAlone(text, 8, list, read);
    return read.jobs.empty() ? -1 : read.jobs[0].priority;
  };
  const std::string forged = ReplaceAll(kRecordOf8, "Priority=5", "Priority=9");
  EXPECT_EQ(priority_in(kRecordOf8 + forged), 5);
  EXPECT_EQ(priority_in(RecordOf(7, 1001, "x", "PENDING") + kRecordOf8), -1);
  EXPECT_EQ(priority_in("\n" + kRecordOf8), -1);
  EXPECT_EQ(priority_in(ReplaceAll(kRecordOf8, "JobId=8", "JobId=08")), -1);
  EXPECT_EQ(priority_in(RecordOf(8, 1001, "y", "RUNNING")), -1);
  EXPECT_EQ(priority_in(RecordOf(8, 1002, "y", "COMPLETED")), -1);
  EXPECT_EQ(priority_in(""), -1);
}

TEST(WhatUsersWrite, NobodyIsNamedWhereAnotherMayHaveWrittenIt) {
  // Job 7 holds a record of job 8 and then one of a job that there is not.
  const std::string seven =
      RecordOf(7, 1001, "x", "PENDING", "   StdOut=a\n\n" + kRecordOf8 + kForeign);
  const ReadJobs read = JobsOf(kForeign + seven + kRecordOf8, kBothListed);
  EXPECT_EQ(read.left_out.records, 3);
  EXPECT_EQ(read.left_out.first, "job 9999 is not in squeue's list");
  const ReadJobs behind = JobsOf(seven, {kBothListed[0]});
  EXPECT_NE(behind.left_out.first.find("follows job 7 of user id 1001"), std::string::npos);
  const ReadJobs doubled = JobsOf(kRecordOf8 + kRecordOf8 + kForeign, {kBothListed[1]});
  EXPECT_EQ(doubled.left_out.first.find("1002"), std::string::npos);
}

TEST(WhatUsersWrite, UserIdsThatSqueuePrintsBelowZeroAreTheirs) {
  for (const std::string listed : {"-294967296", "4000000000"}) {
    Listed job = ListedAs(7, 0, "x", "PENDING");
    job["UserID"] = listed;
    const ReadJobs read = JobsOf(RecordOf(7, 4'000'000'000, "x", "PENDING") + kForeign, {job});
    ASSERT_EQ(IdsOf(read), (std::vector<int64_t>{7})) << listed;
    EXPECT_EQ(read.jobs[0].uid, 4'000'000'000);
    EXPECT_NE(read.left_out.first.find("of user id 4000000000"), std::string::npos);
    EXPECT_TRUE(JobsOf(RecordOf(7, 1001, "x", "PENDING"), {job}).jobs.empty());
  }
}

TEST(WhatUsersWrite, ARecordOfAnotherUserThanSqueueSaysIsNone) {
  const ReadJobs read =
      JobsOf(RecordOf(7, 1001, "x", "PENDING"), {ListedAs(7, 1002, "x", "PENDING")});
  EXPECT_TRUE(read.jobs.empty());
  EXPECT_EQ(read.left_out.first, "job 7 has another user than in squeue's list");
}

TEST(WhatUsersWrite, AJobThatWasRenamedMeanwhileIsReadByItsLines) {
  const ReadJobs read =
      JobsOf(RecordOf(7, 1001, "new name", "PENDING"), {ListedAs(7, 1001, "old", "PENDING")});
  ASSERT_EQ(read.jobs.size(), 1u);
  EXPECT_EQ(read.jobs[0].uid, 1001);
}

TEST(WhatUsersWrite, JobsThatHaveEndedAndLeftAreNoComplaint) {
  const ReadJobs read = JobsOf(RecordOf(7, 1001, "x", "COMPLETED"), {});
  EXPECT_TRUE(read.jobs.empty());
  EXPECT_EQ(read.left_out.records, 0);
}

std::string TaskOf(int64_t array, int64_t id, int64_t uid) {
  std::string task = RecordOf(id, uid, "x", "PENDING");
  return task.insert(task.find(" JobName"),
                     " ArrayJobId=" + std::to_string(array) + " ArrayTaskId=2");
}

Listed ListedArray(int64_t array, int64_t id, int64_t uid) {
  Listed listed = ListedAs(id, uid, "x", "PENDING");
  listed["ArrayJobID"] = std::to_string(array);
  return listed;
}

TEST(WhatUsersWrite, TasksThatSqueueJoinsAreToBeAskedForOnce) {
  const std::vector<Listed> listed = {ListedArray(10, 11, 1001)};
  const std::string text = TaskOf(10, 11, 1001) + TaskOf(10, 12, 1001) + TaskOf(10, 12, 1001) +
                           TaskOf(10, 13, 1002) + TaskOf(9, 14, 1001);
  EXPECT_EQ(JobsOf(text, listed).unlisted_tasks, (std::vector<int64_t>{12}));
}

TEST(WhatUsersWrite, TasksInOneTextDoNotCrowdOutThoseOfOthers) {
  std::string invented;
  for (int64_t id = 5'000; id < 8'000; ++id) invented += TaskOf(10, id, 1001);
  const std::string text = RecordOf(7, 1001, "x", "PENDING", "   StdOut=a\n\n" + invented) +
                           RecordOf(8, 1002, "y", "RUNNING") + TaskOf(20, 21, 1002) +
                           TaskOf(20, 22, 1002);
  std::vector<Listed> listed = kBothListed;
  listed.push_back(ListedArray(10, 10, 1001));
  listed.push_back(ListedArray(20, 20, 1002));
  const std::vector<int64_t> tasks = JobsOf(text, listed).unlisted_tasks;
  EXPECT_EQ(tasks.size(), 3'002u);
  EXPECT_EQ(std::vector<int64_t>(tasks.begin(), tasks.begin() + 4),
            (std::vector<int64_t>{5'000, 21, 5'001, 22}));
}

TEST(JobListText, SaysWhetherAJobIsAsItWas) {
  const std::string printed = SqueueText(kBothListed);
  JobList list;
  ASSERT_TRUE(AddListedJobs(printed, kMark, list));
  Job job;
  job.id = 8;
  job.uid = 1002;
  job.state = JobState::kRunning;
  EXPECT_TRUE(IsListedAs(job, list));
  job.state = JobState::kPending;
  EXPECT_FALSE(IsListedAs(job, list));
  job.state = JobState::kRunning;
  job.uid = 1001;
  EXPECT_FALSE(IsListedAs(job, list));
  job.id = 9;
  EXPECT_FALSE(IsListedAs(job, list));
}

TEST(JobListText, WithoutAllItsMarksIsNone) {
  const std::string text = SqueueText({ListedAs(7, 1001, "x", "PENDING")});
  JobList list;
  EXPECT_TRUE(AddListedJobs(text, kMark, list));
  EXPECT_EQ(list.at(7).Raw("JobName"), "x");
  EXPECT_TRUE(AddListedJobs("", kMark, list));
  for (size_t n = 1; n + 1 < text.size(); ++n) {
    EXPECT_FALSE(AddListedJobs(text.substr(0, n), kMark, list)) << n;
  }
}

TEST(ScontrolJobText, CutAtEveryByteIsReadWithoutHarm) {
  const std::string jobs = CapturedText("odd_jobs.txt").substr(0, 1500);
  const auto listed = ListedIn(jobs);
  for (size_t n = 0; n < jobs.size(); ++n) JobsOf(std::string_view(jobs).substr(0, n), listed);
}

// Records of job 8 as its list and others' words make them, wherever user 1001 may write.
RC_GTEST_PROP(WhatUsersWriteProperty, ChangesNothingElse, ()) {
  const auto part = rc::gen::element<std::string>(
      "\n", "\n\n", "   ", " ", "JobId=8 ", "JobId=9999 ", "JobName=y", "UserId=u(1002)",
      "Priority=1 ", "JobState=RUNNING", "Command=", "Licenses=", "TresPerNode=gres:gpu:8",
      "ArrayJobId=3 ", "x", "=", "\n\n" + kRecordOf8,
      "\n\n" + ReplaceAll(kRecordOf8, "Priority=5", "Priority=9 MemPerTres=N/A WCKey=(null)"),
      "\n\n" + ReplaceAll(kRecordOf8, "RUNNING", "COMPLETED"));
  const auto words = *rc::gen::container<std::vector<std::string>>(part);
  std::string written;
  for (const std::string& word : words) written += word;
  const bool in_name = *rc::gen::arbitrary<bool>();
  const bool is_renamed = *rc::gen::arbitrary<bool>();  // between scontrol and squeue
  const std::string name = in_name ? written : "x";
  std::vector<Listed> listed = kBothListed;
  listed[0]["Name"] = is_renamed ? name + "z" : name;
  const ReadJobs read = ReadWithOnesAlone(
      RecordOf(7, 1001, name, "PENDING", "   Comment=" + written + "\n   StdOut=" + written + "\n"),
      kRecordOf8, listed);
  const Job eight = JobsOf(kRecordOf8, {kBothListed[1]}).jobs.at(0);
  RC_ASSERT(!read.jobs.empty());
  RC_ASSERT(read.jobs.back() == eight);
  if (is_renamed) return;  // its own record is as its user made it
  RC_ASSERT(IdsOf(read) == (std::vector<int64_t>{7, 8}));
  RC_ASSERT(read.jobs[0].uid == 1001);
  RC_ASSERT(read.jobs[0].priority == 5);
  RC_ASSERT(read.jobs[0].state == JobState::kPending);
  RC_ASSERT(read.jobs[0].request.gpus_per_node.empty());
}

TEST(ScontrolJobText, WhatStandsBehindPeoplesTextsIsReadOfTheirOwnJobAlone) {
  const std::string text =
      "JobId=7 JobName=x\n   UserId=lab1(1001)\n   JobState=PENDING Reason=None\n"
      "   OverSubscribe=NO Exclusive=NO Contiguous=0 Licenses=a LicensesAlloc=(null) "
      "Network=(null)\n"
      "   Command=x\n   Comment=y\n   SegmentSize=9\n   StdOut=/x\n   SegmentSize=4\n"
      "   KillOnInvalidDependent=Yes ExpeditedRequeue=Yes\n\n"
      "JobId=8 JobName=x\n   UserId=lab1(1001)\n   JobState=PENDING Reason=None\n"
      "   OverSubscribe=NO Exclusive=NO Contiguous=0 Licenses=(null) LicensesAlloc=(null) "
      "Network=(null)\n   Command=x\n\n";
  const ReadJobs read =
      JobsOf(text, {{{"JobID", "7"}, {"Name", "x"}, {"State", "PENDING"}, {"Licenses", "a"}},
                    {{"JobID", "8"}, {"Name", "x"}, {"State", "PENDING"}}});
  ASSERT_EQ(read.jobs.size(), 2u);
  EXPECT_EQ(read.jobs[0].request.segment_nodes, 4);
  EXPECT_TRUE(read.jobs[0].expedited_requeue);
  EXPECT_EQ(read.jobs[0].request.licenses, (TresCounts{{"a", 1}}));
  EXPECT_EQ(read.jobs[1].request.segment_nodes, 0);
  EXPECT_FALSE(read.jobs[1].expedited_requeue);
}

TEST(ScontrolJobText, LicencesThatLookLikeFieldsSetNone) {
  const std::string licences = "x Exclusive=NODE";
  const ReadJobs read = JobsOf(
      "JobId=7 JobName=x\n   UserId=lab1(1001)\n   JobState=PENDING Reason=None\n"
      "   OverSubscribe=OK Contiguous=0 Licenses=" +
          licences + " Network=Exclusive=NODE\n\n",
      {{{"JobID", "7"}, {"Name", "x"}, {"State", "PENDING"}, {"Licenses", licences}}});
  ASSERT_EQ(read.jobs.size(), 1u);
  EXPECT_FALSE(read.jobs[0].request.exclusive);
}

TEST(ScontrolJobText, ARunningJobHasTheLicencesThatItHoldsOfThoseItMayHave) {
  const ReadJobs read = JobsOf(
      "JobId=7 JobName=x\n   UserId=lab1(1001)\n   JobState=RUNNING Reason=None\n"
      "   OverSubscribe=NO Exclusive=NO Contiguous=0 Licenses=a|b LicensesAlloc=b:1 "
      "Network=(null)\n\n",
      {{{"JobID", "7"}, {"Name", "x"}, {"State", "RUNNING"}, {"Licenses", "a|b"}}});
  ASSERT_EQ(read.jobs.size(), 1u);
  EXPECT_EQ(read.jobs[0].request.licenses, (TresCounts{{"b", 1}}));
  EXPECT_FALSE(read.jobs[0].request.any_license);
}

}  // namespace
}  // namespace gpuadvise::collect
