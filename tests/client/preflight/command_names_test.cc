#include "client/preflight/command_names.h"

#include <gtest/gtest.h>

namespace gpuadvise {
namespace {

using Words = std::vector<std::string>;

CommandNames Names(const std::string& command) {
  return NamesIn(SimpleCommands(command, {{"HOME", "/home/me"}}), "/work");
}

Words PathsOf(const std::vector<NamedPath>& named) {
  Words paths;
  for (const NamedPath& each : named) paths.push_back(each.path);
  return paths;
}

TEST(CommandNames, ProgramsAreTheFirstWords) {
  EXPECT_EQ(Names("HF_HOME=/x torchrun train.py").programs, Words{"torchrun"});
  EXPECT_EQ(Names("exec ./train.sh").programs, Words{"/work/./train.sh"});
  EXPECT_EQ(Names("source env.sh; export A=b; python a.py && ~/bin/done").programs,
            (Words{"python", "/home/me/bin/done"}));
  EXPECT_EQ(Names("$PYTHON a.py").programs, Words{});
}

TEST(CommandNames, TheFirstScriptIsTheProgramsOwn) {
  EXPECT_EQ(PathsOf(Names("torchrun --nproc_per_node=4 src/train.py --eval eval.py").scripts),
            Words{"/work/src/train.py"});
  EXPECT_EQ(PathsOf(Names("bash /opt/run.sh").scripts), Words{"/opt/run.sh"});
  EXPECT_EQ(PathsOf(Names("python -m pkg.train").scripts), Words{});
}

TEST(CommandNames, CdMovesWhatIsRelative) {
  EXPECT_EQ(PathsOf(Names("cd src && python train.py").scripts), Words{"/work/src/train.py"});
  EXPECT_EQ(PathsOf(Names("cd $WHERE && python train.py").scripts), Words{});
  EXPECT_EQ(PathsOf(Names("cd $WHERE && python /a/train.py").scripts), Words{"/a/train.py"});
  EXPECT_EQ(PathsOf(Names("cd $WHERE; cd src; python train.py").scripts), Words{});
}

TEST(CommandNames, DataIsWhatLooksLikeAPath) {
  const CommandNames names = Names(
      "python t.py --data-path data --train_file=a.jsonl --dataset /d/x ~/y --dataset_name foo "
      "--dataloader_num_workers 4 --data s3://b/c --data-parallel-size 2 --dataset "
      "tatsu-lab/alpaca");
  EXPECT_EQ(PathsOf(names.data), (Words{"/work/data", "/work/a.jsonl", "/d/x", "/home/me/y"}));
  EXPECT_EQ(names.data[0].name, "--data-path data");
}

TEST(CommandNames, ANameThatMayBeTheHubsIsMarked) {
  const CommandNames names = Names("python t.py --dataset_path data/train --data-path /data/train");
  ASSERT_EQ(names.data.size(), 2u);
  EXPECT_TRUE(names.data[0].may_be_hub);
  EXPECT_FALSE(names.data[1].may_be_hub);
}

TEST(CommandNames, SettingsFilesAreThoseOfTheUsualOptions) {
  EXPECT_EQ(PathsOf(Names("x --deepspeed ds.json --config_file a.yaml --config base").settings),
            (Words{"/work/ds.json", "/work/a.yaml"}));
}

TEST(CommandNames, ModelsOfTheHubHaveOneSlash) {
  const auto models = [](const std::string& command) {
    Words found;
    for (const NamedPath& model : Names(command).hub_models) found.push_back(model.name);
    return found;
  };
  EXPECT_EQ(models("python t.py --model_name_or_path meta-llama/Llama-3.1-8B"),
            Words{"meta-llama/Llama-3.1-8B"});
  EXPECT_EQ(models("python t.py --base-model-path nvidia/GR00T-N1-2B"),
            Words{"nvidia/GR00T-N1-2B"});
  EXPECT_EQ(models("python t.py --model ./a/b --model /a/b --model gpt2 --model a/b/c"), Words{});
  EXPECT_EQ(models("hf download Qwen/Qwen3-8B && python t.py"), Words{"Qwen/Qwen3-8B"});
  EXPECT_EQ(models("python t.py --output_model_dir a/b"), Words{});
}

TEST(CommandNames, TheTrainersOwnFlagsAreRead) {
  const CommandNames names =
      Names("python t.py --output_dir out --save_steps 500 --save-total-limit=3 --push_to_hub");
  EXPECT_EQ(names.output_dir, "/work/out");
  EXPECT_EQ(names.save_steps, 500);
  EXPECT_EQ(names.save_total_limit, 3);
  EXPECT_TRUE(names.pushes_to_hub);
  EXPECT_FALSE(Names("python t.py --push_to_hub False").pushes_to_hub);
  EXPECT_FALSE(Names("python t.py --save_steps 0.1").save_steps);
}

}  // namespace
}  // namespace gpuadvise
