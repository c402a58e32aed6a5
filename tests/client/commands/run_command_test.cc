// `gpuadvise run` as a process: whole outputs, exit statuses, signals.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/fakes/temporary_folder.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

struct Ended {
  int status = 0;  // as a shell says it
  std::string output;
};

// `words` is a shell's line in which GPUADVISE stands for the program.
Ended Shell(const TemporaryFolder& folder, const std::string& words) {
  const std::string line =
      "cd '" + folder.Path("") + "' && export LC_ALL=C && (" + words + ") 2>&1 < /dev/null";
  Ended ended;
  std::FILE* pipe = ::popen(("GPUADVISE='" GPUADVISE_BINARY "'; " + line).c_str(), "r");
  std::array<char, 4096> buffer{};
  size_t got = 0;
  while ((got = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0) {
    ended.output.append(buffer.data(), got);
  }
  const int status = ::pclose(pipe);
  ended.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return ended;
}

json OutcomeIn(const TemporaryFolder& folder) {
  std::ifstream file(folder.Path("gpuadvise-outcome.json"));
  std::stringstream text;
  text << file.rdbuf();
  return json::parse(text.str(), nullptr, false);
}

TEST(Run, PassesOutputAndStatusOn) {
  const TemporaryFolder folder;
  const Ended ended =
      Shell(folder, "$GPUADVISE run -- sh -c 'echo out; echo error >&2; printf half; exit 7'");
  EXPECT_EQ(ended.status, 7);
  EXPECT_THAT(ended.output, HasSubstr("out\n"));
  EXPECT_THAT(ended.output, HasSubstr("error\n"));
  EXPECT_THAT(ended.output, HasSubstr("half"));
  EXPECT_EQ(OutcomeIn(folder)["attempts"][0]["exit_code"], 7);
}

TEST(Run, EndsByTheSignalThatEndedTheCommand) {
  const TemporaryFolder folder;
  EXPECT_EQ(Shell(folder, "$GPUADVISE run -- sh -c 'kill -USR1 $$'; exit $?").status, 128 + 10);
  EXPECT_EQ(OutcomeIn(folder)["attempts"][0]["signal"], 10);
}

TEST(Run, SignalsReachTheCommandAndAllItsProcesses) {
  const TemporaryFolder folder;
  folder.WriteProgram("train.sh",
                      "#!/bin/sh\ntrap 'echo saved; exit 5' USR1\necho ready\n"
                      "while :; do sleep 0.05; done\n");
  const Ended ended = Shell(folder,
                            "$GPUADVISE run -- ./train.sh > log & run=$!; "
                            "until grep -q ready log; do sleep 0.05; done; kill -USR1 $run; "
                            "wait $run; status=$?; cat log; exit $status");
  EXPECT_EQ(ended.status, 5);
  EXPECT_THAT(ended.output, HasSubstr("saved"));
}

TEST(Run, AMissingProgramIsSaid) {
  const TemporaryFolder folder;
  const Ended ended = Shell(folder, "$GPUADVISE run -- ./nothing");
  EXPECT_EQ(ended.status, 127);
  EXPECT_THAT(ended.output, HasSubstr("./nothing could not be run: No such file"));
  EXPECT_EQ(Shell(folder, "$GPUADVISE run").status, 2);
  EXPECT_THAT(Shell(folder, "$GPUADVISE run --pattern '(' -- true").output, HasSubstr("--pattern"));
}

constexpr const char* kTraining =
    "#!/bin/sh\n# out of memory above a micro-batch of 2\n"
    "for i in 1 2 3; do echo \"step $i/3 loss 0.$i\"; done\n"
    "if [ $1 -gt 2 ]; then echo 'torch.OutOfMemoryError: CUDA out of memory.' >&2; exit 1; fi\n"
    "echo trained with $1 x $2 $GPUADVISE_MICRO_BATCH\n";

TEST(Run, OutOfMemoryIsTriedAgainWithTheSameEffectiveBatch) {
  const TemporaryFolder folder;
  folder.WriteProgram("train.sh", kTraining);
  const Ended ended = Shell(folder,
                            "$GPUADVISE run --micro-batch 8 --accumulation 3 --retry-on-oom -- "
                            "./train.sh '{micro_batch}' '{accumulation}'");
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.output, HasSubstr("trained with 2 x 12 2"));
  const json outcome = OutcomeIn(folder);
  ASSERT_EQ(outcome["attempts"].size(), 3u);
  EXPECT_EQ(outcome["attempts"][0]["out_of_memory"], true);
  EXPECT_EQ(outcome["attempts"][2]["out_of_memory"], false);
  EXPECT_EQ(outcome["attempts"][2]["micro_batch"], 2);
  EXPECT_EQ(outcome["attempts"][2]["steps"], 3);
}

TEST(Run, EndsWithLinesForTheTrainingFile) {
  const TemporaryFolder folder;
  folder.Write("name", "NVIDIA L40S");
  folder.Write("total_gib", "48");
  const std::string run = "ln -sf '" FAKE_NVML_LIBRARY
                          "' libnvidia-ml.so.1; export LD_LIBRARY_PATH=. FAKE_NVML=.; "
                          "$GPUADVISE run $QUIET --micro-batch 4 --accumulation 3 -- "
                          "sh -c 'for i in 1 2 3; do echo step $i; sleep 0.8; done'";
  EXPECT_THAT(
      Shell(folder, run).output,
      ContainsRegex("step 3\n# gpuadvise run: 3 steps, 1.* steps/s, peak 1.074 GB on one "
                    "GPU. For train.yaml:\ntraining:\n  measured:\n    - .gpu: l40s, gpus: 2, "
                    "batch: 4, effective_batch_size: 24, seconds_per_step: 0.8"));
  EXPECT_THAT(Shell(folder, "QUIET=--quiet; " + run).output, Not(HasSubstr("train.yaml")));
}

TEST(Run, WithoutLeaveItOnlySaysWhatWouldHelp) {
  const TemporaryFolder folder;
  folder.WriteProgram("train.sh", kTraining);
  const Ended ended = Shell(folder, "$GPUADVISE run --micro-batch 8 -- ./train.sh 8 1");
  EXPECT_EQ(ended.status, 1);
  EXPECT_THAT(ended.output, HasSubstr("half the micro-batch"));
  EXPECT_EQ(OutcomeIn(folder)["attempts"].size(), 1u);
}

TEST(Run, AtOneTheNextStepIsOnlySuggested) {
  const TemporaryFolder folder;
  folder.WriteProgram("train.sh", "#!/bin/sh\necho 'CUDA out of memory'\nexit 1\n");
  const Ended ended = Shell(folder, "$GPUADVISE run --micro-batch 1 --retry-on-oom -- ./train.sh");
  EXPECT_EQ(ended.status, 1);
  EXPECT_THAT(ended.output, HasSubstr("gradient_checkpointing"));
}

TEST(Run, ATrainingThatSurvivesItsOutOfMemoryIsLeftAlone) {
  const TemporaryFolder folder;
  const Ended ended =
      Shell(folder,
            "$GPUADVISE run --micro-batch 4 --retry-on-oom -- sh -c 'echo CUDA out of "
            "memory; echo step 5 loss 1'");
  EXPECT_EQ(ended.status, 0);
  EXPECT_EQ(OutcomeIn(folder)["attempts"].size(), 1u);
}

TEST(Run, AFolderThatCannotBeWrittenIsSaidAndNothingElseChanges) {
  const TemporaryFolder folder;
  const Ended ended = Shell(folder, "$GPUADVISE run --output /proc/nowhere -- sh -c 'exit 4'");
  EXPECT_EQ(ended.status, 4);
  EXPECT_THAT(ended.output, HasSubstr("/proc/nowhere/gpuadvise-outcome.json cannot be written"));
}

TEST(Run, ANewOutputFolderIsMadeWithThoseAboveIt) {
  const TemporaryFolder folder;
  EXPECT_EQ(Shell(folder, "$GPUADVISE run --output new/folder/x -- true").status, 0);
  EXPECT_EQ(Shell(folder, "cat new/folder/x/gpuadvise-outcome.json").status, 0);
}

TEST(Run, AnOutputFolderThatCannotBeMadeIsSaidBeforeTheTrainingStarts) {
  const TemporaryFolder folder;
  folder.Write("file", "");
  const Ended ended = Shell(folder, "$GPUADVISE run --output file/x -- echo trained");
  EXPECT_EQ(ended.status, 0);
  EXPECT_LT(ended.output.find("the folder file/x cannot be created: "),
            ended.output.find("trained"));
}

TEST(Run, AFullDiskUnderTheLogDoesNotEndTheTraining) {
  const TemporaryFolder folder;
  const Ended ended = Shell(folder,
                            "$GPUADVISE run -- sh -c 'yes | head -c 200000; echo end >&2; exit 6' "
                            "> /dev/full; exit $?");
  EXPECT_EQ(ended.status, 6);
  EXPECT_THAT(ended.output, HasSubstr("end"));
}

TEST(Run, AReaderThatLeavesDoesNotEndTheTraining) {
  const TemporaryFolder folder;
  Shell(folder,
        "$GPUADVISE run -- sh -c 'yes | head -c 300000; sleep 0.2; touch trained' | head -1");
  for (int i = 0; i < 100 && !std::ifstream(folder.Path("trained")); ++i) ::usleep(50'000);
  EXPECT_TRUE(std::ifstream(folder.Path("trained")).good());
}

// Two cards of `name` where `run` looks for them, and a training of at most 24 samples.
std::string WithCards(const TemporaryFolder& folder, const std::string& name) {
  folder.Write("name", name);
  folder.Write("train.yaml",
               "model: {memory: {base: 5 GB, per_sample: 1.2 GB, overhead: 2 GB}}\n"
               "training: {max_steps: 10, effective_batch_size: 24}\n"
               "command: \"true\"\n");
  return "ln -s '" FAKE_NVML_LIBRARY "' libnvidia-ml.so.1; export LD_LIBRARY_PATH=. FAKE_NVML=.; ";
}

TEST(Run, FitTakesTheBatchOfTheGpusThatTheJobGot) {
  const TemporaryFolder folder;
  const std::string run = "$GPUADVISE run --fit train.yaml -- echo '{micro_batch}x{accumulation}'";
  const Ended large = Shell(folder, WithCards(folder, "NVIDIA GeForce RTX 4090") + run);
  EXPECT_EQ(large.output, "6x2\n");
  EXPECT_EQ(large.status, 0);
  const Ended nodes =
      Shell(folder, "export LD_LIBRARY_PATH=. FAKE_NVML=. SLURM_JOB_NUM_NODES=2; " + run);
  EXPECT_EQ(nodes.output, "6x1\n");
  folder.Write("total_gib", "12");
  const Ended slice = Shell(folder, "export LD_LIBRARY_PATH=. FAKE_NVML=.; " + run);
  EXPECT_EQ(slice.output, "2x6\n");
}

TEST(Run, FitWithoutAKnownGpuTakesTheGivenBatchOrRefuses) {
  const TemporaryFolder folder;
  const std::string cards = WithCards(folder, "Fake GPU");
  const Ended given = Shell(folder, cards +
                                        "$GPUADVISE run --fit train.yaml --micro-batch 3 -- "
                                        "echo '{micro_batch}'");
  EXPECT_EQ(given.output, "--fit: unknown GPU 'Fake GPU': micro-batch 3 as given\n3\n");
  const Ended refused = Shell(
      folder, "export LD_LIBRARY_PATH=. FAKE_NVML=.; $GPUADVISE run --fit train.yaml -- echo ran");
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.output, HasSubstr("give the batch with --micro-batch"));
  EXPECT_THAT(refused.output, Not(HasSubstr("ran\n")));
  const Ended none = Shell(folder, "$GPUADVISE run --fit nothing.yaml --micro-batch 3 -- echo ran");
  EXPECT_THAT(none.output, HasSubstr("ran\n"));
}

TEST(Run, ATrainingThatIsToldToEndIsNotStartedAgain) {
  const TemporaryFolder folder;
  const Ended ended = Shell(
      folder,
      "$GPUADVISE run --retry-on-oom --micro-batch 8 -- sh -c 'echo CUDA out of memory; echo x >> "
      "starts; kill -TERM $PPID; sleep 20'; cat starts");
  EXPECT_THAT(ended.output, Not(HasSubstr("x\nx\n")));
  EXPECT_EQ(OutcomeIn(folder)["attempts"].size(), 1u);
}

TEST(Run, OneThatGoesOnAfterItsSkippedBatchDidNotRunOutOfMemory) {
  const TemporaryFolder folder;
  const Ended ended =
      Shell(folder,
            "$GPUADVISE run --retry-on-oom --micro-batch 8 -- sh -c 'echo step 1 loss 1; echo CUDA "
            "out of memory, skipped; echo step 2 loss 1; echo step 3 loss 1; exit 3'");
  EXPECT_EQ(ended.status, 3);
  EXPECT_EQ(OutcomeIn(folder)["attempts"].size(), 1u);
  EXPECT_EQ(OutcomeIn(folder)["attempts"][0]["out_of_memory"], false);
}

TEST(Run, ASecondRunInTheSameJobHasItsOwnBatch) {
  const TemporaryFolder folder;
  const std::string run = "export SLURM_JOB_ID=7; $GPUADVISE run --retry-on-oom ";
  Shell(folder, run + "--micro-batch 8 --accumulation 4 -- true");
  EXPECT_EQ(Shell(folder, run + "--micro-batch 2 --accumulation 16 -- echo '{micro_batch}'").output,
            "2\n");
  const std::string again = "export SLURM_RESTART_COUNT=1; " + run;
  EXPECT_EQ(
      Shell(folder, again + "--micro-batch 4 --accumulation 8 -- echo '{micro_batch}'").output,
      "2\n")
      << "after a requeue the batch that was found stays";
  EXPECT_EQ(OutcomeIn(folder)["attempts"].size(), 2u);
}

TEST(Run, WhenTheNodesMemoryRanOutItIsSaidApart) {
  const TemporaryFolder folder;
  Shell(folder, "$GPUADVISE run -- sh -c 'echo Killed; exit 137'");
  EXPECT_EQ(OutcomeIn(folder)["attempts"][0]["host_memory"], true);
}

TEST(Run, BackgroundProcessesDoNotHoldItUp) {
  const TemporaryFolder folder;
  const Ended ended =
      Shell(folder, "$GPUADVISE run -- sh -c 'sleep 30 & echo started' > log; cat log");
  EXPECT_EQ(ended.output, "started\n");
}

}  // namespace
}  // namespace gpuadvise::client
