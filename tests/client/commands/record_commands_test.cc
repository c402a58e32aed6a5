// `gpuadvise logs` and `gpuadvise eff` on files of the test and a Slurm of prepared answers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "client/api/exit_code.h"
#include "client/commands/commands.h"
#include "tests/client/fake_api.h"
#include "tests/client/fake_console.h"
#include "tests/client/golden.h"
#include "tests/fakes/temporary_folder.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class PreparedSlurm : public SlurmQuery {
 public:
  Result<std::string> Ask(const std::string& program,
                          const std::vector<std::string>& arguments) override {
    asked.push_back(arguments);
    const auto found = answers.find(program);
    if (found == answers.end()) return Fail(ErrorCode::kInternal, program + " is not in PATH");
    return found->second;
  }
  std::map<std::string, std::string> answers;
  std::vector<std::vector<std::string>> asked;
};

class LogsTest : public ::testing::Test {
 protected:
  LogsTest() { Shows("RUNNING"); }

  void Shows(const std::string& state) {
    slurm.answers["scontrol"] = "JobId=7 JobName=t\n   UserId=ann(1)\n   JobState=" + state +
                                "\n   StdOut=" + folder.Path("out-%j") + "\n";
  }
  void Append(const std::string& text) {
    std::ofstream(folder.Path("out-7"), std::ios::app) << text;
  }
  int Run(LogsCommand command) {
    command.job_id = "7";
    return RunLogs(
        command, slurm,
        [this](double) {
          ++looks;
          if (after_look) after_look();
        },
        console);
  }

  TemporaryFolder folder;
  PreparedSlurm slurm;
  FakeConsole console;
  int looks = 0;
  std::function<void()> after_look;
};

TEST_F(LogsTest, PrintsWhatIsThereOrItsLastLines) {
  Append("one\ntwo\nthree\n");
  EXPECT_EQ(Run({}), kExitOk);
  EXPECT_EQ(console.printed, "one\ntwo\nthree\n");
  console.printed.clear();
  LogsCommand last;
  last.lines = 2;
  EXPECT_EQ(Run(last), kExitOk);
  EXPECT_EQ(console.printed, "two\nthree\n");
  console.printed.clear();
  last.lines = 100;
  Run(last);
  EXPECT_EQ(console.printed, "one\ntwo\nthree\n");
}

TEST_F(LogsTest, ATerminalGetsNothingThatItObeys) {
  Append("  1%\r 50%\r100%\n\x1b[31mred\x1b]0;x\a\n");
  console.is_terminal = true;
  EXPECT_EQ(Run({}), kExitOk);
  EXPECT_THAT(console.printed, HasSubstr("100%\n"));
  EXPECT_THAT(console.printed, Not(HasSubstr("50%")));
  EXPECT_THAT(console.printed, Not(HasSubstr("\x1b")));
}

TEST_F(LogsTest, FollowsToTheEndThroughTruncation) {
  Append("first, long\n");
  after_look = [this] {
    if (looks == 1) Append("second\n");
    if (looks == 3) std::ofstream(folder.Path("out-7"), std::ios::trunc) << "anew\n";
    if (looks == 5) Shows("COMPLETED");
  };
  LogsCommand follow;
  follow.follow = true;
  EXPECT_EQ(Run(follow), kExitOk);
  EXPECT_EQ(console.printed, "first, long\nsecond\nanew\n");
  EXPECT_THAT(console.complained, HasSubstr("truncated or replaced"));
  EXPECT_THAT(console.complained, HasSubstr("job 7 has ended: COMPLETED"));
  EXPECT_LT(looks, 60);
}

TEST_F(LogsTest, WaitsForAFileThatIsNotThereYet) {
  Shows("PENDING");
  EXPECT_EQ(Run({}), kExitUsage);
  EXPECT_THAT(console.complained, HasSubstr("the job is pending; -f waits for it"));
  after_look = [this] {
    if (looks == 3) Append("x\n");
    if (looks == 4) Shows("FAILED");
  };
  LogsCommand follow;
  follow.follow = true;
  EXPECT_EQ(Run(follow), kExitOk);
  EXPECT_EQ(console.printed, "x\n");
}

TEST_F(LogsTest, WhatCannotBeReadIsASentence) {
  EXPECT_EQ(Run({}), kExitUsage);
  EXPECT_THAT(console.complained, HasSubstr("does not exist"));
  std::filesystem::create_directory(folder.Path("out-7"));
  EXPECT_EQ(Run({}), kExitUsage);
  EXPECT_THAT(console.complained, HasSubstr("Is a directory"));
  slurm.answers.clear();
  EXPECT_NE(Run({}), kExitOk);
  EXPECT_THAT(console.complained, HasSubstr("scontrol is not in PATH"));
  Shows("RUNNING");
  LogsCommand path;
  path.path_only = true;
  EXPECT_EQ(Run(path), kExitOk);
  EXPECT_EQ(console.printed, folder.Path("out-7") + "\n");
}

const char* const kDay =
    "4711|4711|ann|COMPLETED|gpu|3600|1440|8|1|02:24:00|64G|||cpu=8,gres/"
    "gpu=2,mem=64G||2026-11-22T12:00:00|train\n"
    "4711.batch|4711.batch||COMPLETED||3600||8|1|02:24:00||8388608K|1||||batch\n"
    "4712|4712|ann|RUNNING|gpu|30|10|4|1|00:00:01|16G|||cpu=4|||later\n"
    "4713|4713|ann|OUT_OF_MEMORY|gpu|900|60|4|1|00:30:00|16G|||cpu=4,mem=16G|||evil\x1b[31m\n";

int Eff(EffCommand command, const std::string& rows, FakeConsole* console, FakeApi* api,
        PreparedSlurm* slurm) {
  slurm->answers["sacct"] = rows;
  command.own_user = "ann";
  return RunEff(command, *slurm, *api, *console);
}

TEST(EffCommand, ShowsFinishedJobsAndWhatToAskFor) {
  FakeConsole console;
  FakeApi api;
  PreparedSlurm slurm;
  console.shown.width = 80;
  api.Answer({{"jobs", {{{"job_id", 4711}, {"mean_utilisation", .93}}}}});
  EXPECT_EQ(Eff({}, kDay, &console, &api, &slurm), kExitOk);
  ExpectGolden("eff_80.txt", console.printed);
  EXPECT_THAT(slurm.asked.front(), ::testing::Contains("ann"));
}

TEST(EffCommand, ShowsOneJobInFullWithoutADaemonToo) {
  FakeConsole console;
  FakeApi api;
  PreparedSlurm slurm;
  console.shown.width = 100;
  EffCommand one;
  one.job_id = "4711";
  const std::string rows(kDay, std::string(kDay).find("4712|"));
  EXPECT_EQ(Eff(one, rows, &console, &api, &slurm), kExitOk);
  ExpectGolden("eff_one_100.txt", console.printed);
}

TEST(EffCommand, SaysWhatIsNotThere) {
  FakeConsole console;
  FakeApi api;
  PreparedSlurm slurm;
  EXPECT_EQ(Eff({}, "", &console, &api, &slurm), kExitOk);
  EXPECT_THAT(console.printed, HasSubstr("No finished jobs"));
  EffCommand one;
  one.job_id = "9";
  EXPECT_EQ(Eff(one, "", &console, &api, &slurm), kExitUsage);
  EXPECT_THAT(console.complained, HasSubstr("accounting knows no job 9"));
  one.job_id = "4712";
  EXPECT_EQ(
      Eff(one, "4712|4712|ann|RUNNING|gpu|30|10|4|1|00:00:01|16G||||||x\n", &console, &api, &slurm),
      kExitUsage);
  EXPECT_THAT(console.complained, HasSubstr("has not ended; `gpuadvise watch 4712`"));
  one.since = "7d";
  EXPECT_EQ(Eff(one, "", &console, &api, &slurm), kExitUsage);
  EffCommand soon;
  soon.since = "soon";
  EXPECT_EQ(Eff(soon, "", &console, &api, &slurm), kExitUsage);
}

TEST(EffCommand, JsonHasEveryFigure) {
  FakeConsole console;
  FakeApi api;
  PreparedSlurm slurm;
  EffCommand command;
  command.json = true;
  EXPECT_EQ(Eff(command, kDay, &console, &api, &slurm), kExitOk);
  const json answer = json::parse(console.printed);
  ASSERT_EQ(answer["jobs"].size(), 2u);
  EXPECT_DOUBLE_EQ(answer["jobs"][0]["cpu_efficiency"], .3);
  EXPECT_EQ(answer["jobs"][1]["memory_efficiency"], nullptr);
}

}  // namespace
}  // namespace gpuadvise::client
