#include "client/job_runner.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "tests/fakes/temporary_folder.h"

namespace gpuadvise {
namespace {

TEST(RunningPrograms, InputGoesInAndOutputComesOut) {
  EXPECT_EQ(RunProgram("/bin/cat", {}, "hello", ChildErrors::kInherited), "hello");
  EXPECT_EQ(RunProgram("/bin/echo", {"a b", "$x"}, "", ChildErrors::kInherited), "a b $x\n");
}

TEST(RunningPrograms, LargeInputAndOutputDoNotBlock) {
  const std::string large(1'000'000, 'x');
  EXPECT_EQ(RunProgram("/bin/cat", {}, large, ChildErrors::kInherited), large);
  EXPECT_EQ(RunProgram("/bin/true", {}, large, ChildErrors::kInherited), "");
}

TEST(RunningPrograms, FailureIsAnError) {
  EXPECT_EQ(RunProgram("/bin/false", {}, "", ChildErrors::kDiscarded).error().message,
            "/bin/false failed (exit status 1)");
  EXPECT_EQ(
      RunProgram("/bin/sh", {"-c", "kill -9 $$"}, "", ChildErrors::kDiscarded).error().message,
      "/bin/sh failed (signal 9)");
  EXPECT_NE(RunProgram("/nonexistent", {}, "", ChildErrors::kDiscarded)
                .error()
                .message.find("/nonexistent could not be run"),
            std::string::npos);
}

TEST(RunningPrograms, BothOutputsCanBeTakenTogether) {
  const auto end = RunToItsEnd(
      {"/bin/sh", {"-c", "cat; echo out; echo err >&2; exit 3"}, "in ", ChildErrors::kTogether, 0});
  ASSERT_TRUE(end);
  EXPECT_EQ(end->output, "in out\nerr\n");
  EXPECT_EQ(end->failure, "exit status 3");
}

TEST(RunningPrograms, ADeadlineEndsAProgramWithItsChildren) {
  const TemporaryFolder folder;
  const auto end = RunToItsEnd({"/bin/sh",
                                {"-c", "sleep 600 & echo $! >" + folder.Path("pid") + "; wait"},
                                "",
                                ChildErrors::kTogether,
                                0.5});
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().message, "/bin/sh did not answer within 0.5 s");
  pid_t child = 0;
  std::ifstream(folder.Path("pid")) >> child;
  ASSERT_GT(child, 0);
  // Killed, but whoever adopted it may not have buried it yet.
  std::ifstream status("/proc/" + std::to_string(child) + "/stat");
  std::string words;
  std::getline(status, words);
  EXPECT_TRUE(words.empty() || words.find(") Z") != std::string::npos ||
              words.find(") X") != std::string::npos)
      << words;
}

TEST(RunningPrograms, ADeadlineHoldsForOneThatClosedItsOutput) {
  const auto end = RunToItsEnd(
      {"/bin/sh", {"-c", "exec >&- 2>&-; exec sleep 600"}, "", ChildErrors::kTogether, 0.3});
  EXPECT_FALSE(end);
}

TEST(RunningPrograms, ADeadlineThatIsKeptChangesNothing) {
  const auto end = RunToItsEnd({"/bin/echo", {"x"}, "", ChildErrors::kInherited, 60});
  ASSERT_TRUE(end);
  EXPECT_EQ(end->output, "x\n");
  EXPECT_EQ(end->failure, "");
}

TEST(FindingPrograms, TheFirstExecutableWins) {
  const TemporaryFolder folder;
  folder.Write("a/sbatch", "not executable");
  const std::string program = folder.WriteProgram("b/sbatch", "#!/bin/sh\n");
  const std::string path = folder.Path("none") + ":" + folder.Path("a") + ":" + folder.Path("b");
  EXPECT_EQ(FindInPath("sbatch", path.c_str()), program);
  EXPECT_EQ(FindInPath("sbatch", folder.Path("none").c_str()), "");
}

TEST(Sbatch, OfThePathIsRunWithTheScript) {
  const TemporaryFolder folder;
  folder.WriteProgram("sbatch", "#!/bin/sh\necho \"$@\" >&2\ncat\necho 4711\n");
  const std::string before = std::getenv("PATH");
  ::setenv("PATH", (folder.Path("") + ":" + before).c_str(), 1);
  const auto printed = SbatchRunner().Submit({"--parsable"}, "#!/bin/bash\n");
  ::setenv("PATH", before.c_str(), 1);
  EXPECT_EQ(printed, "#!/bin/bash\n4711\n");
}

TEST(Sbatch, IsAskedWhetherItWouldTakeAJob) {
  const TemporaryFolder folder;
  folder.WriteProgram("sbatch",
                      "#!/bin/sh\necho \"$@\"\ncat\n"
                      "echo 'sbatch: error: QOS not permitted' >&2\nexit 1\n");
  const std::string before = std::getenv("PATH");
  ::setenv("PATH", (folder.Path("") + ":" + before).c_str(), 1);
  const auto verdict = SbatchRunner().Test({"--parsable", "-p", "a b"}, "#!/bin/bash\n");
  ::setenv("PATH", before.c_str(), 1);
  ASSERT_TRUE(verdict);
  EXPECT_FALSE(verdict->accepted);
  EXPECT_EQ(verdict->said,
            "--test-only --parsable -p a b\n#!/bin/bash\nsbatch: error: QOS not permitted\n");
}

TEST(Sbatch, MissingFromThePathIsSaid) {
  const std::string before = std::getenv("PATH");
  ::setenv("PATH", "/nonexistent", 1);
  const auto printed = SbatchRunner().Submit({}, "");
  ::setenv("PATH", before.c_str(), 1);
  ASSERT_FALSE(printed);
  EXPECT_EQ(printed.error().message.find("sbatch is not in PATH"), 0u);
  ::setenv("PATH", "/nonexistent", 1);
  const auto verdict = SbatchRunner().Test({}, "");
  ::setenv("PATH", before.c_str(), 1);
  EXPECT_FALSE(verdict);
}

}  // namespace
}  // namespace gpuadvise
