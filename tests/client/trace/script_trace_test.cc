#include "client/trace/script_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/fakes/temporary_folder.h"

namespace gpuadvise::client {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TracedCommand Read(const std::string& command, const std::string& python = "",
                   const char* path = "") {
  const auto traced = ReadTracedCommand(command, python, path);
  EXPECT_TRUE(traced) << traced.error().message;
  return traced.value_or(TracedCommand());
}

TEST(TracedCommand, IsTheProgramWithItsArguments) {
  const TracedCommand traced = Read("python3.11 -u train.py --lr '1e 4'");
  EXPECT_EQ(traced.python, "python3.11");
  EXPECT_EQ(traced.program, "train.py");
  EXPECT_THAT(traced.words, ElementsAre("train.py", "--lr", "1e 4"));
}

TEST(TracedCommand, OfAModuleKeepsTheOption) {
  const TracedCommand traced = Read("/opt/env/bin/python -m project.train --x");
  EXPECT_EQ(traced.python, "/opt/env/bin/python");
  EXPECT_THAT(traced.words, ElementsAre("-m", "project.train", "--x"));
}

TEST(TracedCommand, LeavesLaunchersOut) {
  EXPECT_THAT(Read("torchrun --nproc_per_node 4 src/train.py --x").words,
              ElementsAre("src/train.py", "--x"));
  EXPECT_TRUE(Read("torchrun train.py").launched);
  EXPECT_FALSE(Read("python train.py").launched);
  EXPECT_THAT(Read("accelerate launch --num_processes 8 train.py").words, ElementsAre("train.py"));
  EXPECT_THAT(Read("srun --ntasks 2 python train.py").words, ElementsAre("train.py"));
  EXPECT_THAT(Read("WANDB=off python train.py").environment, ElementsAre("WANDB=off"));
}

TEST(TracedCommand, TakesThePythonBesideTheLauncher) {
  const TemporaryFolder folder;
  folder.WriteProgram("env/bin/torchrun", "#!/bin/sh\n");
  folder.WriteProgram("env/bin/python3", "#!/bin/sh\n");
  const std::string path = folder.Path("env/bin");
  EXPECT_EQ(Read("torchrun train.py", "", path.c_str()).python, path + "/python3");
  EXPECT_EQ(Read("torchrun train.py", "", "/nonexistent").python, "python3");
  EXPECT_EQ(Read("torchrun train.py", "mine", path.c_str()).python, "mine");
}

TEST(TracedCommand, WithoutAPythonProgramIsRefused) {
  for (const char* command : {"make train", "", "llamafactory-cli train x.yaml", "python"}) {
    const auto traced = ReadTracedCommand(command, "", "");
    ASSERT_FALSE(traced) << command;
    EXPECT_THAT(traced.error().message, HasSubstr("no Python program is started by"));
  }
}

TEST(TracedCommand, ThatOnlyAShellKnowsIsRefused) {
  const auto traced = ReadTracedCommand("python train.py --data $(ls /data)", "", "");
  ASSERT_FALSE(traced);
  EXPECT_THAT(traced.error().message, HasSubstr("only a shell knows"));
}

}  // namespace
}  // namespace gpuadvise::client
