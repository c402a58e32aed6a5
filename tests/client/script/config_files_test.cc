// Files of settings that bring in others, and those that a command chooses.
#include "client/script/config_files.h"

#include <gtest/gtest.h>

#include "client/sbatch/sbatch_options.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;
using Texts = std::vector<std::string>;
using Files = std::map<std::string, std::string>;

ConfigFiles Of(const std::string& command, const Files& files, const std::string& named = "") {
  ScriptVariables variables{SbatchOptions()};
  const auto launch = LaunchOf(command, variables);
  EXPECT_TRUE(launch) << command;
  return ReadConfigFiles(*launch, named, [&](const std::string& path) {
    const auto found = files.find(path);
    return found == files.end() ? std::nullopt : std::optional(found->second);
  });
}

TEST(ConfigFiles, AFilesOwnKeysWinOverThoseItBringsIn) {
  const Files files = {
      {"config/sft.yaml", "defaults:\n  - base\n  - /more/extra\nlr: 1\n"},
      {"config/base.yaml", "lr: 2\ndtype: bfloat16\nsteps: 5\n"},
      {"config/more/extra.yaml", "steps: 6\n"},
  };
  const ConfigFiles read = Of("python t.py --config config/sft.yaml", files, "config/sft.yaml");
  EXPECT_TRUE(read.is_read);
  EXPECT_EQ(read.merged["lr"], 1);
  EXPECT_EQ(read.merged["dtype"], "bfloat16");
  EXPECT_EQ(read.file_of.at("dtype"), "config/base.yaml");
  EXPECT_EQ(read.file_of.at("lr"), "config/sft.yaml");
  EXPECT_FALSE(read.takes_overrides);
  const ConfigFiles last =
      Of("python t.py", {{"c.yaml", "defaults: [_self_, base]\nlr: 1\n"}, {"base.yaml", "lr: 2\n"}},
         "c.yaml");
  EXPECT_EQ(last.merged["lr"], 2);
}

TEST(ConfigFiles, WhatIsBroughtInAndMissingIsNamed) {
  const ConfigFiles read = Of("python t.py",
                              {{"c.yaml",
                                "defaults:\n  - base\n  - trainer: ddp\n  - optional local: mine\n"
                                "  - logger: null\n  - override hydra/launcher: slurm\nlr: 1\n"}},
                              "c.yaml");
  EXPECT_EQ(read.unread, (Texts{"base", "trainer/ddp.yaml"}));
  EXPECT_EQ(Of("python t.py", {}, "gone.yaml").unread, Texts{"gone.yaml"});
}

TEST(ConfigFiles, BasesOfOtherFormsAreRead) {
  const Files files = {{"exp/a.yaml", "_base_: ../base.yaml\nlr: 1\n"},
                       {"base.yaml", "extends: [root.yaml]\nlr: 2\nbatch: 8\n"},
                       {"root.yaml", "batch: 4\nsteps: 7\n"}};
  const ConfigFiles read = Of("python t.py", files, "exp/a.yaml");
  EXPECT_EQ(read.merged["lr"], 1);
  EXPECT_EQ(read.merged["batch"], 8);
  EXPECT_EQ(read.merged["steps"], 7);
  EXPECT_EQ(Of("python t.py", {{"a.yaml", "base_config: b.yaml\nx: 1\n"}}, "a.yaml").unread,
            Texts{"b.yaml"});
}

TEST(ConfigFiles, FilesThatBringInEachOtherEnd) {
  const Files files = {{"a.yaml", "defaults: [b]\nx: 1\n"}, {"b.yaml", "defaults: [a]\nx: 2\n"}};
  EXPECT_EQ(Of("python t.py", files, "a.yaml").merged["x"], 1);
}

const Files kHydra = {
    {"src/train.py",
     "@hydra.main(version_base=None, config_path=\"../configs\", "
     "config_name=\"train\")\ndef main(cfg):\n"},
    {"configs/train.yaml",
     "defaults:\n  - _self_\n  - trainer: default\n  - data: mnist\n  - experiment: null\nseed: "
     "1\n"},
    {"configs/trainer/default.yaml", "devices: 1\nmax_epochs: 10\n"},
    {"configs/trainer/ddp.yaml", "defaults:\n  - default\ndevices: 4\n"},
    {"configs/data/mnist.yaml", "batch_size: 8\nsteps: ${trainer.max_epochs}\n"},
    {"configs/experiment/big.yaml",
     "# @package _global_\ndefaults:\n  - override /trainer: ddp\ndata:\n  batch_size: 64\n"},
};

TEST(ConfigFiles, HydrasProgramSaysItsFile) {
  const ConfigFiles read = Of("python src/train.py", kHydra);
  EXPECT_EQ(read.path, "configs/train.yaml");
  EXPECT_TRUE(read.takes_overrides);
  EXPECT_EQ(read.merged["trainer"], (json{{"devices", 1}, {"max_epochs", 10}}));
  EXPECT_EQ(read.merged["data"]["steps"], 10) << "a value that names another";
  EXPECT_EQ(read.file_of.at("trainer.devices"), "configs/trainer/default.yaml");
}

TEST(ConfigFiles, TheCommandChoosesHydrasGroups) {
  const ConfigFiles ddp = Of("srun python -m src.train trainer=ddp data.batch_size=2", kHydra);
  EXPECT_EQ(ddp.merged["trainer"], (json{{"devices", 4}, {"max_epochs", 10}}));
  EXPECT_EQ(ddp.choices.size(), 1u) << "no value, but a file";
  const ConfigFiles big = Of("python src/train.py experiment=big", kHydra);
  EXPECT_EQ(big.merged["trainer"]["devices"], 4);
  EXPECT_EQ(big.merged["data"]["batch_size"], 64);
  EXPECT_EQ(Of("python src/train.py trainer=tpu seed=x", kHydra).unread, Texts{"trainer/tpu.yaml"});
}

TEST(ConfigFiles, GroupsOfAProgramThatIsNotHereAreNamed) {
  const Files conf = {{"conf/trainer/ddp.yaml", "devices: 4\n"}};
  const ConfigFiles read = Of("python train.py trainer=ddp experiment=lj55 mode=fast", conf);
  EXPECT_EQ(read.merged["trainer"]["devices"], 4);
  EXPECT_TRUE(read.takes_overrides);
  EXPECT_EQ(read.unread, Texts{"experiment/lj55.yaml"}) << "mode=fast may be a value";
  EXPECT_EQ(Of("python train.py data=$DATA model=x.pt", {}).unread, Texts{"data/*.yaml"});
  EXPECT_EQ(Of("llamafactory-cli train trainer=ddp", {}).unread, Texts());
}

TEST(ConfigFiles, HydrasOptionsNameFolderAndFile) {
  const Files files = {{"scripts/conf/bridge.yaml", "batch_size: 4\n"}};
  const ConfigFiles read =
      Of("torchrun scripts/run.py --config-path conf --config-name=bridge", files, "bridge");
  EXPECT_EQ(read.merged["batch_size"], 4);
  EXPECT_TRUE(read.takes_overrides);
  EXPECT_EQ(Of("python run.py --config-path=conf --config-name x", {}, "x").unread,
            Texts{"conf/x.yaml"});
}

}  // namespace
}  // namespace gpuadvise::client
