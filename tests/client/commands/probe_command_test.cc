// `gpuadvise probe`: which batches it tries, and the whole of it as a process with a GPU that is
// not real.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "client/commands/probe_trials.h"
#include "tests/fakes/temporary_folder.h"

namespace gpuadvise::client {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

Attempt Tried(int64_t micro_batch, double peak_gb = 0, double card_gb = 24) {
  Attempt attempt;
  attempt.micro_batch = micro_batch;
  attempt.gpus = {
      {static_cast<int64_t>(peak_gb * 1e9), static_cast<int64_t>(card_gb * 1e9), {}, {}}};
  return attempt;
}

Attempt TooLarge(int64_t micro_batch) {
  Attempt attempt = Tried(micro_batch);
  attempt.out_of_memory = true;
  return attempt;
}

TEST(ProbeBatches, TheSecondIsAsLargeAsItSurelyFits) {
  EXPECT_EQ(NextMicroBatch({}, {}), 1);
  EXPECT_EQ(NextMicroBatch({}, {Tried(1, 2)}), 8);
  EXPECT_EQ(NextMicroBatch({}, {Tried(1, 4.5)}), 4);
  EXPECT_EQ(NextMicroBatch({}, {Tried(1, 16)}), 2);
  EXPECT_EQ(NextMicroBatch({}, {Tried(1)}), 2) << "without a driver";
  EXPECT_EQ(NextMicroBatch({}, {Tried(1, 2), Tried(8, 9)}), std::nullopt);
}

TEST(ProbeBatches, AfterOneThatIsTooLargeASmallerOneIsTried) {
  EXPECT_EQ(NextMicroBatch({}, {Tried(1, 2), TooLarge(8)}), 4);
  EXPECT_EQ(NextMicroBatch({}, {Tried(1, 2), TooLarge(8), TooLarge(4)}), 2);
  EXPECT_EQ(NextMicroBatch({}, {Tried(1, 16), TooLarge(2)}), std::nullopt);
  EXPECT_EQ(NextMicroBatch({}, {TooLarge(1)}), std::nullopt);
  EXPECT_EQ(NextMicroBatch({{4, 8}}, {TooLarge(4)}), 2);
}

TEST(ProbeBatches, WhatIsSaidIsTried) {
  EXPECT_EQ(NextMicroBatch({{3, 5}}, {}), 3);
  EXPECT_EQ(NextMicroBatch({{3, 5}}, {Tried(3, 2)}), 5);
  EXPECT_EQ(NextMicroBatch({.said = {}, .most = 6}, {Tried(1, 1)}), 6);
  EXPECT_EQ(NextMicroBatch({.said = {4}, .most = 4}, {Tried(4, 1)}), 2);
  EXPECT_EQ(NextMicroBatch({.said = {4}, .one_only = true}, {Tried(4, 1)}), std::nullopt);
}

struct Done {
  int status = 0;
  std::string output;
};

// A folder with a training of which a sample takes 1 GiB and all else 3, on a 24-GiB card.
class Probe : public testing::Test {
 protected:
  Probe() {
    folder_.Write("name", "NVIDIA GeForce RTX 4090");
    folder_.Write("used", "400000000");
    folder_.WriteProgram(
        "train.sh",
        "#!/bin/sh\n# BATCH STEPS: as a Trainer would\n"
        "echo $1 >> batches\necho \"$GPUADVISE_OUTPUT_DIR\" >> folders\n"
        "touch \"$GPUADVISE_OUTPUT_DIR/checkpoint\"\n"
        "[ $1 -le ${FITS:-100} ] || { echo CUDA out of memory; exit 1; }\n"
        "echo $(((3 + $1) << 30)) > used\ni=0\n"
        "while [ $i -lt $2 ]; do sleep 0.05; i=$((i+1)); echo \"step $i loss 1\"; done\n"
        "echo end >> ends\n");
  }

  void File(const std::string& more, const std::string& steps = "{max_steps}") {
    folder_.Write("train.yaml", "name: toy  # of mine\n" + more +
                                    "command: ./train.sh {micro_batch} " + steps + "\n");
  }
  Done Run(const std::string& flags, const std::string& environment = "") {
    const std::string line =
        "cd '" + folder_.Path("") +
        "' && ln -sf '" FAKE_NVML_LIBRARY
        "' libnvidia-ml.so.1; export LC_ALL=C LD_LIBRARY_PATH=. "
        "FAKE_NVML=. GPUADVISE_SOCKET=./none " +
        environment + "; unset SLURM_JOB_ID; '" GPUADVISE_BINARY "' probe --local --steps 8 " +
        flags + " train.yaml 2>&1 < /dev/null";
    Done done;
    std::FILE* pipe = ::popen(line.c_str(), "r");
    std::array<char, 4096> buffer{};
    size_t got = 0;
    while ((got = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0) {
      done.output.append(buffer.data(), got);
    }
    const int status = ::pclose(pipe);
    done.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return done;
  }
  std::string Text(const std::string& name) const {
    std::ifstream file(folder_.Path(name));
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }

  TemporaryFolder folder_;
};

constexpr const char* kTraining = "training:\n  max_steps: 100\n  effective_batch_size: 16\n";

TEST_F(Probe, WritesWhatItMeasuredAndKeepsTheRest) {
  File(kTraining);
  const std::string before = Text("train.yaml");
  const Done done = Run("");
  EXPECT_EQ(done.status, 0) << done.output;
  EXPECT_EQ(Text("batches"), "1\n4\n");
  EXPECT_EQ(Text("ends"), "end\nend\n")
      << "they end by themselves, after as many steps as they got";
  const std::string after = Text("train.yaml");
  EXPECT_THAT(after, AllOf(HasSubstr("name: toy  # of mine\n"), HasSubstr("  max_steps: 100\n"),
                           HasSubstr("model:\n  memory: {base: 3.221 GB, per_sample: 1.074 GB}\n"),
                           HasSubstr("  measured:\n    - {gpu: rtx4090, gpus: 1, batch: 4, "
                                     "effective_batch_size: 4, seconds_per_step: 0."),
                           HasSubstr(", peak: 7.516 GB}\n")));
  EXPECT_EQ(Text("train.yaml.bak"), before);
  EXPECT_THAT(done.output, HasSubstr("\n+   memory: {base: 3.221 GB"));
}

TEST_F(Probe, ASecondTimeTheNewLineTakesTheOldOnesPlace) {
  File(kTraining);
  Run("");
  folder_.Write("used", "400000000");
  Run("");
  const std::string after = Text("train.yaml");
  EXPECT_EQ(after.find("gpu: rtx4090"), after.rfind("gpu: rtx4090")) << after;
}

TEST_F(Probe, WithoutAPlaceForTheStepsItEndsTheCommand) {
  File(kTraining, "100000");
  const Done done = Run("");
  EXPECT_EQ(done.status, 0) << done.output;
  EXPECT_EQ(Text("ends"), "");
  EXPECT_THAT(Text("train.yaml"), HasSubstr("seconds_per_step: 0.0"));
}

TEST_F(Probe, ItsCheckpointsGoToAFolderThatIsRemoved) {
  File(std::string(kTraining) + "output: {dir: out}\n", "100000");
  EXPECT_EQ(Run("").status, 0);
  const std::string folder = Text("folders").substr(0, Text("folders").find('\n'));
  EXPECT_THAT(folder, HasSubstr("/out/gpuadvise-trial-"));
  struct stat about {};
  EXPECT_NE(::stat(folder.c_str(), &about), 0) << folder;
  EXPECT_EQ(::stat(folder_.Path("out").c_str(), &about), 0);
}

TEST_F(Probe, OutOfMemoryAtTheSecondBatchMeansASmallerOne) {
  File(kTraining);
  const Done done = Run("", "FITS=2");
  EXPECT_EQ(done.status, 0) << done.output;
  EXPECT_EQ(Text("batches"), "1\n4\n2\n");
  EXPECT_THAT(Text("train.yaml"), HasSubstr("{base: 3.221 GB, per_sample: 1.074 GB}"));
}

TEST_F(Probe, ALogWithoutStepsIsSaidAndOnlyTheMemoryWritten) {
  folder_.WriteProgram("train.sh", "#!/bin/sh\necho $(((3 + $1) << 30)) > used\nsleep 0.7\n");
  File(kTraining);
  const Done done = Run("");
  EXPECT_EQ(done.status, 0) << done.output;
  EXPECT_THAT(done.output, HasSubstr("no step was found in the log"));
  EXPECT_THAT(Text("train.yaml"),
              AllOf(HasSubstr("per_sample: 1.074 GB"), Not(HasSubstr("seconds"))));
}

TEST_F(Probe, ACommandThatFailsChangesNothing) {
  folder_.WriteProgram("train.sh", "#!/bin/sh\necho no such data; exit 3\n");
  File(kTraining);
  const std::string before = Text("train.yaml");
  const Done done = Run("");
  EXPECT_EQ(done.status, 1);
  EXPECT_THAT(done.output,
              AllOf(HasSubstr("no such data\n"),
                    HasSubstr("the command ended with status 3 before its first step")));
  EXPECT_EQ(Text("train.yaml"), before);
}

TEST_F(Probe, ADryRunWritesNothing) {
  File(kTraining);
  const std::string before = Text("train.yaml");
  const Done done = Run("--dry-run");
  EXPECT_EQ(done.status, 0);
  EXPECT_THAT(done.output, HasSubstr("train.yaml was not changed (--dry-run)"));
  EXPECT_EQ(Text("train.yaml"), before);
  EXPECT_EQ(Text("train.yaml.bak"), "");
}

TEST_F(Probe, AFixedBatchIsMeasuredAndHalfOfIt) {
  File(std::string(kTraining) + "  per_device_train_batch_size: 6\n");
  EXPECT_EQ(Run("").status, 0);
  EXPECT_EQ(Text("batches"), "3\n6\n");
  EXPECT_THAT(Text("train.yaml"), HasSubstr("batch: 6, effective_batch_size: 6"));
}

TEST_F(Probe, TheBatchesThatAreNamedAreTried) {
  File(kTraining);
  EXPECT_EQ(Run("--micro-batch 2 --micro-batch 3").status, 0);
  EXPECT_EQ(Text("batches"), "2\n3\n");
}

TEST_F(Probe, ACommandWhoseBatchIsNotKnownIsRefused) {
  folder_.Write("train.yaml", "training: {max_steps: 10}\ncommand: ./train.sh 1 9\n");
  const Done done = Run("");
  EXPECT_EQ(done.status, 2);
  EXPECT_THAT(done.output, HasSubstr("train.yaml:2: the command has no {micro_batch}"));
}

TEST_F(Probe, WhatOthersUseOfTheGpuIsNotCounted) {
  folder_.Write("used", "3221225472");
  folder_.WriteProgram(
      "train.sh",
      "#!/bin/sh\necho $(((6 + $1) << 30)) > used\nfor i in 1 2 3; do sleep 0.2; echo "
      "step $i; done\necho 3221225472 > used\n");
  File(kTraining);
  const Done done = Run("");
  EXPECT_THAT(done.output, HasSubstr("3.221 GB of this GPU were already in use"));
  EXPECT_THAT(Text("train.yaml"), HasSubstr("{base: 3.221 GB, per_sample: 1.074 GB}"));
}

TEST_F(Probe, OfAFileWithSectionsOnlyTheOneChanges) {
  folder_.Write("train.yaml",
                "small:\n  training: {max_steps: 9, effective_batch_size: 2}\n"
                "large:\n  training: {max_steps: 9, effective_batch_size: 4}\n"
                "command: ./train.sh {micro_batch} {steps}\n");
  const Done done = Run("--section large");
  EXPECT_EQ(done.status, 0) << done.output;
  const std::string after = Text("train.yaml");
  EXPECT_THAT(after,
              HasSubstr("small:\n  training: {max_steps: 9, effective_batch_size: 2}\nlarge:"));
  EXPECT_THAT(after, HasSubstr("large:\n  training: {measured: [{gpu: rtx4090"));
  EXPECT_THAT(after,
              HasSubstr("\n  model:\n    memory: {base: 3.221 GB, per_sample: 1.074 GB}\ncommand"));
}

TEST_F(Probe, AModelThatIsKnownIsOnlyCorrected) {
  File(std::string(kTraining) + "model: {preset: llama-3.1-8b}\n");
  const Done done = Run("");
  EXPECT_EQ(done.status, 0) << done.output;
  EXPECT_THAT(done.output, HasSubstr("memory is still computed from the model in the file"));
  EXPECT_THAT(Text("train.yaml"), AllOf(HasSubstr("model: {preset: llama-3.1-8b}\n"),
                                        HasSubstr("batch: 4, effective_batch_size: 4")));
}

TEST_F(Probe, AFileThatCannotBeChangedInPlaceGetsItsLinesPrinted) {
  folder_.Write("train.yaml",
                "training:\n  max_steps: 100\n  effective_batch_size: 16\n  lora: &x {r: 8}\n"
                "command: |\n  ./train.sh {micro_batch} {max_steps}\n  # the end\n");
  const std::string before = Text("train.yaml");
  const Done done = Run("");
  EXPECT_EQ(done.status, 1) << done.output;
  EXPECT_THAT(done.output, AllOf(HasSubstr("cannot be changed in place"),
                                 HasSubstr("model:\n  memory: {base: 3.221 GB, per_sample")));
  EXPECT_EQ(Text("train.yaml"), before);
}

}  // namespace
}  // namespace gpuadvise::client
