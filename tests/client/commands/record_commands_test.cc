// `gpuadvise logs` and `gpuadvise eff` on files of the test and a Slurm of prepared answers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "client/api/exit_code.h"
#include "tests/client/fake_process.h"
#include "tests/client/golden.h"
#include "tests/fakes/temporary_folder.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class LogsTest : public ::testing::Test, protected FakeProcess {
 protected:
  LogsTest() { Shows("RUNNING"); }

  void Shows(const std::string& state) {
    slurm.answers["scontrol"] = "JobId=7 JobName=t\n   UserId=ann(1)\n   JobState=" + state +
                                "\n   StdOut=" + folder.Path("out-%j") + "\n";
  }
  void Append(const std::string& text) {
    std::ofstream(folder.Path("out-7"), std::ios::app) << text;
  }
  int Logs(std::vector<std::string> words) {
    words.insert(words.begin(), {"logs", "7"});
    return Gpuadvise(std::move(words));
  }

  TemporaryFolder folder;
};

TEST_F(LogsTest, PrintsWhatIsThereOrItsLastLines) {
  Append("one\ntwo\nthree\n");
  EXPECT_EQ(Logs({}), kExitOk);
  EXPECT_EQ(console.printed, "one\ntwo\nthree\n");
  console.printed.clear();
  EXPECT_EQ(Logs({"-n", "2"}), kExitOk);
  EXPECT_EQ(console.printed, "two\nthree\n");
  console.printed.clear();
  Logs({"--lines=100"});
  EXPECT_EQ(console.printed, "one\ntwo\nthree\n");
}

TEST_F(LogsTest, ATerminalGetsNothingThatItObeys) {
  Append("  1%\r 50%\r100%\n\x1b[31mred\x1b]0;x\a\n");
  console.is_terminal = true;
  EXPECT_EQ(Logs({}), kExitOk);
  EXPECT_THAT(console.printed, HasSubstr("100%\n"));
  EXPECT_THAT(console.printed, Not(HasSubstr("50%")));
  EXPECT_THAT(console.printed, Not(HasSubstr("\x1b")));
}

TEST_F(LogsTest, FollowsToTheEndThroughTruncation) {
  Append("first, long\n");
  after_sleep = [this] {
    if (slept.size() == 1) Append("second\n");
    if (slept.size() == 3) std::ofstream(folder.Path("out-7"), std::ios::trunc) << "anew\n";
    if (slept.size() == 5) Shows("COMPLETED");
  };
  EXPECT_EQ(Logs({"--follow"}), kExitOk);
  EXPECT_EQ(console.printed, "first, long\nsecond\nanew\n");
  EXPECT_THAT(console.complained, HasSubstr("truncated or replaced"));
  EXPECT_THAT(console.complained, HasSubstr("job 7 has ended: COMPLETED"));
  EXPECT_LT(slept.size(), 60u);
}

TEST_F(LogsTest, WaitsForAFileThatIsNotThereYet) {
  Shows("PENDING");
  EXPECT_EQ(Logs({}), kExitUsage);
  EXPECT_THAT(console.complained, HasSubstr("the job is pending; -f waits for it"));
  after_sleep = [this] {
    if (slept.size() == 3) Append("x\n");
    if (slept.size() == 4) Shows("FAILED");
  };
  EXPECT_EQ(Logs({"--follow"}), kExitOk);
  EXPECT_EQ(console.printed, "x\n");
}

TEST_F(LogsTest, WhatCannotBeReadIsASentence) {
  EXPECT_EQ(Logs({}), kExitUsage);
  EXPECT_THAT(console.complained, HasSubstr("does not exist"));
  std::filesystem::create_directory(folder.Path("out-7"));
  EXPECT_EQ(Logs({}), kExitUsage);
  EXPECT_THAT(console.complained, HasSubstr("Is a directory"));
  slurm.answers.clear();
  EXPECT_NE(Logs({}), kExitOk);
  EXPECT_THAT(console.complained, HasSubstr("scontrol is not in PATH"));
  Shows("RUNNING");
  EXPECT_EQ(Logs({"--path"}), kExitOk);
  EXPECT_EQ(console.printed, folder.Path("out-7") + "\n");
}

const char* const kDay =
    "4711|4711|ann|COMPLETED|gpu|3600|1440|8|1|02:24:00|64G|||cpu=8,gres/"
    "gpu=2,mem=64G||2026-11-22T12:00:00|train\n"
    "4711.batch|4711.batch||COMPLETED||3600||8|1|02:24:00||8388608K|1||||batch\n"
    "4712|4712|ann|RUNNING|gpu|30|10|4|1|00:00:01|16G|||cpu=4|||later\n"
    "4713|4713|ann|OUT_OF_MEMORY|gpu|900|60|4|1|00:30:00|16G|||cpu=4,mem=16G|||evil\x1b[31m\n";

class EffCommand : public ::testing::Test, protected FakeProcess {
 protected:
  EffCommand() { user = "ann"; }
  int Eff(std::vector<std::string> words, const std::string& rows) {
    slurm.answers["sacct"] = rows;
    words.insert(words.begin(), "eff");
    return Gpuadvise(std::move(words));
  }
};

TEST_F(EffCommand, WhatIsSaidOfSeveralJobsIsSaidOnce) {
  std::string rows;
  for (const char* id : {"1", "2", "3"}) {
    rows += std::string(id) + "|" + id + "|ann|OUT_OF_MEMORY|gpu|900|60|4|1|00:50:00|16G|||" +
            "cpu=4,mem=16G|||x\n";
  }
  EXPECT_EQ(Eff({}, rows), kExitOk);
  EXPECT_NE(console.printed.find("1, 2 and 3: it ran out of host memory"), std::string::npos)
      << console.printed;
}

TEST_F(EffCommand, ShowsFinishedJobsAndWhatToAskFor) {
  console.shown.width = 80;
  api.Answer({{"jobs", {{{"job_id", 4711}, {"mean_utilisation", .93}}}}});
  EXPECT_EQ(Eff({}, kDay), kExitOk);
  ExpectGolden("eff_80.txt", console.printed);
  EXPECT_THAT(slurm.asked.front(), ::testing::Contains("ann"));
}

TEST_F(EffCommand, ShowsOneJobInFullWithoutADaemonToo) {
  console.shown.width = 100;
  const std::string rows(kDay, std::string(kDay).find("4712|"));
  EXPECT_EQ(Eff({"4711"}, rows), kExitOk);
  ExpectGolden("eff_one_100.txt", console.printed);
}

TEST_F(EffCommand, ARunWithoutNvidiasLibraryIsNotToldToUseRun) {
  const std::string row(kDay, std::string(kDay).find("4711.batch"));
  api.Answer({{"jobs", {{{"job_id", 4711}, {"has_outcome", true}}}}});
  EXPECT_EQ(Eff({"4711"}, row), kExitOk);
  EXPECT_THAT(console.printed, HasSubstr("2 GPUs, use not known: gpuadvise run could not load"));
}

TEST_F(EffCommand, ADatabaseThatIsDownIsSaidInASentence) {
  slurm.error =
      "sacct failed: sacct: error: slurm_persist_conn_open_without_init: failed to open persistent "
      "connection to host:db:6819: Connection refused";
  EXPECT_EQ(Eff({}, ""), kExitError);
  EXPECT_EQ(console.complained,
            "gpuadvise: slurmdbd, Slurm's accounting database, does not answer (Connection "
            "refused)\n");
}

TEST_F(EffCommand, SaysWhatIsNotThere) {
  EXPECT_EQ(Eff({}, ""), kExitOk);
  EXPECT_THAT(console.printed, HasSubstr("No finished jobs"));
  EXPECT_EQ(Eff({"9"}, ""), kExitUsage);
  EXPECT_THAT(console.complained, HasSubstr("accounting knows no job 9"));
  EXPECT_EQ(Eff({"4712"}, "4712|4712|ann|RUNNING|gpu|30|10|4|1|00:00:01|16G||||||x\n"), kExitUsage);
  EXPECT_THAT(console.complained, HasSubstr("has not ended; `gpuadvise watch 4712`"));
  EXPECT_EQ(Eff({"4712", "--since", "7d"}, ""), kExitUsage);
  EXPECT_EQ(Eff({"-S", "soon"}, ""), kExitUsage);
}

TEST_F(EffCommand, JsonHasEveryFigure) {
  EXPECT_EQ(Eff({"--json"}, kDay), kExitOk);
  const json answer = json::parse(console.printed);
  ASSERT_EQ(answer["jobs"].size(), 2u);
  EXPECT_DOUBLE_EQ(answer["jobs"][0]["cpu_efficiency"], .3);
  EXPECT_EQ(answer["jobs"][1]["memory_efficiency"], nullptr);
}

}  // namespace
}  // namespace gpuadvise::client
