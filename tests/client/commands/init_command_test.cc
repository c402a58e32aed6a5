#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "client/api/exit_code.h"
#include "client/script/script_file.h"
#include "client/script/train_yaml_from_script.h"
#include "common/base/text.h"
#include "common/spec/train_spec.h"
#include "common/yaml/train_file.h"
#include "common/yaml/yaml_file.h"
#include "common/yaml/yaml_scalar.h"
#include "tests/client/fake_process.h"
#include "tests/client/golden.h"
#include "tests/fakes/temporary_folder.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

Result<ConvertedScript> Convert(const std::string& script) {
  ScriptSource source;
  source.text = script;
  source.file = "job.sh";
  source.read = [](const std::string&) { return std::optional<std::string>(); };
  source.preset_of = [](const std::string&) { return std::string(); };
  return TrainYamlFromScript(source);
}

std::string Converted(const std::string& script) {
  const Result<ConvertedScript> converted = Convert(script);
  EXPECT_TRUE(converted) << (converted ? "" : converted.error().message);
  return converted ? converted->yaml : "";
}

json Read(const std::string& yaml) {
  const Result<YamlDocument> document = ParseYaml(yaml, "train.yaml");
  EXPECT_TRUE(document) << (document ? "" : document.error().message) << "\n" << yaml;
  return document ? document->root : json();
}

class InitTest : public testing::Test, protected FakeProcess {
 protected:
  std::string Written() const { return ReadTextFile(file).value_or(""); }

  TemporaryFolder folder;
  const std::string file = folder.Path("train.yaml");
  const std::string script = std::string(GPUADVISE_EXAMPLES) + "/job.sh";
};

TEST_F(InitTest, WritesAnExampleForThisCluster) {
  api.Answer(json::parse(TestData("gpus.json")));
  EXPECT_EQ(Gpuadvise({"init", file}), kExitOk);
  ExpectGolden("init.yaml", Written());
  const auto written = TrainFile::Load(file, "", console.clock);
  ASSERT_TRUE(written);
  EXPECT_TRUE(ParseTrainSpec(written->spec(), ""));
  EXPECT_EQ(console.printed, "Wrote " + file + "; next: gpuadvise advise " + file + "\n");
}

TEST_F(InitTest, NeverOverwrites) {
  folder.Write("train.yaml", "mine");
  EXPECT_EQ(Gpuadvise({"init", file}), kExitUsage);
  EXPECT_EQ(Written(), "mine");
  EXPECT_TRUE(api.asked.empty());
}

TEST_F(InitTest, WithoutADaemonIsExit4) {
  EXPECT_EQ(Gpuadvise({"init", file}), kExitUnavailable);
  EXPECT_EQ(Written(), "");
}

TEST_F(InitTest, TurnsAScriptIntoATrainingFile) {
  EXPECT_EQ(Gpuadvise({"init", "--from", script, file}), kExitOk);
  EXPECT_TRUE(api.asked.empty());
  const std::string yaml = Written();
  ExpectGolden("init_from_job.yaml", yaml.substr(yaml.find('\n') + 1));  // less the script's path
  EXPECT_EQ(console.complained, "");
  ExpectGolden("init_report.txt", ReplaceAll(console.printed, folder.Path(""), ""));
}

TEST_F(InitTest, AJobScriptInPlaceOfTheFileIsWhatIsTurned) {
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder.Path(""));
  const std::string text = ReadTextFile(script).value_or("");
  EXPECT_EQ(Gpuadvise({"init", script}), kExitOk) << console.complained;
  EXPECT_EQ(ReadTextFile(script).value_or(""), text);
  EXPECT_NE(Written(), "");
  EXPECT_EQ(Gpuadvise({"init", script}), kExitUsage);
  EXPECT_NE(console.complained.find("train.yaml exists"), std::string::npos);
  std::filesystem::current_path(before);
}

TEST_F(InitTest, AJobScriptIsToldByItsFirstLineOrItsOptions) {
  const auto is_script = [&](const std::string& text) {
    folder.Write("file", text);
    return IsJobScript(folder.Path("file"));
  };
  EXPECT_TRUE(is_script("#!/bin/bash -l\npython train.py\n"));
  EXPECT_TRUE(is_script("#!/usr/bin/env zsh\r\n"));
  EXPECT_TRUE(is_script("#!/usr/bin/python3\n#SBATCH --gres=gpu:1\n"));
  EXPECT_FALSE(is_script("#!/usr/share/bin/python3\nprint()\n"));
  EXPECT_FALSE(is_script("name: a training\n"));
  EXPECT_FALSE(IsJobScript(folder.Path("nothing")));
}

TEST_F(InitTest, AFolderThatIsNotThereIsSaid) {
  EXPECT_EQ(Gpuadvise({"init", folder.Path("none/train.yaml"), "--from", script}), kExitUsage);
}

TEST(FromScript, TheScriptsBatchIsKept) {
  const json yaml = Read(Converted(
      "#SBATCH -N2 --gpus-per-node=a100:4\n"
      "accelerate launch --num_processes 8 x.py --per_device_train_batch_size=2 --max_steps 9\n"));
  EXPECT_EQ(yaml["training"]["effective_batch_size"], 16);
  EXPECT_EQ(yaml["resources"]["max_nodes"], 2);
  EXPECT_EQ(
      yaml["command"],
      "accelerate launch --num_processes {gpus} x.py --per_device_train_batch_size={micro_batch}"
      " --max_steps 9 --gradient_accumulation_steps {accumulation}");
}

TEST(FromScript, ABatchOfUnknownGpusStaysAsItIs) {
  const json yaml =
      Read(Converted("deepspeed x.py --per_device_train_batch_size 2 --max_steps 9\n"));
  EXPECT_EQ(yaml["training"]["per_device_train_batch_size"], 2);
  EXPECT_FALSE(yaml["training"].contains("effective_batch_size"));
}

TEST(FromScript, PythonAloneRunsOnOneGpu) {
  const json yaml = Read(Converted("python x.py --per_device_train_batch_size 2 --max_steps 9\n"));
  EXPECT_EQ(yaml["training"]["effective_batch_size"], 2);
  EXPECT_EQ(yaml["resources"]["max_gpus"], 1);
}

TEST(FromScript, ShellVariablesInFiguresAreNotRead) {
  const Result<ConvertedScript> converted = Convert("python x.py --max_steps $STEPS\n");
  ASSERT_TRUE(converted);
  bool said = false;
  for (const std::string& sentence : converted->report.missing) {
    said = said || sentence.starts_with("length of the training");
  }
  EXPECT_TRUE(said);
}

TEST(FromScript, OnlyTheModelIsLeftToFillIn) {
  json spec = Read(Converted(ReadTextFile(std::string(GPUADVISE_EXAMPLES) + "/job.sh").value()));
  EXPECT_TRUE(spec["model"].is_null());
  spec["model"] = json::parse(R"({"memory": {"base": "5 GB", "per_sample": "1 GB"}})");
  const Result<TrainSpec> read = ParseTrainSpec(spec, "");
  EXPECT_TRUE(read) << (read ? "" : read.error().message + " at " + read.error().pointer);
}

TEST(FromScript, NoLauncherIsRefused) {
  EXPECT_EQ(Convert("echo hi\n").error().message.find("job.sh: no line starts"), 0u);
}

TEST(FromScript, SlurmOptionsKeepTheirMeaning) {
  const json yaml = Read(Converted(
      "#SBATCH -A lab -q high -p a,b -t 90 -C 'x&y' -x n[1-2] --mem=100G --gres=gpu:2 -c 10\n"
      "#SBATCH --signal=B:USR1@60\n"
      "python x.py\n"));
  EXPECT_EQ(yaml["slurm"], json::parse(R"({"account": "lab", "qos": "high", "partition": "a,b",
      "time": "90", "constraint": "x&y", "exclude": "n[1-2]", "extra": ["--signal=B:USR1@60"]})"));
  EXPECT_EQ(yaml["resources"],
            json::parse(R"({"max_nodes": 1, "cpus_per_gpu": 5, "mem_per_gpu": "50G"})"));
}

TEST(YamlText, ReadsBackAsTheSameText) {
  for (const char* text :
       {"plain", "10",   "true", "null",     "",    " x",  "a: b", "a #b", "'q'",  "\"", "- x",
        "[a]",   "x\ny", "\t",   "12:00:00", "~",   "{a}", "a, b", "@x",   "é",    "*x", "!x",
        "%x",    "a:",   "1e5",  "0x1f",     "---", "...", "? x",  "\\",   "C:\\x"}) {
    EXPECT_EQ(Read("a: " + YamlText(text) + "\n")["a"], text);
  }
}

}  // namespace
}  // namespace gpuadvise::client
