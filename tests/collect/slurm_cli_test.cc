#include "daemon/collect/slurm_cli.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/collect/captured_text.h"
#include "tests/collect/squeue_text.h"
#include "tests/fakes/temporary_folder.h"

namespace gpuadvise::collect {
namespace {

constexpr std::chrono::seconds kDeadline(60);

Result<std::string> AskShell(const std::string& script) {
  return AskSlurm({"/bin/sh", "-c", script}, kDeadline);
}

TEST(AskSlurm, GivesWhatTheToolPrintsInTheOneDialectThatIsRead) {
  EXPECT_EQ(AskShell("echo $SLURM_TIME_FORMAT $TZ $LC_ALL").value(), "%s UTC C\n");
}

TEST(AskSlurm, NamesTheStatusAndTheFirstLineOfTheErrors) {
  const auto result = AskShell("echo first >&2; echo second >&2; exit 3");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(result.error().message, "/bin/sh ended with status 3: first");
}

TEST(AskSlurm, SaysThatAToolIsNotThere) {
  const std::string message = " cannot be run; is it installed and in PATH?";
  EXPECT_EQ(AskSlurm({"/no/such/program"}, kDeadline).error().message,
            "/no/such/program" + message);
  EXPECT_EQ(AskShell("exit 127").error().message, "/bin/sh" + message);
}

TEST(AskSlurm, SaysWhyItStoppedWaiting) {
  const auto late = AskSlurm({"/bin/sh", "-c", "exec sleep 1000"}, std::chrono::milliseconds(50));
  EXPECT_EQ(late.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(late.error().message, "/bin/sh did not answer within 0.05 s");
  EXPECT_EQ(AskShell("kill -9 $$").error().message, "/bin/sh was ended by a signal");
}

// A Slurm of files: `jobs` is what scontrol prints of all jobs, alone/ID what it does of one.
class SlurmOfFiles : public testing::Test {
 protected:
  SlurmOfFiles() {
    folder_.Write("config", CapturedText("odd_config.txt"));
    folder_.Write("node", CapturedText("odd_nodes.txt"));
    folder_.Write("partition", CapturedText("odd_partitions.txt"));
    folder_.Write("reservation", "");
    folder_.WriteProgram("scontrol",
                         "#!/bin/sh\ncd \"${0%/*}\"\nfor last; do :; done\n"
                         "case \"$*\" in *' job '*) echo \"$last\" >> asked; last=alone/$last;; "
                         "esac\nexec cat \"$last\"\n");
    // The mark is what the format has behind each field.
    folder_.WriteProgram("squeue", "#!/bin/sh\ncd \"${0%/*}\"\nexec sed \"s/" + std::string(kMark) +
                                       "/${SQUEUE_FORMAT2##*:0}/g\" list\n");
    SlurmCliOptions options;
    options.bin_dir = folder_.Path("");
    source_ = std::move(MakeSlurmCliSource(options).value());
  }
  static std::string RecordOf(int64_t id, int priority) {
    return "JobId=" + std::to_string(id) +
           " JobName=x\n   UserId=lab1(1001)\n   Priority=" + std::to_string(priority) +
           "\n   JobState=PENDING Reason=None\n\n";
  }
  // Jobs 1 to `count` wait at priority 5; with `forged`, the last one's text holds a record of each
  // other one at priority 9.
  void WriteJobs(int64_t count, bool forged) {
    std::vector<Listed> listed;
    std::string text, written;
    for (int64_t id = 1; id <= count; ++id) {
      text += RecordOf(id, 5);
      written += id < count ? RecordOf(id, 9) : "";
      folder_.Write("alone/" + std::to_string(id), RecordOf(id, 5) + (id < count ? "" : written));
      listed.push_back({{"JobID", std::to_string(id)}, {"Name", "x"}, {"State", "PENDING"}});
    }
    folder_.Write("job", text + (forged ? written : ""));
    folder_.Write("list", SqueueText(listed));
  }
  Poll Step() {
    auto poll = source_->Step();
    EXPECT_TRUE(poll) << poll.error().message;
    return poll ? *std::move(poll) : Poll();
  }
  static int64_t At(const Poll& poll, int64_t priority) {
    return std::count_if(poll.snapshot.jobs.begin(), poll.snapshot.jobs.end(),
                         [&](const Job& job) { return job.priority == priority; });
  }
  int64_t Asked() const {
    std::ifstream file(folder_.Path("asked"));
    return std::count(std::istreambuf_iterator<char>(file), {}, '\n');
  }

  TemporaryFolder folder_;
  std::unique_ptr<Source> source_;
};

TEST_F(SlurmOfFiles, JobsWithTwoRecordsAreAskedForAlone) {
  WriteJobs(5, true);
  const Poll poll = Step();
  EXPECT_EQ(At(poll, 5), 5);
  EXPECT_EQ(poll.snapshot.jobs.size(), 5u);
  EXPECT_EQ(Asked(), 4);
  EXPECT_EQ(poll.left_out.records, 4);
}

TEST_F(SlurmOfFiles, TheHealthOfTheSchedulerIsReadWhereItIsAllowed) {
  WriteJobs(1, false);
  folder_.WriteProgram("sdiag", "#!/bin/sh\necho denied >&2\nexit 1\n");
  const SchedulerHealth denied = Step().snapshot.config.health;
  EXPECT_EQ(denied.read_at, std::nullopt);
  EXPECT_TRUE(denied.problem.ends_with("sdiag ended with status 1: denied")) << denied.problem;
  folder_.Write("diag", CapturedText("sdiag.txt"));
  folder_.WriteProgram("sdiag", "#!/bin/sh\nexec cat \"${0%/*}/diag\"\n");
  SlurmCliOptions options;
  options.bin_dir = folder_.Path("");
  source_ = std::move(MakeSlurmCliSource(options).value());
  const SchedulerHealth health = Step().snapshot.config.health;
  EXPECT_EQ(health.backfill.mean_depth, 3);
  EXPECT_EQ(health.problem, "");
}

TEST_F(SlurmOfFiles, JobsBeyondThoseThatAreAskedForStayAsTheyWere) {
  WriteJobs(80, false);
  EXPECT_EQ(At(Step(), 5), 80);
  EXPECT_EQ(Asked(), 0);
  WriteJobs(80, true);
  const Poll poll = Step();
  EXPECT_EQ(At(poll, 5), 80);
  EXPECT_EQ(poll.snapshot.jobs.size(), 80u);
  EXPECT_EQ(Asked(), 50);
  EXPECT_EQ(poll.left_out.first,
            "29 jobs that have more than one record stay as they were: 50 are asked for alone in a "
            "poll");
}

TEST_F(SlurmOfFiles, TasksBeyondThoseThatAreAskedForAreTold) {
  std::string text = RecordOf(10, 5);
  for (int64_t id = 1'000; id < 3'500; ++id) {
    std::string task = RecordOf(id, 9);
    text += task.insert(task.find(" JobName"), " ArrayJobId=10 ArrayTaskId=2");
  }
  folder_.Write("job", text);
  folder_.Write("list",
                SqueueText({{{"JobID", "10"}, {"ArrayJobID", "10"}, {"State", "PENDING"}}}));
  const Poll poll = Step();
  EXPECT_EQ(poll.snapshot.jobs.size(), 1u);
  EXPECT_EQ(poll.left_out.first,
            "500 tasks that squeue joins were not asked for: no more than 2000 are in a poll");
}

TEST_F(SlurmOfFiles, WarningsBetweenTheLinesOfAListCostNoJob) {
  WriteJobs(3, false);
  const std::string list = SqueueText({{{"JobID", "1"}, {"State", "PENDING"}},
                                       {{"JobID", "2"}, {"State", "PENDING"}},
                                       {{"JobID", "3"}, {"State", "PENDING"}}});
  const size_t second = list.find('\n') + 1;
  folder_.Write("list", "squeue: warning: no controller\n" + list.substr(0, second) +
                            "squeue: warning: again\n" + list.substr(second) +
                            "squeue: warning: slow\n");
  EXPECT_EQ(Step().snapshot.jobs.size(), 3u);
}

TEST_F(SlurmOfFiles, AListThatEndsInsideAJobIsNone) {
  WriteJobs(3, false);
  const std::string list = SqueueText({{{"JobID", "1"}, {"State", "PENDING"}}});
  folder_.Write("list", list + "22");
  const auto poll = source_->Step();
  ASSERT_FALSE(poll);
  EXPECT_EQ(poll.error().message,
            "squeue's list of jobs is cut off or not valid; is it Slurm's own squeue?");
}

TEST_F(SlurmOfFiles, ATableThatEndsInsideARecordIsNone) {
  WriteJobs(1, false);
  const std::string nodes = CapturedText("odd_nodes.txt");
  folder_.Write("node", nodes.substr(0, nodes.rfind("GresUsed")));
  const auto poll = source_->Step();
  ASSERT_FALSE(poll);
  EXPECT_EQ(poll.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(poll.error().message, "scontrol show node ends inside a record; is it Slurm's own?");
}

TEST_F(SlurmOfFiles, LicencesAreAskedForWhereThereAreSome) {
  WriteJobs(1, false);
  folder_.Write("license", CapturedText("../data/26.05/license.txt"));
  EXPECT_TRUE(Step().snapshot.config.licenses.empty());
  folder_.Write("config", CapturedText("../data/26.05/config.txt"));
  SlurmCliOptions options;
  options.bin_dir = folder_.Path("");
  source_ = std::move(MakeSlurmCliSource(options).value());
  EXPECT_EQ(Step().snapshot.config.licenses.size(), 2u);
}

TEST_F(SlurmOfFiles, NodesThatSlurmHidesAreTold) {
  WriteJobs(1, false);
  folder_.Write("partition", CapturedText("odd_partitions.txt") +
                                 "PartitionName=cloud\n   Nodes=cloud[1-7]\n\n");
  EXPECT_EQ(Step().left_out.first,
            "7 of the partitions' nodes are not shown: PrivateData=cloud shows nodes of a cloud "
            "that are powered down");
}

TEST(AskSlurm, SaysHowToSeeWhatIsPrivate) {
  EXPECT_EQ(AskShell("echo 'slurm_load_node error: Access/permission denied' >&2; exit 1")
                .error()
                .message,
            "/bin/sh ended with status 1: slurm_load_node error: Access/permission denied; where "
            "PrivateData hides this, make the user of gpuadvised an operator: sacctmgr add user "
            "NAME account=ANY adminlevel=operator");
}

TEST(AskSlurm, AsksNoOtherClusterThanItsOwn) {
  ASSERT_EQ(::setenv("SLURM_CLUSTERS", "other", 1), 0);
  ASSERT_EQ(::setenv("LANG", "de_DE.UTF-8", 1), 0);
  EXPECT_EQ(AskShell("echo ${SLURM_CLUSTERS-none} $LC_ALL").value(), "none C\n");
  ::unsetenv("SLURM_CLUSTERS");
}

}  // namespace
}  // namespace gpuadvise::collect
