// The real binary: what scripts see.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cstdlib>
#include <iterator>
#include <string>
#include <vector>

#include "client/sbatch/job_runner.h"
#include "tests/client/golden.h"
#include "tests/fakes/fake_server.h"
#include "tests/fakes/temporary_folder.h"

namespace gpuadvise::client {
namespace {

// The exit status of a shell command line in which $G is the client.
int StatusOf(const std::string& words) {
  ::setenv("G", GPUADVISE_BINARY, 1);
  const int status = std::system(("exec 2>/dev/null >/dev/null; " + words).c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Process, ExitCodesAreTheDocumentedOnes) {
  const TemporaryFolder folder;
  const std::string file = folder.Write("train.yaml", "training: {max_steps: 5}\n");
  const std::string path = folder.Path("s");
  ::setenv("GPUADVISE_SOCKET", path.c_str(), 1);
  EXPECT_EQ(StatusOf("$G --version"), 0);
  EXPECT_EQ(StatusOf("$G"), 2);
  EXPECT_EQ(StatusOf("$G advise /nonexistent.yaml"), 2);
  EXPECT_EQ(StatusOf("$G advise " + file), 4);
  {
    const FakeServer server(path, {{HttpBytes(200, TestData("advice.json"))}});
    EXPECT_EQ(StatusOf("$G advise " + file), 0);
    EXPECT_EQ(StatusOf("$G advise --max-age 5 " + file), 5);
    EXPECT_EQ(StatusOf("$G submit " + file + " </dev/null"), 2);
  }
  const FakeServer server(path, {{HttpBytes(200, R"({"strategies": []})")}});
  EXPECT_EQ(StatusOf("$G advise " + file), 3);
}

TEST(Process, ADashIsStandardInputWhereAFileIsTaken) {
  const TemporaryFolder folder;
  ::setenv("GPUADVISE_SOCKET", folder.Path("s").c_str(), 1);
  const std::string file = "printf 'model: {preset: gpt2}\\ntraining: {max_steps: 9}\\n' | $G ";
  EXPECT_EQ(StatusOf(file + "fit - --gpu l40s"), 0);
  EXPECT_EQ(StatusOf(file + "scale - --gpu l40s"), 0);
  EXPECT_EQ(StatusOf("printf 'training: {max_step: 9}' | $G fit - --gpu l40s"), 2);
  EXPECT_EQ(StatusOf("$G fit - </dev/null"), 2);
  EXPECT_EQ(StatusOf("$G fit - <&-"), 2);
  EXPECT_EQ(StatusOf("head -c 2000000 /dev/zero | tr '\\0' a | $G fit -"), 2);
  for (const char* verb : {"advise", "submit --dry-run"}) {  // as far as asking the daemon
    const FakeServer server(folder.Path("s"), {{HttpBytes(200, R"({"strategies": []})")}});
    EXPECT_EQ(StatusOf(file + verb + " -"), 3) << verb;
  }
}

TEST(Process, WithoutATerminalIsPlainAnd80Wide) {
  const TemporaryFolder folder;
  const std::string file = folder.Write("train.yaml", "training: {max_steps: 5}\n");
  const FakeServer server(folder.Path("s"), {{HttpBytes(200, TestData("gpus.json"))}});
  ::unsetenv("COLUMNS");
  const auto printed = RunProgram(GPUADVISE_BINARY, {"gpus", "--socket", folder.Path("s")}, "",
                                  ChildErrors::kInherited);
  ASSERT_TRUE(printed);
  ExpectGolden("gpus_80.txt", *printed);
}

TEST(Process, SubmitRunsTheSbatchOfThePath) {
  const TemporaryFolder folder;
  const std::string file =
      folder.Write("train.yaml", "name: x\ntraining: {max_steps: 5}\ncommand: train\n");
  folder.WriteProgram("bin/sbatch", "#!/bin/sh\ncat >" + folder.Path("script") + "\necho \"$@\" >" +
                                        folder.Path("words") + "\necho 4711\n");
  folder.WriteProgram("bin/train", "#!/bin/sh\n");
  const FakeServer server(folder.Path("s"), {{HttpBytes(200, TestData("advice.json"))}});
  EXPECT_EQ(StatusOf("PATH=" + folder.Path("bin") + ":$PATH $G submit --yes --socket " +
                     folder.Path("s") + " " + file + " -- --comment=mine"),
            0);
  std::ifstream words(folder.Path("words"));
  std::string line;
  std::getline(words, line);
  EXPECT_TRUE(line.starts_with("--parsable --account=lab ")) << line;
  EXPECT_TRUE(line.ends_with(" --comment=mine")) << line;
  EXPECT_NE(server.requests().find("POST /v1/advice/a-17/submitted"), std::string::npos);
}

TEST(Process, SubmitAsksSlurmOnceAndStopsWhereItRefuses) {
  const TemporaryFolder folder;
  const std::string file =
      folder.Write("train.yaml", "name: x\ntraining: {max_steps: 5}\ncommand: train\n");
  folder.WriteProgram("bin/train", "#!/bin/sh\n");
  folder.WriteProgram("bin/sbatch", "#!/bin/sh\necho \"$1\" >>" + folder.Path("asked") +
                                        "\ncat >/dev/null\necho 'allocation failure: Invalid "
                                        "qos specification' >&2\nexit 1\n");
  const FakeServer server(folder.Path("s"), {{HttpBytes(200, TestData("advice.json"))}});
  EXPECT_EQ(StatusOf("PATH=" + folder.Path("bin") + ":$PATH $G submit --yes --socket " +
                     folder.Path("s") + " " + file),
            1);
  std::ifstream asked(folder.Path("asked"));
  std::string lines((std::istreambuf_iterator<char>(asked)), {});
  EXPECT_EQ(lines, "--test-only\n");
}

// A training file with a token wherever people keep one.
constexpr const char* kWithTokens =
    "name: x\n"
    "model: {preset: gpt2}\n"
    "training: {max_steps: 5, resume: '--token hf_SECRET'}\n"
    "command: HF_TOKEN=hf_SECRET train --batch {micro_batch} --key=hf_SECRET\n"
    "setup: [export WANDB_API_KEY=hf_SECRET]\n"
    "env: {HF_TOKEN: hf_SECRET}\n"
    "workdir: /home/hf_SECRET\n"
    "container: 'docker://hf_SECRET@host/image'\n"
    "output: {dir: /tmp/hf_SECRET}\n"
    "slurm: {extra: ['--comment=hf_SECRET']}\n";
constexpr const char* kScriptWithTokens =
    "#!/bin/bash\n#SBATCH --gres=gpu:1 --comment=hf_SECRET\nexport HF_TOKEN=hf_SECRET\n"
    "torchrun train.py --model_name_or_path gpt2 --max_steps 5 --hub_token hf_SECRET "
    "--per_device_train_batch_size 8\n";

TEST(Process, NoTokenOfATrainingFileReachesTheDaemon) {
  const TemporaryFolder folder;
  const std::string file = folder.Write("train.yaml", kWithTokens);
  const std::string script = folder.Write("job.sh", kScriptWithTokens);
  ::setenv("GPUADVISE_SOCKET", folder.Path("s").c_str(), 1);
  folder.WriteProgram("bin/sbatch", "#!/bin/sh\ncat >/dev/null\necho 4711\n");
  const FakeServer server(folder.Path("s"), {{HttpBytes(200, TestData("advice.json"))}});
  for (const std::string& words : std::vector<std::string>{
           "advise " + file, "advise --json " + file, "advise --from " + script, "doctor " + file,
           "submit --yes --force " + file, "submit --dry-run " + file,
           "submit --yes --force --from " + script, "fit " + file, "scale " + file,
           "probe --dry-run " + file, "when " + script, "when --comment=hf_SECRET --gres gpu:1",
           "select --gres gpu:1 --comment=hf_SECRET --export=A=hf_SECRET",
           "init " + folder.Path("new.yaml") + " --from " + script,
           "run --fit " + file + " -- true hf_SECRET"}) {
    StatusOf("cd " + folder.Path(".") + "; PATH=" + folder.Path("bin") + ":$PATH timeout 20 $G " +
             words);
    EXPECT_EQ(server.requests().find("SECRET"), std::string::npos) << words;
  }
  for (const char* asked :
       {"POST /v1/advise", "gpt2", "POST /v1/when", "POST /v1/select", "/submitted"}) {
    EXPECT_NE(server.requests().find(asked), std::string::npos) << asked;
  }
}

TEST(Process, AFifoIsRefusedAndAPipeOfTheShellRead) {
  const TemporaryFolder folder;
  ::setenv("GPUADVISE_SOCKET", folder.Path("none").c_str(), 1);
  const std::string fifo = folder.Path("train.yaml");
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  for (const char* words :
       {"advise ", "fit ", "doctor ", "submit ", "when ", "probe ", "init new --from "}) {
    EXPECT_EQ(StatusOf("timeout 60 $G " + (words + fifo)), 2) << words;
  }
  const std::string pipe = "<(printf \"model: {preset: gpt2}\\ntraining: {max_steps: 9}\\n\")";
  EXPECT_EQ(StatusOf("bash -c '$G fit " + pipe + " --gpu l40s'"), 0);
  EXPECT_EQ(StatusOf("printf 'model: {preset: gpt2}' | $G fit /dev/stdin --gpu l40s"), 0);
}

TEST(Process, AnAnswerThatCannotBeWrittenIsAnError) {
  const TemporaryFolder folder;
  ::setenv("GPUADVISE_SOCKET", folder.Path("s").c_str(), 1);
  const FakeServer server(folder.Path("s"), {{HttpBytes(200, TestData("queue.json"))}});
  const std::string said = folder.Path("said");
  for (const char* words :
       {"queue", "queue --json", "jobs --csv", "models", "reference", "--help", "--version"}) {
    EXPECT_EQ(StatusOf(std::string("$G ") + words + " >/dev/full 2>" + said), 1) << words;
    std::ifstream text(said);
    std::string line;
    std::getline(text, line);
    EXPECT_EQ(line, "gpuadvise: cannot write to standard output: No space left on device") << words;
  }
  EXPECT_EQ(StatusOf("$G queue --bogus --json >/dev/full"), 2);
  EXPECT_EQ(StatusOf("($G models 2>" + said + "; true) | true; test ! -s " + said), 0);
}

}  // namespace
}  // namespace gpuadvise::client
