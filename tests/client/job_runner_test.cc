#include "client/job_runner.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/client/temporary_folder.h"

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

TEST(Sbatch, MissingFromThePathIsSaid) {
  const std::string before = std::getenv("PATH");
  ::setenv("PATH", "/nonexistent", 1);
  const auto printed = SbatchRunner().Submit({}, "");
  ::setenv("PATH", before.c_str(), 1);
  ASSERT_FALSE(printed);
  EXPECT_EQ(printed.error().message.find("sbatch is not in PATH"), 0u);
}

}  // namespace
}  // namespace gpuadvise
