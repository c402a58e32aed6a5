// The launch part of a job script as bash runs it, with and without gpuadvise on the node.
#include "client/sbatch/job_launch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "client/sbatch/job_runner.h"
#include "client/sbatch/job_words.h"
#include "tests/fakes/temporary_folder.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;
using testing::HasSubstr;

api::Strategy Strategy() {
  api::Strategy strategy;
  strategy.micro_batch = 8;
  strategy.accumulation = 3;
  strategy.gpus_per_node = 4;
  return strategy;
}

class Launching : public testing::Test {
 protected:
  // A program in the node's PATH.
  void Provide(const std::string& name, const std::string& body) {
    std::ofstream(folder_.Path(name)) << "#!/bin/bash\n" << body << "\n";
    ::chmod(folder_.Path(name).c_str(), 0755);
  }

  // What the script for `spec` prints when bash runs it under `environment`.
  std::string Run(const json& spec, const std::string& environment = "") {
    const auto lines = LaunchLines(spec, Strategy(), StrategyWords(spec, Strategy()));
    EXPECT_TRUE(lines) << (lines ? "" : lines.error().message);
    const std::string script = "PATH='" + folder_.Path("") + "':/usr/bin:/bin\n" +
                               "export GPUADVISE_MICRO_BATCH=8 GPUADVISE_ACCUMULATION=3\n" +
                               environment + "\nset -e -o pipefail\n" + lines.value_or("false");
    std::ofstream(folder_.Path("job.sh")) << script;
    const auto printed =
        RunProgram("/bin/bash",
                   {"-c", "/bin/bash '" + folder_.Path("job.sh") + "' 2>&1 || echo \"status $?\""},
                   "", ChildErrors::kInherited);
    return printed.value_or("did not run");
  }

  TemporaryFolder folder_;
};

TEST_F(Launching, WithoutGpuadviseOnTheNodeTheTrainingRunsAllTheSame) {
  EXPECT_EQ(Run({{"command", "echo \"it's\" {micro_batch} × {accumulation}\necho second"}}),
            "it's 8 × 3\nsecond\n");
}

TEST_F(Launching, WithItTheTrainingIsWatched) {
  Provide("gpuadvise", "echo \"watched: $1 $2\"; shift 2; exec \"$@\"");
  EXPECT_EQ(Run({{"command", "echo train {micro_batch}"}}), "watched: run --\ntrain 8\n");
}

TEST_F(Launching, WhatMayChangeAtEachStartIsLeftToWhoStartsIt) {
  const json spec = {{"command", "echo {micro_batch} {accumulation}"},
                     {"training", {{"retry_on_oom", true}}}};
  EXPECT_EQ(Run(spec), "8 3\n");  // nobody there to change it
  Provide("gpuadvise", "printf '%s\\n' \"${@: -1}\"");
  EXPECT_EQ(Run(spec), "echo {micro_batch} {accumulation}\n");
}

TEST_F(Launching, ACommandThatExecsFailsOrChangesDirectoryIsItsOwnBusiness) {
  EXPECT_EQ(Run({{"command", "cd / && exec pwd"}}), "/\n");
  EXPECT_EQ(Run({{"command", "false\necho not reached"}}), "status 1\n");
  EXPECT_EQ(Run({{"command", "exit 7"}}), "status 7\n");
  EXPECT_EQ(Run({{"command", "false | true"}}), "status 1\n");
}

TEST_F(Launching, OnlyALaterStartResumes) {
  const json spec = {{"command", "echo train {resume}."},
                     {"training", {{"resume", "--from 'a & b'"}}}};
  const std::string words = "export GPUADVISE_RESUME=\"--from 'a & b'\"";
  EXPECT_EQ(Run(spec, words), "train .\n");
  EXPECT_EQ(Run(spec, words + " SLURM_RESTART_COUNT=1"), "train --from a & b.\n");
}

TEST_F(Launching, AtTheTimeLimitItEndsTheTrainingAndGoesBackIntoTheQueue) {
  Provide("scontrol", "echo \"scontrol $*\"");
  const json spec = {
      {"command", "trap 'echo saved; exit 3' TERM; kill -USR1 $PPID; while :; do sleep .05; done"},
      {"training", {{"resume", true}}}};
  EXPECT_THAT(Run(spec, "export SLURM_JOB_ID=12"),
              HasSubstr("saved\nscontrol requeue 12\nstatus 3\n"));
}

TEST_F(Launching, ATrainingThatEndsByItselfIsNotStartedAgain) {
  Provide("scontrol", "echo \"scontrol $*\"");
  const json spec = {{"command", "echo done; exit 4"}, {"training", {{"resume", true}}}};
  EXPECT_EQ(Run(spec), "done\nstatus 4\n");
}

TEST_F(Launching, AChainThatGetsNowhereEnds) {
  Provide("scontrol", "echo \"scontrol $*\"");
  const json spec = {{"command", "kill -USR1 $PPID; while :; do sleep .05; done"},
                     {"training", {{"resume", true}}}};
  EXPECT_THAT(Run(spec, "export SLURM_RESTART_COUNT=2"), HasSubstr("started 3 times and still"));
}

TEST(Launch, AResumeWithoutItsPlaceOrPlaceWithoutItsWordsIsRefused) {
  const auto refused = [](const json& spec) {
    const auto lines = LaunchLines(spec, Strategy(), {});
    return lines ? "" : lines.error().pointer;
  };
  EXPECT_EQ(refused({{"command", "x {resume}"}}), "/command");
  EXPECT_EQ(refused({{"command", "x {resume}"}, {"training", {{"resume", true}}}}), "/command");
  EXPECT_EQ(refused({{"command", "x"}, {"training", {{"resume", "--go-on"}}}}), "/training/resume");
  EXPECT_EQ(refused({{"command", "x"}, {"training", {{"resume", true}}}}), "");
}

}  // namespace
}  // namespace gpuadvise::client
