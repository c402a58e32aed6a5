#include <gtest/gtest.h>

#include "client/preflight/preflight.h"
#include "tests/client/fake_site.h"

namespace gpuadvise::client {
namespace {

JobPlan Plan() {
  JobPlan plan;
  plan.output_dir = "/scratch/me/run";
  return plan;
}

Check Output(JobPath output) {
  JobFacts facts;
  facts.output = std::move(output);
  return OutputFolderCheck(Plan(), facts);
}

Check Log(JobPath log) {
  JobFacts facts;
  facts.logs = {std::move(log)};
  return LogFolderChecks(facts).front();
}

TEST(OutputFolder, ThatCanBeWrittenIsOk) {
  const Check check = Output(PathOf(GoodFolder("/scratch/me/run")));
  EXPECT_EQ(check.health, Health::kOk);
  EXPECT_EQ(check.finding, "/scratch/me/run, writable");
}

TEST(OutputFolder, ThatIsMissingIsMadeByTheJobWhereItCanBe) {
  EXPECT_EQ(Output(PathOf(NoFolder("/scratch/me/run", "/scratch/me", true))).finding,
            "/scratch/me/run does not exist yet: the job makes it");
  const Check check = Output(PathOf(NoFolder("/scratch/me/run", "/scratch", false)));
  EXPECT_EQ(check.health, Health::kError);
  EXPECT_EQ(check.finding,
            "/scratch/me/run does not exist and cannot be created: /scratch is not writable; set "
            "output.dir to a folder of your own");
}

TEST(OutputFolder, ThatIsNotYoursIsAnError) {
  PathFacts folder = GoodFolder("/data");
  folder.writable = false;
  EXPECT_EQ(Output(PathOf(folder)).health, Health::kError);
  folder.trouble = "Permission denied";
  EXPECT_EQ(Output(PathOf(folder)).finding,
            "/data cannot be inspected: Permission denied; use another folder, or ask its owner");
}

TEST(OutputFolder, AFileOrTheRootIsAnError) {
  EXPECT_EQ(Output(PathOf(GoodFile("/scratch/me/run"))).health, Health::kError);
  for (const char* root : {"/", "//", "/./", "/a/.."}) {
    EXPECT_EQ(Output(PathOf(GoodFolder(root))).health, Health::kError) << root;
  }
}

TEST(OutputFolder, ACommandInItsNameIsAWarningAndAnUnsetVariableToo) {
  JobPath path = PathOf(NoFolder("/s/$(date)", "/s", true));
  path.has_command = true;
  EXPECT_EQ(Output(path).health, Health::kWarning);
  JobPath unset = PathOf(NoFolder("/run", "/", false));
  unset.name = "$SCRATCH/run";
  unset.not_set = "SCRATCH";
  EXPECT_EQ(Output(unset).finding,
            "$SCRATCH/run: $SCRATCH has no value here, so it would be /run; set it, or write the "
            "path out");
}

TEST(OutputFolder, WhatOnlyTheJobKnowsIsCheckedUpToThere) {
  JobPath path = PathOf(GoodFolder("/scratch/me/"));
  path.name = "/scratch/me/$SLURM_JOB_ID";
  path.only_in_job = "SLURM_JOB_ID";
  EXPECT_EQ(Output(path).finding,
            "/scratch/me/$SLURM_JOB_ID: /scratch/me/ is writable; the rest is known at run time");
}

TEST(OutputFolder, ThatIsNotNamedIsNotChecked) {
  EXPECT_EQ(OutputFolderCheck(JobPlan{}, JobFacts{}).health, Health::kOk);
  EXPECT_NE(OutputFolderCheck(Plan(), JobFacts{}).finding.find("not checked"), std::string::npos);
}

TEST(LogFolder, ThatIsMissingIsMadeOnSubmission) {
  const JobPath log = PathOf(NoFolder("/project/logs/", "/project", true));
  EXPECT_EQ(Log(log).finding, "/project/logs/ does not exist yet: it is created on submission");
  JobFacts facts;
  facts.logs = {log, log, PathOf(GoodFolder("/project")), PathOf(NoFolder("/x/y", "/", false))};
  EXPECT_EQ(LogFoldersToMake(facts), std::vector<std::string>{"/project/logs/"});
}

TEST(LogFolder, APatternInItsNameIsAnError) {
  JobPath log = PathOf(NoFolder("/project/logs/", "/project", true));
  log.name = "logs/%j/out";
  log.only_in_job = "%j";
  EXPECT_EQ(Log(log).finding,
            "logs/%j/out: Slurm creates no folders, and %j is known only at run time; put it into "
            "the file name");
  JobFacts facts;
  facts.logs = {log};
  EXPECT_TRUE(LogFoldersToMake(facts).empty());
}

TEST(LogFolder, ADeviceNeedsNone) {
  JobPath log = PathOf(GoodFolder("/dev"));
  log.name = "/dev/null";
  JobFacts facts;
  facts.logs = {log};
  EXPECT_TRUE(LogFolderChecks(facts).empty());
}

TEST(Workdir, MustBeAFolderThatCanBeEntered) {
  const auto of = [](const PathFacts& found) {
    JobFacts facts;
    facts.workdir = PathOf(found);
    return WorkdirChecks(facts).front().health;
  };
  EXPECT_EQ(of(GoodFolder("/w")), Health::kOk);
  EXPECT_EQ(of(NoFolder("/w", "/", true)), Health::kError);
  EXPECT_EQ(of(GoodFile("/w")), Health::kError);
  PathFacts closed = GoodFolder("/w");
  closed.executable = false;
  EXPECT_EQ(of(closed), Health::kError);
  EXPECT_TRUE(WorkdirChecks(JobFacts{}).empty());
}

}  // namespace
}  // namespace gpuadvise::client
