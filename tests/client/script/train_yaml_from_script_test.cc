#include "client/script/train_yaml_from_script.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "client/sbatch/sbatch_script.h"
#include "common/base/text.h"
#include "common/spec/train_spec.h"
#include "common/yaml/yaml_document.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

struct Made {
  json yaml;
  ScriptReport report;
  std::string error;
};

// `files`: what the script can name.
Made From(const std::string& script, const std::map<std::string, std::string>& files = {}) {
  ScriptSource source;
  source.text = script;
  source.file = "job.sh";
  source.read = [&](const std::string& path) -> std::optional<std::string> {
    const auto found = files.find(path);
    return found == files.end() ? std::nullopt : std::optional(found->second);
  };
  source.preset_of = [](const std::string& model) {
    return model == "meta-llama/Llama-3.1-8B" ? std::string("llama-3.1-8b") : std::string();
  };
  const Result<ConvertedScript> converted = TrainYamlFromScript(source);
  if (!converted) return {json(), {}, converted.error().message};
  return {ParseYaml(converted->yaml, "train.yaml").value().root, converted->report, ""};
}

std::string Command(const Made& made) { return made.yaml.value("command", ""); }

bool Says(const std::vector<std::string>& sentences, std::string_view part) {
  for (const std::string& sentence : sentences) {
    if (sentence.find(part) != std::string::npos) return true;
  }
  return false;
}

TEST(TrainYamlFromScript, GrootsFlagsBecomePlaceholders) {
  const Made made = From(
      "#SBATCH --gres=gpu:gpu4090:4 --output=logs/%j.out\n"
      "torchrun --nproc_per_node=4 scripts/gr00t_finetune.py --num-gpus 4 --batch-size 10 "
      "--gradient-accumulation-steps 3 --max-steps 10000\n");
  EXPECT_EQ(made.yaml["training"]["effective_batch_size"], 120);
  EXPECT_EQ(Command(made),
            "torchrun --nproc_per_node={gpus_per_node} scripts/gr00t_finetune.py --num-gpus "
            "{gpus_per_node} --batch-size {micro_batch} --gradient-accumulation-steps "
            "{accumulation} --max-steps 10000");
  EXPECT_EQ(made.yaml["slurm"]["extra"], json::parse(R"(["--output=logs/%j.out"])"));
}

TEST(TrainYamlFromScript, AnArgumentOfTheScriptStaysAndIsAskedFor) {
  const Made made =
      From("#SBATCH --gres=gpu:1\npython train.py --data $1 --name \"${2}\" \"$@\"\n");
  EXPECT_EQ(Command(made), "python train.py --data $1 --name \"${2}\"");
  EXPECT_TRUE(Says(made.report.missing, "$1 in the command is what you write"));
  EXPECT_TRUE(Says(made.report.unclear, "\"$@\" in the command is what you write"));
}

TEST(TrainYamlFromScript, ADefaultEndsAtItsOwnBrace) {
  const Made made = From(
      "#SBATCH --gres=gpu:1\n"
      "OV=${1:-'{\"a\": {\"lr\": 1}, \"b\": 2}'}\n"
      "NAME=${2:-run_${SLURM_JOB_ID}}\n"
      "python train.py --overrides \"$OV\" --name $NAME\n");
  EXPECT_EQ(made.yaml["setup"],
            json::parse(R"(["OV='{\"a\": {\"lr\": 1}, \"b\": 2}'", "NAME=run_${SLURM_JOB_ID}"])"));
}

TEST(TrainYamlFromScript, AFolderStaysBehindLinesThatReadTheOneBefore) {
  for (const char* line : {"export CFG=$(cat config.txt)", "export ROOT=$PWD", "mkdir -p logs",
                           "X=`ls *.yaml`", "export ROOT=$(pwd)"}) {
    const Made made = From("#SBATCH --gres=gpu:1\n" + std::string(line) +
                           "\ncd /scratch/run\npython train.py --cfg $CFG$ROOT$X\n");
    EXPECT_FALSE(made.yaml.contains("workdir")) << line;
    EXPECT_EQ(made.yaml["setup"].back(), "cd /scratch/run") << line;
  }
  for (const char* line : {"export SEED=$RANDOM", "mkdir -p /scratch/logs", "module load cuda",
                           "eval \"$(conda shell.bash hook)\"", "N=$((4 * 2))"}) {
    const Made made = From("#SBATCH --gres=gpu:1\n" + std::string(line) +
                           "\ncd /scratch/run\npython train.py --seed $SEED$N\n");
    EXPECT_EQ(made.yaml.value("workdir", ""), "/scratch/run") << line;
  }
}

TEST(TrainYamlFromScript, AHeterogeneousJobIsNone) {
  const Made made = From(
      "#SBATCH --partition=cpu\n#SBATCH hetjob\n#SBATCH --gres=gpu:2\n"
      "srun --het-group=1 python train.py\n");
  EXPECT_NE(made.error.find("job.sh:2: #SBATCH hetjob makes it a heterogeneous job"),
            std::string::npos);
}

TEST(TrainYamlFromScript, GpusOfAllTasksAreCounted) {
  for (const char* tasks : {"--ntasks=4", "--ntasks-per-node=4"}) {
    const Made made = From(std::string("#SBATCH ") + tasks +
                           " --gpus-per-task=1 --cpus-per-task=6 --mem=64G\n"
                           "srun python train.py --batch_size 2\n");
    EXPECT_EQ(made.yaml["resources"]["cpus_per_gpu"], 6) << tasks;
    EXPECT_EQ(made.yaml["resources"]["mem_per_gpu"], "16G") << tasks;
    EXPECT_FALSE(Says(made.report.unclear, "#SBATCH asks for")) << tasks;
  }
}

TEST(TrainYamlFromScript, ABindingOfTheScriptsOwnStays) {
  const Made made = From(
      "#SBATCH --ntasks-per-node=2 --gpus-per-task=1 --gpu-bind=none\n"
      "for i in 1 2; do\n  srun python train.py --lr $i\ndone\n");
  EXPECT_TRUE(
      IsOneOf("--gpu-bind=none", made.yaml["slurm"]["extra"].get<std::vector<std::string>>()));
  EXPECT_FALSE(Says(made.report.kept, "single:1"));
}

TEST(TrainYamlFromScript, ALoginShellOfTheTrainingIsNamed) {
  const auto is_named = [](const std::string& shell) {
    const Made made = From("#SBATCH --gres=gpu:2\nsrun " + shell +
                           " \"torchrun --nproc_per_node=2 train.py --batch_size 4\"\n");
    EXPECT_EQ(Command(made).find("torchrun"), 0u);
    return Says(made.report.unclear, "login shell");
  };
  EXPECT_TRUE(is_named("bash -lc"));
  EXPECT_FALSE(is_named("bash -c"));
}

TEST(TrainYamlFromScript, AnOptionWithABlankIsQuoted) {
  const Made made =
      From("#SBATCH --gres=gpu:1 --comment=\"two words\" --mail-user=ann\npython train.py\n");
  EXPECT_EQ(made.yaml["slurm"]["extra"],
            json::parse(R"(["--comment=\"two words\"", "--mail-user=ann"])"));
  const Result<SbatchOptions> read = ExtraOptions(made.yaml, {});
  ASSERT_TRUE(read);
  EXPECT_EQ(read->Get("comment"), "two words");
}

TEST(TrainYamlFromScript, UnsetVariablesThatNoLongerEndItAreNamed) {
  EXPECT_TRUE(Says(
      From("#SBATCH --gres=gpu:1\nset -euo pipefail\npython train.py --out $OUT\n").report.left,
      "a variable that is not set is empty"));
}

TEST(TrainYamlFromScript, AFileOfSettingsWithoutAFlagIsReadWhereverItStands) {
  const std::map<std::string, std::string> files = {
      {"conf/a.yaml",
       "max_seq_len: 4096\nmodel_parallel_size: 2\nmodel: {activation_checkpointing_ratio: 3}\n"
       "answer_max_len: 256\neval_batch_size: 7\nfsdp_offload: false\n"}};
  for (const char* command :
       {"torchrun --nproc_per_node 4 train.py conf/a.yaml", "C=conf/a.yaml\npython x.py train $C",
        "python ./deepy.py ./train.py conf/a.yaml --x 3", "composer train.py conf/a.yaml"}) {
    const Made made = From(std::string("#SBATCH --gres=gpu:4\n") + command + "\n", files);
    EXPECT_EQ(made.yaml["training"]["max_seq_length"], 4096) << command;
    EXPECT_EQ(made.yaml["training"]["tensor_parallel_size"], 2) << command;
    EXPECT_TRUE(Says(made.report.unclear, "model.activation_checkpointing_ratio: 3 in conf/a.yaml"))
        << command;
    EXPECT_TRUE(Says(made.report.unclear, "answer_max_len: 256")) << command;
    EXPECT_FALSE(Says(made.report.unclear, "eval_batch_size")) << command;
    EXPECT_FALSE(Says(made.report.unclear, "fsdp_offload")) << command;
  }
  const Made more = From("#SBATCH --gres=gpu:1\npython train.py conf/a.yaml b.yml\n", files);
  EXPECT_TRUE(Says(more.report.unclear, "b.yml cannot be read here"));
  const Made behind_switch =
      From("#SBATCH --gres=gpu:1\npython train.py --bf16 conf/a.yaml\n", files);
  EXPECT_EQ(behind_switch.yaml["training"]["max_seq_length"], 4096);
  const Made data =
      From("#SBATCH --gres=gpu:1\npython train.py --data conf/a.yaml x y.json\n", files);
  EXPECT_FALSE(data.yaml["training"].contains("tensor_parallel_size"));
}

TEST(TrainYamlFromScript, ACalledScriptInAVariableIsNamed) {
  const Made made = From(
      "#SBATCH --nodes=2 --gres=gpu:4\nJOB=/home/x/grpo.sh\nsrun --ntasks=1 hostname\n"
      "srun bash $JOB\n");
  EXPECT_NE(made.error.find("/home/x/grpo.sh may have the training"), std::string::npos)
      << made.error;
}

TEST(TrainYamlFromScript, CountsOfGpusAndNodesFollowTheRow) {
  const char* lines =
      "N_GPUS_PER_NODE=8\nNNODES=4\nexport TASKS=$(($N_GPUS_PER_NODE*$NNODES))\n"
      "sed 's/$/ slots=8/' nodes > hosts\n"
      "python t.py --per_device_train_batch_size 1 --max_steps 9";
  for (const char* end : {"\n", " | tee log\n"}) {
    const Made made = From(std::string("#SBATCH --nodes=4 --gres=gpu:8\n") + lines + end);
    const std::string text = Command(made) + made.yaml.value("setup", json()).dump();
    EXPECT_NE(text.find("N_GPUS_PER_NODE={gpus_per_node}"), std::string::npos) << text;
    EXPECT_NE(text.find("NNODES={nodes}"), std::string::npos) << text;
    EXPECT_NE(text.find("slots={gpus_per_node}/"), std::string::npos) << text;
  }
}

TEST(TrainYamlFromScript, ANumberThatIsNotTheScriptsCountStays) {
  const Made made = From(
      "#SBATCH --nodes=2 --gres=gpu:8\nexport NUM_NODES=2708 NUM_GPUS=16\nexport WORLD_SIZE=16\n"
      "torchrun --nproc_per_node 8 t.py --per_device_train_batch_size 1 | tee log\n");
  EXPECT_EQ(made.yaml["env"],
            json::parse(R"({"NUM_NODES": "2708", "NUM_GPUS": "{gpus}", "WORLD_SIZE": "{gpus}"})"));
  EXPECT_TRUE(Says(made.report.unclear, "NUM_NODES=2708 stays"));
}

TEST(TrainYamlFromScript, AProgramThatNoLauncherStartsIsOneProcess) {
  const Made made = From("#SBATCH --gres=gpu:1\n./train_gpt2cu -b 32 -t 1024 -x 5\n");
  EXPECT_EQ(made.yaml["resources"]["max_gpus"], 1);
  EXPECT_TRUE(Says(made.report.unclear, "./train_gpt2cu starts one process"));
  EXPECT_TRUE(Says(made.report.unclear, "-t 1024, -x 5"));
  EXPECT_TRUE(Says(From("#SBATCH --gres=gpu:4\n./train_x --batch_size 32\n").report.unclear,
                   "and the script asks for 4 GPUs"));
  for (const char* several : {"srun $CMD", "bash $1", "fairseq-train --max-update 5 d"}) {
    const Made other = From(std::string("#SBATCH --gres=gpu:4\n") + several + "\n");
    EXPECT_FALSE(Says(other.report.unclear, "starts one process")) << several;
  }
}

TEST(TrainYamlFromScript, SrunOfAScriptIsRead) {
  const Made made =
      From("#SBATCH --gres=gpu:2\nsrun ./in.sh 7\n",
           {{"./in.sh", "#!/bin/bash -e\ntorchrun --nproc_per_node 2 t.py --batch_size 4\n"}});
  EXPECT_NE(Command(made).find("srun bash -c \"$(cat <<"), std::string::npos)
      << made.error << Command(made);
}

TEST(TrainYamlFromScript, ACalledScriptKeepsTheOptionsOfItsOwnShell) {
  const std::string in = "#!/bin/bash -eu\ntorchrun --nproc_per_node 2 t.py --batch_size 4\n";
  const Made itself = From("#SBATCH --gres=gpu:2\n./in.sh && echo done\n", {{"./in.sh", in}});
  EXPECT_NE(Command(itself).find("set -eu\n"), std::string::npos) << Command(itself);
  const Made by_shell =
      From("#SBATCH --gres=gpu:2\nbash ./in.sh && echo done\n", {{"./in.sh", in}});
  EXPECT_EQ(Command(by_shell).find("set -eu\n"), std::string::npos) << Command(by_shell);
}

TEST(TrainYamlFromScript, ArgumentsOfAFunctionAreItsOwn) {
  const std::string in =
      "go() {\n  torchrun --nproc_per_node 2 t.py --batch_size 4 --run $1\n}\ngo a\n";
  const Made made = From("#SBATCH --gres=gpu:2\nbash in.sh && echo done\n", {{"in.sh", in}});
  EXPECT_FALSE(Says(made.report.unclear, "after the script's name")) << made.error;
}

TEST(TrainYamlFromScript, GrposIterationsAreNotItsSteps) {
  const Made made = From(
      "#SBATCH --gres=gpu:1\ntorchrun train_grpo.py --num_iterations 4 --max_steps 90 "
      "--per_device_train_batch_size 1\n");
  EXPECT_EQ(made.yaml["training"]["max_steps"], 90);
  EXPECT_TRUE(Says(made.report.unclear, "several passes over generated samples"));
}

TEST(TrainYamlFromScript, AFileOfOpenMmlabIsNamed) {
  const Made made = From("#SBATCH --gres=gpu:1\npython tools/train.py configs/a.py\n");
  EXPECT_TRUE(Says(made.report.unclear, "configs/a.py cannot be read here"));
}

TEST(TrainYamlFromScript, VariablesInSbatchLinesAreNotExpanded) {
  const Made made = From(
      "#SBATCH --gres=gpu:1 --account=${project}\ntorchrun t.py --max_steps 5 --batch_size 1\n");
  EXPECT_TRUE(Says(made.report.unclear, "--account=${project}: Slurm expands no variables"));
}

TEST(TrainYamlFromScript, WhatACalledScriptIsGivenIsNotAskedFor) {
  const Made made = From("#SBATCH --gres=gpu:1\nbash in.sh 7 && echo done\n",
                         {{"in.sh", "[ $# -eq 1 ] || exit 1\npython t.py --run $1 -b 8\n"}});
  EXPECT_FALSE(Says(made.report.unclear, "after the script's name")) << Command(made);
  const Made none = From("#SBATCH --gres=gpu:1\nbash in.sh && echo done\n",
                         {{"in.sh", "torchrun --nproc_per_node 1 t.py --run $1 --batch_size 8\n"}});
  EXPECT_TRUE(Says(none.report.unclear, "after the script's name")) << Command(none);
}

TEST(TrainYamlFromScript, TheOtherBranchIsNotSaidToRun) {
  const Made made = From(
      "#SBATCH --gres=gpu:8\nif [ -z \"$N\" ]; then\n"
      "  torchrun --nproc_per_node=8 train.py --batch_size 8 &\nelse\n"
      "  torchrun --nnodes 2 --nproc_per_node=8 train.py --batch_size 8 &\nfi\nwait\n");
  EXPECT_TRUE(Says(made.report.unclear, "a condition says whether it runs"));
  EXPECT_FALSE(Says(made.report.unclear, "it runs as well"));
}

TEST(TrainYamlFromScript, AFolderBesideOneThatTheTextGoesToIsNotTheOutput) {
  const char* training = "torchrun --nproc_per_node 2 t.py --output_dir ../models --max_steps 9";
  const Made made =
      From(std::string("#SBATCH --gres=gpu:2\ncd src/utils && ls\n") + training + " | tee log\n");
  EXPECT_FALSE(made.yaml.contains("output"));
  EXPECT_TRUE(Says(made.report.unclear, "write output.dir in full"));
  const Made inner =
      From(std::string("#SBATCH --gres=gpu:2\n(cd ext && make)\n") + training + " | tee log\n");
  EXPECT_EQ(inner.yaml["output"]["dir"], "../models");
  const Made plain = From(std::string("#SBATCH --gres=gpu:2\n") + training + " | tee log\n");
  EXPECT_EQ(plain.yaml["output"]["dir"], "../models");
}

TEST(TrainYamlFromScript, AFlagThatTheProgramMayNotKnowIsNotAdded) {
  const Made made = From("#SBATCH --gres=gpu:2\ntorchrun --nproc_per_node 2 t.py --batch_size 8\n");
  EXPECT_EQ(Command(made).find("accumulation"), std::string::npos);
  EXPECT_EQ(made.yaml["training"]["gradient_accumulation_steps"], 1);
  EXPECT_TRUE(Says(made.report.unclear, "no flag for gradient accumulation"));
}

TEST(TrainYamlFromScript, ShellVariablesAreFollowed) {
  const Made made = From(
      "GPUS=${GPUS:-8}\nBS=4\nACC=$((256 / BS / GPUS))\nRUN=run-bs$BS\n"
      "ARGS=(\n  --per_device_train_batch_size $BS # batch\n  --bf16 True\n)\n"
      "torchrun --nproc_per_node $GPUS train.py \"${ARGS[@]}\" "
      "--gradient_accumulation_steps $ACC --max_steps 5 --run_name $RUN \"$@\"\n");
  EXPECT_EQ(made.yaml["training"]["effective_batch_size"], 256);
  EXPECT_EQ(made.yaml["training"]["bf16"], true);
  EXPECT_EQ(Command(made),
            "torchrun --nproc_per_node {gpus_per_node} train.py --per_device_train_batch_size "
            "{micro_batch} --bf16 True --gradient_accumulation_steps {accumulation} --max_steps 5 "
            "--run_name $RUN");
  // The name of the run still says the batch that it has.
  EXPECT_EQ(made.yaml["setup"], json::parse(R"(["BS={micro_batch}", "RUN=run-bs$BS"])"));
  EXPECT_TRUE(Says(made.report.unclear, "\"$@\""));
}

TEST(TrainYamlFromScript, AnAccumulationThatCannotBeToldIsAskedFor) {
  const Made made = From(
      "#SBATCH --gres=gpu:4\ntorchrun --nproc_per_node 4 t.py --per_device_train_batch_size 1 "
      "--gradient_accumulation_steps $(compute)\n");
  EXPECT_FALSE(made.yaml["training"].contains("effective_batch_size"));
  EXPECT_TRUE(Says(made.report.missing, "--gradient_accumulation_steps $(compute) has no value"));
}

TEST(TrainYamlFromScript, ABatchOfAllGpusStaysOne) {
  const Made made = From(
      "#SBATCH -N2 --gpus-per-node=8\n"
      "torchrun --nnodes 2 --nproc_per_node 8 pretrain_gpt.py --micro-batch-size 4 "
      "--global-batch-size 256 --train-iters 100 --seq-length 4096 --bf16\n");
  EXPECT_EQ(made.yaml["training"]["effective_batch_size"], 256);
  EXPECT_EQ(made.yaml["training"]["max_seq_length"], 4096);
  EXPECT_EQ(made.yaml["resources"]["max_nodes"], 2);
  EXPECT_NE(Command(made).find("--nnodes {nodes}"), std::string::npos);
  EXPECT_NE(Command(made).find("--micro-batch-size {micro_batch} --global-batch-size "
                               "{effective_batch_size}"),
            std::string::npos);
}

TEST(TrainYamlFromScript, APlainBatchBesideAMicroBatchIsThatOfAll) {
  const Made made =
      From("python finetune.py --batch_size 128 --micro_batch_size 4 --num_epochs 3\n");
  EXPECT_EQ(made.yaml["training"]["effective_batch_size"], 128);
  EXPECT_NE(Command(made).find("--batch_size {effective_batch_size} --micro_batch_size "
                               "{micro_batch}"),
            std::string::npos);
}

TEST(TrainYamlFromScript, AConfigFilesFiguresAreTakenAndOverridden) {
  const Made made = From("#SBATCH --gres=gpu:2\nllamafactory-cli train sft.yaml\n",
                         {{"sft.yaml",
                           "model_name_or_path: meta-llama/Llama-3.1-8B\nfinetuning_type: lora\n"
                           "per_device_train_batch_size: 2\ngradient_accumulation_steps: 8\n"
                           "cutoff_len: 2048\nnum_train_epochs: 3.0\nbf16: true\n"}});
  EXPECT_EQ(made.yaml["model"]["preset"], "llama-3.1-8b");
  EXPECT_EQ(made.yaml["training"]["effective_batch_size"], 32);
  EXPECT_EQ(made.yaml["training"]["method"], "lora");
  EXPECT_EQ(Command(made),
            "llamafactory-cli train sft.yaml per_device_train_batch_size={micro_batch} "
            "gradient_accumulation_steps={accumulation}");
}

TEST(TrainYamlFromScript, AConfigFileThatIsNotHereIsNamed) {
  const Made made = From("#SBATCH --gres=gpu:2\nllamafactory-cli train sft.yaml\n");
  EXPECT_TRUE(Says(made.report.missing, "it is set in sft.yaml, which cannot be read here"));
  EXPECT_TRUE(Says(made.report.unclear, "sft.yaml cannot be read here: what only it says"));
}

TEST(TrainYamlFromScript, SrunAndAShellAroundTheCommandAreTakenOff) {
  const Made made = From(
      "#SBATCH -N 2 --gres=gpu:4 --ntasks-per-node=1\n"
      "srun --jobid $SLURM_JOBID bash -c 'torchrun --nnodes $SLURM_NNODES --nproc_per_node 4 "
      "t.py --per_device_train_batch_size 2 --max_steps 9'\n");
  EXPECT_EQ(Command(made),
            "torchrun --nnodes {nodes} --nproc_per_node {gpus_per_node} t.py "
            "--per_device_train_batch_size {micro_batch} --max_steps 9 "
            "--gradient_accumulation_steps {accumulation}");
  EXPECT_EQ(made.yaml["training"]["effective_batch_size"], 16);
}

TEST(TrainYamlFromScript, ATaskForEachGpuStays) {
  const Made made = From(
      "#SBATCH --nodes=1 --ntasks-per-node=4 --gres=gpu:4 --cpus-per-task=8\n"
      "srun python train.py --devices 4 --batch_size 16 --accumulate_grad_batches 2 "
      "--max_epochs 3\n");
  EXPECT_EQ(Command(made),
            "srun python train.py --devices {gpus_per_node} --batch_size {micro_batch} "
            "--accumulate_grad_batches {accumulation} --max_epochs 3");
  EXPECT_EQ(made.yaml["slurm"]["extra"], json::array({"--ntasks-per-node={gpus_per_node}"}));
  EXPECT_EQ(made.yaml["training"]["effective_batch_size"], 128);
  EXPECT_EQ(made.yaml["resources"]["cpus_per_gpu"], 8);
}

TEST(TrainYamlFromScript, WhatComesBeforeIsKeptInItsOrder) {
  const Made made = From(
      "set -e\nmodule purge\nexport A=1\nDATA=/d\nexport B=$DATA/x\ncd ~/proj\n"
      "if [ -d x ]; then\n  rm x\nfi\npython prepare_data.py\ntorchrun t.py --max_steps 2\n");
  EXPECT_EQ(made.yaml["env"], json::parse(R"({"A": "1"})"));
  EXPECT_EQ(made.yaml["workdir"], "~/proj");
  EXPECT_EQ(made.yaml["setup"], json::parse(R"(["module purge", "DATA=/d", "export B=$DATA/x",
                            "if [ -d x ]; then\n  rm x\nfi", "python prepare_data.py"])"));
}

TEST(TrainYamlFromScript, AnExportBehindWhatMaySetItKeepsItsPlace) {
  for (const char* before :
       {"source env.sh", "module load gcc", ". ./x", "set -e\n[ -f env.sh ] && source env.sh"}) {
    const Made made = From(std::string(before) +
                           "\nexport PYTHONPATH=src\nexport A=1\ntorchrun t.py --max_steps 2\n");
    EXPECT_FALSE(made.yaml.contains("env")) << before;
    ASSERT_TRUE(made.yaml.contains("setup")) << before;
    EXPECT_EQ(made.yaml["setup"].back(), "export A=1") << before;
  }
}

TEST(TrainYamlFromScript, AWordOfTheCommandIsNoRankOfItsProcesses) {
  const auto command = [](const char* setup) {
    return Command(From(std::string(setup) + "\npython t.py --lora_r $RANK --max_steps 2\n"));
  };
  EXPECT_THAT(command("RANK=16"), HasSubstr("export -n RANK\n"));
  EXPECT_THAT(command("RANK=16\nexport A=1 RANK"), Not(HasSubstr("export -n")));
  EXPECT_THAT(command("export RANK=16"), Not(HasSubstr("export -n")));
}

TEST(TrainYamlFromScript, WhatTheJobsShellExpandsOnceIsNotExpandedOnEachNode) {
  const auto command = [](const std::string& words) {
    return Command(
        From("#SBATCH --gres=gpu:4 --nodes=2\nHEAD=n1\n"
             "srun torchrun --nnodes=2 --nproc_per_node=4 " +
             words + " t.py --batch_size 8 --max_steps 9\n"));
  };
  for (const char* varies : {"--rdzv_endpoint=$HOSTNAME:29511", "--rdzv_id $(date +%s%N)",
                             "--rdzv_endpoint=$HEAD:$((20000 + RANDOM % 1000))"}) {
    EXPECT_THAT(command(varies), HasSubstr("srun torchrun")) << varies;
  }
  for (const char* same : {"--rdzv_id=$RANDOM", "--rdzv_endpoint=$(hostname):29500"}) {
    EXPECT_THAT(command(same), Not(HasSubstr("srun"))) << same;
  }
}

TEST(TrainYamlFromScript, NodesThatAreTasksOfAnArrayAreRefused) {
  EXPECT_THAT(From("#SBATCH --gres=gpu:2 --array=0-1\ntorchrun --nnodes 2 --nproc_per_node=2 "
                   "--node_rank $SLURM_ARRAY_TASK_ID t.py --max_steps 9\n")
                  .error,
              HasSubstr("the tasks of the array are the nodes of one training"));
}

TEST(TrainYamlFromScript, AHereDocumentInASubstitutionKeepsItsText) {
  const Made made = From(
      "#SBATCH --gres=gpu:1\nCFG=$(cat <<EOF\ntitle: run #1\n# kept\nEOF\n)\n"
      "torchrun t.py --cfg \"$CFG\" --max_steps 9\n");
  EXPECT_THAT(made.yaml.dump(), HasSubstr("run #1\\n# kept"));
}

TEST(TrainYamlFromScript, WhatTheNodesWriteIntoOneFileIsCollectedBySrun) {
  const std::string start =
      "srun bash -c 'torchrun --nnodes 2 --nproc_per_node 4 --node_rank $SLURM_PROCID t.py "
      "--batch_size 8 --max_steps 9' 2>&1";
  const auto command = [&](const char* nodes, const char* tail) {
    return Command(
        From("#SBATCH --gres=gpu:4 --nodes=" + std::string(nodes) + "\n" + start + tail));
  };
  EXPECT_THAT(command("2", " | tee log"), HasSubstr("srun bash -c 'torchrun --nnodes {nodes}"));
  EXPECT_THAT(command("2", " | tee log"), HasSubstr("' 2>&1 | tee log"));
  EXPECT_THAT(command("2", ""), Not(HasSubstr("srun")));
  EXPECT_THAT(command("2", " >/dev/null"), Not(HasSubstr("srun")));
}

TEST(TrainYamlFromScript, TrainingsOfEachNodeThatBecomeOneAreSaid) {
  const auto said = [](const char* start) {
    const Made made =
        From("#SBATCH --gres=gpu:2 --nodes=2\n" + std::string(start) + " t.py --max_steps 9\n");
    return Join(made.report.unclear, "\n");
  };
  EXPECT_THAT(said("srun torchrun --nproc_per_node=2"),
              HasSubstr("is a training on each of 2 nodes"));
  EXPECT_THAT(said("torchrun --nproc_per_node=2"), HasSubstr("the first of 2 nodes"));
  EXPECT_THAT(said("srun torchrun --standalone --nproc_per_node=2"),
              HasSubstr("a training of each node by itself"));
  EXPECT_THAT(said("srun torchrun --nnodes=2 --nproc_per_node=2"), Not(HasSubstr("2 nodes")));
}

TEST(TrainYamlFromScript, IdsOfGpusAreNoNumberOfThem) {
  for (const char* ids : {"--gpus $CUDA_VISIBLE_DEVICES", "--gpu_ids $CUDA_VISIBLE_DEVICES",
                          "--gpus 0", "--devices 0 1", "--gpu-ids 0 1"}) {
    EXPECT_THAT(
        Command(From(std::string("#SBATCH --gres=gpu:2\npython t.py ") + ids + " --max_steps 9\n")),
        HasSubstr(ids));
  }
}

TEST(TrainYamlFromScript, NodesBesideGpusFollowTheRow) {
  EXPECT_THAT(Command(From("#SBATCH --gres=gpu:4 --nodes=2 --ntasks-per-node=4\n"
                           "srun python t.py --batch_size 8 --max_steps 9 --gpus 4 --nodes 2\n")),
              HasSubstr("--gpus {gpus_per_node} --nodes {nodes}"));
}

TEST(TrainYamlFromScript, AFrameworksNameIsAWordOfTheCommand) {
  const Made made = From(
      "#SBATCH --gres=gpu:1\nsingularity exec --nv --overlay e.ext3:ro i.sif accelerate launch "
      "train_dreambooth_lora_sdxl.py --train_batch_size=1 --gradient_accumulation_steps=4 "
      "--max_train_steps=800\n");  // no verl
  EXPECT_EQ(made.yaml["training"]["effective_batch_size"], 4);
}

TEST(TrainYamlFromScript, SlurmsCountOfATaskIsThatOfTheRow) {
  const Made made = From(
      "#SBATCH --gpus-per-task=8 --nodes=2 --ntasks-per-node=1\nn=$SLURM_GPUS_PER_TASK\n"
      "srun ray start --num-gpus $n --block &\npython t.py --batch-size 8 --max-steps 10\n");
  EXPECT_EQ(made.yaml["env"]["SLURM_GPUS_PER_TASK"], "{gpus_per_node}");
}

TEST(TrainYamlFromScript, TheFigureOfTheTrainingsOwnWordsIsReplaced) {
  const Made made = From(
      "#SBATCH --gres=gpu:1\nexport INFER=\"python infer.py --batch ${b}\"\n"
      "export CMD=\"python train.py --batch ${b} --max-steps 10\"\n"
      "if [ \"$PROFILE\" = true ]; then\n  srun dlprof $CMD\nelse\n"
      "  srun apptainer exec --nv img.sif $CMD\n  $INFER\nfi\n");
  EXPECT_THAT(Command(made), HasSubstr("python infer.py --batch ${b}"));
  EXPECT_THAT(Command(made), HasSubstr("python train.py --batch {micro_batch}"));
}

TEST(TrainYamlFromScript, WhatTheScriptIsCalledWithIsSaidToBeMissing) {
  EXPECT_THAT(Join(From("#SBATCH --gres=gpu:1\nwhile getopts \"l:\" flag; do LR=$OPTARG; done\n"
                        "python t.py --lr ${LR:-1} --batch-size 8 --max-steps 10\n")
                       .report.unclear,
                   "\n"),
              HasSubstr("what getopts reads is what you write after the script's name"));
  EXPECT_THAT(Join(From("#SBATCH --gres=gpu:1\n"
                        "me=$(scontrol show job $SLURM_JOB_ID | grep Command= | cut -d= -f2-)\n"
                        ". $(dirname $me)/x.sh\npython t.py --batch-size 8 --max-steps 10\n")
                       .report.unclear,
                   "\n"),
              HasSubstr("the script's own path"));
}

TEST(TrainYamlFromScript, AFolderThatTheTextReadsIsNoneOfTheJobsHead) {
  const Made made = From(
      "#SBATCH --gres=gpu:1\nread -r OUT LR < <(sed -n 1p runs.csv)\ntrap 'echo bye' EXIT\n"
      "python t.py --lr $LR --batch-size 8 --max-steps 10 --output_dir $OUT\n");
  EXPECT_FALSE(made.yaml.contains("output")) << made.yaml;
}

TEST(TrainYamlFromScript, HintsGoBeforeTheScript) {
  ScriptSource source;
  source.text = "torchrun t.py --num_train_epochs 3 --per_device_train_batch_size 4\n";
  source.file = "job.sh";
  source.read = [](const std::string&) { return std::optional<std::string>(); };
  source.preset_of = [](const std::string& model) { return model; };
  source.hints.model = "llama-3.1-8b";
  source.hints.num_samples = 5000;
  const Result<ConvertedScript> converted = TrainYamlFromScript(source);
  ASSERT_TRUE(converted);
  EXPECT_TRUE(converted->report.missing.empty());
  const json yaml = ParseYaml(converted->yaml, "train.yaml").value().root;
  EXPECT_EQ(yaml["training"]["num_samples"], 5000);
  EXPECT_TRUE(ParseTrainSpec(yaml, ""));
}

TEST(TrainYamlFromScript, ATrainingThatRunsSeveralTimesIsReadButItsCommandIsAsked) {
  const std::string flags = " --per_device_train_batch_size 4 --max_steps 9 --bf16 True";
  const std::pair<std::string, std::string> blocks[] = {
      {"module load cuda\nfor s in 1 2; do\n  cd r$s\n  torchrun --nproc_per_node 2 t.py --seed "
       "$s" +
           flags + "\ndone\n",
       "line 4: the training starts inside a loop"},
      {"t() {\n  torchrun --nproc_per_node 2 t.py" + flags + "\n}\nt\nt again\n",
       "line 2: the training starts inside a function"},
      {"t() {\n  torchrun --nproc_per_node 2 t.py" + flags + "\n}\nfor x in a b; do t $x; done\n",
       "line 2: the training starts inside a function"}};
  for (const auto& [script, why] : blocks) {
    const Made made = From(script);
    EXPECT_EQ(made.error, "");
    EXPECT_TRUE(Says(made.report.missing, why)) << script;
    EXPECT_FALSE(made.yaml.contains("command"));
    EXPECT_EQ(made.yaml["training"]["effective_batch_size"], 8) << script;
  }
  EXPECT_EQ(From(blocks[0].first).yaml["setup"], json::array({"module load cuda"}));
}

TEST(TrainYamlFromScript, WhatCannotBeReadRightlyIsRefusedWithItsLine) {
  EXPECT_EQ(From("torchrun 'x\n").error, "job.sh: line 1: a single quote is not closed");
  EXPECT_TRUE(From("torchrun <your_script>.py\n").error.starts_with("job.sh:1: <your_script>"));
  EXPECT_TRUE(From("torchrun t.py --name {name}\n")
                  .error.starts_with("job.sh: it contains a word in braces"));
  EXPECT_TRUE(From("a\n\xff\xfe\n").error.starts_with("job.sh:2: not UTF-8 text"));
  EXPECT_TRUE(From(std::string("torchrun t.py\n\0x", 16)).error.starts_with("job.sh:2: not UTF-8"));
  EXPECT_TRUE(From(std::string(2 << 20, 'a')).error.starts_with("job.sh: 2097152 bytes"));
}

TEST(TrainYamlFromScript, ALargeScriptIsReadInTime) {
  std::string script = "torchrun t.py";
  while (script.size() < 400'000) script += " --per_device_train_batch_size 8";
  EXPECT_EQ(From(script + "\n").error, "");
  std::string lines;
  while (lines.size() < 900'000) lines += "A" + std::to_string(lines.size()) + "=1\n";
  EXPECT_EQ(From(lines + "torchrun t.py\n").error, "");
}

TEST(TrainYamlFromScript, WindowsLineEndsDoNotMatter) {
  const std::string script = "#SBATCH --gres=gpu:2\nmodule load x\ntorchrun t.py --max_steps 7\n";
  EXPECT_EQ(From(ReplaceAll(script, "\n", "\r\n")).yaml, From(script).yaml);
}

TEST(TrainYamlFromScript, ListsInListsEndAsTheyAreWritten) {
  std::string script = "A0=(--lr 1)\n";
  for (int i = 1; i < 5; ++i) {
    script += "A" + std::to_string(i) + "=(";
    for (int k = 0; k < 1'000; ++k) script += "\"${A" + std::to_string(i - 1) + "[@]}\" ";
    script += ")\n";
  }
  const Made made = From(script + "torchrun t.py --max_steps 5 \"${A4[@]}\"\n");
  EXPECT_EQ(made.error, "");
  EXPECT_LT(Command(made).size(), 1u << 20);
}

TEST(TrainYamlFromScript, TheSectionThatTheCommandNamesIsRead) {
  const std::string config =
      "inference: {batch_size: 8}\n"
      "xlsum: {training: {batch_size: 1, max_steps: 10}, inference: {batch_size: 16}}\n"
      "other: {training: {batch_size: 32}}\n";
  const Made made = From(
      "#SBATCH --gres=gpu:4\ntorchrun --nproc_per_node 4 trainer.py --config config.yaml "
      "--config-section xlsum\n",
      {{"config.yaml", config}});
  EXPECT_EQ(made.yaml["training"]["effective_batch_size"], 4);
  EXPECT_EQ(made.yaml["training"]["max_steps"], 10);
}

TEST(TrainYamlFromScript, WhatFollowsTheTrainingOnItsLineStays) {
  const Made made = From(
      "torchrun --nproc_per_node 2 t.py --per_device_train_batch_size 2 --max_steps 9 2>&1 | tee "
      "log "
      "&& python merge_lora.py --base x\n");
  EXPECT_TRUE(Command(made).ends_with("2>&1 | tee log && python merge_lora.py --base x"));
}

TEST(TrainYamlFromScript, ABatchThatAnArraySweepsStays) {
  const Made made = From(
      "#SBATCH --array=0-2 --gres=gpu:2\nTEMP=(16 32 64)\nvalue=${TEMP[$SLURM_ARRAY_TASK_ID]}\n"
      "torchrun --nproc_per_node 2 t.py --batch_size $value --max_steps 9 --name bs_$value\n");
  EXPECT_NE(Command(made).find("--batch_size $value"), std::string::npos) << Command(made);
  EXPECT_EQ(made.yaml["setup"],
            json::array({"TEMP=(16 32 64)", "value=${TEMP[$SLURM_ARRAY_TASK_ID]}"}));
  EXPECT_TRUE(Says(made.report.unclear, "differs from task to task of the array"));
}

TEST(TrainYamlFromScript, TheTrainersPrecisionIsWrittenWhereNoFlagGivesIt) {
  const std::string flags = "t.py --per_device_train_batch_size 2 --max_steps 9 --save_steps 3\n";
  const Made trainer = From("torchrun --nproc_per_node 2 " + flags);
  EXPECT_EQ(trainer.yaml["training"]["bf16"], false);
  EXPECT_EQ(trainer.yaml["training"]["fp16"], false);
  EXPECT_TRUE(Says(trainer.report.unclear, "fp32 is counted, the default of Transformers"));
  const Made accelerate = From("accelerate launch " + flags);
  EXPECT_FALSE(accelerate.yaml["training"].contains("bf16"));
  EXPECT_TRUE(Says(accelerate.report.unclear, "accelerate's configuration decides"));
  const Made unknown = From("torchrun --nproc_per_node 2 t.py --batch_size 2 --max_steps 9\n");
  EXPECT_TRUE(Says(unknown.report.unclear, "for fp32 write bf16: false and fp16: false"));
}

TEST(TrainYamlFromScript, APrecisionWithoutAValueIsNotTakenForNone) {
  const Made made = From(
      "torchrun --nproc_per_node 2 t.py --per_device_train_batch_size 2 --max_steps 9 "
      "--save_steps 3 --bf16=$BF16\n");
  EXPECT_FALSE(made.yaml["training"].contains("bf16"));
  EXPECT_TRUE(Says(made.report.unclear, "--bf16 $BF16 has no value in the script"));
}

TEST(TrainYamlFromScript, ALimitOfSamplesIsAsked) {
  const Made made = From(
      "torchrun --nproc_per_node 2 t.py --per_device_train_batch_size 2 --num_train_epochs 3 "
      "--max_train_samples 5000\n");
  EXPECT_EQ(made.yaml["training"]["num_samples"], 5000);
  EXPECT_TRUE(Says(made.report.taken, "num_samples 5000 (--max_train_samples)"));
  EXPECT_TRUE(Says(made.report.unclear, "--max_train_samples 5000 is a limit"));
}

TEST(TrainYamlFromScript, AProgramThatSubmitsIsNamed) {
  const Made made = From("python submitit_pretrain.py --batch_size 64 --max_steps 9 --nodes 8\n");
  EXPECT_TRUE(Says(made.report.unclear, "submitit_pretrain.py submits a job of its own"));
}

TEST(TrainYamlFromScript, AShellsTextStaysWithItsQuotes) {
  const Made made = From(
      "entry=train.py\n"
      "srun bash -c '\ncd src\nexec torchrun --nproc_per_node=8 --nnodes='\"$SLURM_NNODES\"' "
      "'\"$entry\"' --per_device_train_batch_size 2 --max_steps 9 --bf16 True\n'\n");
  EXPECT_EQ(Command(made),
            "set +e +o pipefail  # as in a script\nentry=train.py\n"
            "srun bash -c '\ncd src\nexec torchrun --nproc_per_node={gpus_per_node} "
            "--nnodes='\"$SLURM_NNODES\"' '\"$entry\"' --per_device_train_batch_size {micro_batch} "
            "--max_steps 9 --bf16 True --gradient_accumulation_steps {accumulation}\n'");
}

TEST(TrainYamlFromScript, ABatchsVariableThatEvaluationUsesKeepsItsValue) {
  const Made made = From(
      "BS=16\ntorchrun --nproc_per_node 2 t.py --per_device_train_batch_size $BS "
      "--per_device_eval_batch_size $BS --max_steps 9\n");
  EXPECT_EQ(made.yaml["setup"], json::array({"BS=16"}));
  EXPECT_NE(Command(made).find("--per_device_train_batch_size {micro_batch}"), std::string::npos);
}

TEST(TrainYamlFromScript, SpellingsOfOtherProgramsAreRead) {
  const Made made = From(
      "torchrun --nproc_per_node 2 t.py --per_device_train_batch_size 2 --max_steps 9 --bf16 True "
      "--use_4bit --enable_fsdp --vision_tower openai/clip-vit-large-patch14-336\n");
  EXPECT_EQ(made.yaml["training"]["method"], "qlora");
  EXPECT_EQ(made.yaml["training"]["fsdp"], "full_shard");
  EXPECT_TRUE(Says(made.report.unclear, "a model with a vision tower"));
}

TEST(TrainYamlFromScript, AProgramWithALoopOfItsOwnHasNoTrainersDefaults) {
  const Made made = From(
      "deepspeed main.py --per_device_train_batch_size 2 --num_warmup_steps 9 --max_steps 9\n");
  EXPECT_FALSE(made.yaml["training"].contains("gradient_checkpointing"));
  EXPECT_FALSE(made.yaml["training"].contains("bf16"));
}

TEST(TrainYamlFromScript, ATrainingThatAVariableHoldsIsNoSetup) {
  const Made made = From(
      "cmd=\"torchrun --nproc_per_node 4 t.py --per_device_train_batch_size 2 --max_steps 9\"\n"
      "srun bash -c \"source env.sh; $cmd\"\n");
  EXPECT_NE(Command(made).find("cmd=\"torchrun --nproc_per_node {gpus_per_node} t.py "
                               "--per_device_train_batch_size {micro_batch} --max_steps 9"),
            std::string::npos)
      << Command(made);
}

TEST(TrainYamlFromScript, EachNodeMeetsTheFirst) {
  const Made made = From(
      "#SBATCH --nodes=2\nsrun torchrun --nnodes 2 --nproc_per_node 4 "
      "--rdzv_endpoint=$(hostname):29500 "
      "t.py --per_device_train_batch_size 2 --max_steps 9\n");
  EXPECT_NE(Command(made).find("--rdzv_endpoint={master_addr}:{master_port}"), std::string::npos)
      << Command(made);
}

TEST(TrainYamlFromScript, SwiftStartsOneProcessUnlessToldOtherwise) {
  const Made made = From(
      "CUDA_VISIBLE_DEVICES=0,1,2,3 swift sft --model Qwen/Qwen2-VL-7B "
      "--per_device_train_batch_size 2 --max_steps 9\n");
  EXPECT_EQ(made.yaml["training"]["effective_batch_size"], 2);
  EXPECT_EQ(Command(made).find("NPROC_PER_NODE={gpus_per_node} swift sft"), 0u) << Command(made);
}

TEST(TrainYamlFromScript, ARecipeForOneDeviceIsOneGpu) {
  const Made made =
      From("tune run lora_finetune_single_device batch_size=2 max_steps_per_epoch=9\n");
  EXPECT_EQ(made.yaml["resources"]["max_gpus"], 1);
  EXPECT_TRUE(Says(made.report.unclear, "the recipe runs on one device"));
}

TEST(TrainYamlFromScript, AFolderThatTheScriptMakesUpIsNotTheOutputs) {
  const std::string end = "torchrun t.py --output_dir $OUT --max_steps 9 --batch_size 2\n";
  EXPECT_FALSE(From("if true; then\n OUT=x\nfi\n" + end).yaml.contains("output"));
  EXPECT_EQ(From("torchrun t.py --output_dir $HOME/x --max_steps 9 --batch_size 2\n")
                .yaml["output"]["dir"],
            "$HOME/x");
}

TEST(TrainYamlFromScript, AStageThatAConditionChoosesIsAsked) {
  const Made made = From(
      "if [ \"$A\" ]; then ZERO=3; fi\ndeepspeed t.py --zero_stage $ZERO --batch_size 2 "
      "--max_steps 9\n");
  EXPECT_TRUE(Says(made.report.missing, "write training.deepspeed") ||
              made.yaml["training"].contains("deepspeed"));
}

TEST(TrainYamlFromScript, AValueThatOnlyTheShellKnowsIsAsked) {
  const Made made = From(
      "#SBATCH --gres=gpu:2\ntorchrun --nproc_per_node=2 t.py --max_steps 9 "
      "--per_device_train_batch_size 2 --lora_r $R --load_in_4bit $Q --optim $O --fsdp \"$F\"\n");
  for (const char* setting : {"lora.r", "load_in_4bit", "optim", "fsdp"}) {
    EXPECT_TRUE(Says(made.report.missing, std::string("write training.") + setting)) << setting;
  }
  EXPECT_FALSE(made.yaml["training"].contains("method"));
  const Made named = From("torchrun t.py --max_steps 9 --deepspeed $DIR/zero3.json --bs 2\n");
  EXPECT_EQ(named.yaml["training"]["deepspeed"], 3);
}

TEST(TrainYamlFromScript, WhatNoFlagSaysOfMethodAndShardingIsSaid) {
  const std::string torchrun = "torchrun --nproc_per_node=4 t.py --max_steps 9 --batch_size 2";
  EXPECT_TRUE(
      Says(From(torchrun + "\n").report.unclear, "no flag gives the method or the sharding"));
  EXPECT_TRUE(Says(From(torchrun + " --fsdp full_shard\n").report.unclear,
                   "no flag gives the method: training of all weights"));
  EXPECT_FALSE(Says(From(torchrun + " --use_lora --fsdp full_shard\n").report.unclear, "method:"));
  EXPECT_TRUE(Says(From("deepspeed --num_gpus 4 t.py --max_steps 9\n").report.missing,
                   "no flag gives DeepSpeed's configuration"));
}

TEST(TrainYamlFromScript, PythonOnSeveralGpusIsAsked) {
  const std::string line = "python t.py --max_steps 9 --batch_size 2\n";
  EXPECT_TRUE(
      Says(From("#SBATCH --gres=gpu:2\n" + line).report.unclear, "asks for 2 GPUs: 2 are counted"));
  EXPECT_FALSE(Says(From("#SBATCH --gres=gpu:1\n" + line).report.unclear, "are counted"));
}

TEST(TrainYamlFromScript, AdaptersOfAConfigFileAreRead) {
  const Made made = From("torchrun t.py --max_steps 9 --batch_size 2 -c c.yaml\n",
                         {{"c.yaml", "lora:\n  r: 64\n  target_modules: [q_proj, v_proj]\n"}});
  EXPECT_EQ(made.yaml["training"]["method"], "lora");
  EXPECT_EQ(made.yaml["training"]["lora"]["r"], 64);
  EXPECT_EQ(made.yaml["training"]["lora"]["target_modules"], json({"q_proj", "v_proj"}));
}

TEST(TrainYamlFromScript, KohyasNamesAreRead) {
  const json training =
      From(
          "accelerate launch --num_processes=1 sdxl_train_network.py "
          "--network_module=networks.lora --network_dim=32 --resolution=\"1024,576\" "
          "--cache_latents --max_train_epochs=3 --num_samples 10 --train_batch_size=2 "
          "--optimizer_type=Prodigy\n")
          .yaml["training"];
  EXPECT_EQ(training["method"], "lora");
  EXPECT_EQ(training["lora"]["r"], 32);
  EXPECT_EQ(training["resolution"], 768);
  EXPECT_EQ(training["cache_latents"], true);
  EXPECT_EQ(training["num_train_epochs"], 3);
  EXPECT_EQ(training["optim"], "prodigy");
}

TEST(TrainYamlFromScript, LightningsStrategyIsTheSharding) {
  const auto training = [](const char* strategy) {
    return From(std::string("python t.py trainer.strategy=") + strategy + " max_steps=9\n")
        .yaml["training"];
  };
  EXPECT_EQ(training("fsdp")["fsdp"], "full_shard");
  EXPECT_EQ(training("deepspeed_stage_3_offload")["deepspeed"], 3);
  EXPECT_EQ(training("deepspeed_stage_3_offload")["offload"], "all");
  EXPECT_FALSE(training("ddp").contains("fsdp"));
}

TEST(TrainYamlFromScript, AcceleratesOwnAccumulationIsTheJobs) {
  const Made made = From(
      "accelerate launch --config_file a.yaml --num_processes 2 t.py --train_batch_size=4 "
      "--max_train_steps=9\n",
      {{"a.yaml",
        "distributed_type: DEEPSPEED\ndeepspeed_config: {gradient_accumulation_steps: 8, "
        "zero_stage: 2}\n"}});
  EXPECT_EQ(made.yaml["training"]["effective_batch_size"], 4 * 8 * 2);
  EXPECT_NE(Command(made).find("--gradient_accumulation_steps={accumulation} t.py"),
            std::string::npos)
      << Command(made);
}

TEST(TrainYamlFromScript, AcceleratesFileCountsTheProcesses) {
  const Made made = From(
      "#SBATCH --gres=gpu:8\naccelerate launch --config_file a.yaml t.py --max_steps 9 "
      "--per_device_train_batch_size 2 --gradient_accumulation_steps 1\n",
      {{"a.yaml", "distributed_type: MULTI_GPU\nnum_processes: 4\n"}});
  EXPECT_EQ(made.yaml["training"]["effective_batch_size"], 2 * 4);
  EXPECT_NE(Command(made).find("--num_processes={gpus} t.py"), std::string::npos) << Command(made);
}

TEST(TrainYamlFromScript, SetupKeepsItsRedirections) {
  const Made made = From(
      "set -e\nread -r A B < params.txt\nscontrol show hostnames > hosts 2>&1\n"
      "torchrun t.py --max_steps 9 --batch_size 2 --a $A\n");
  EXPECT_EQ(made.yaml["setup"],
            json({"read -r A B < params.txt", "scontrol show hostnames > hosts 2>&1"}));
}

TEST(TrainYamlFromScript, TheHeadOfALoopIsNoSetup) {
  const Made made = From(
      "module load x\nwhile read -r D; do\n  torchrun t.py --max_steps 9 --batch_size 2 --d $D\n"
      "done < list\n");
  EXPECT_EQ(made.yaml["setup"], json({"module load x"}));
  EXPECT_TRUE(Says(made.report.left, "the loop around the training"));
}

TEST(TrainYamlFromScript, ABatchThatAConditionChangesIsSaid) {
  const std::string script =
      "BS=8\nif [ $M = c ]; then BS=2; fi\ntorchrun t.py --max_steps 9 --batch_size $BS\n";
  EXPECT_TRUE(Says(From(script).report.unclear, "gives it another value, which no longer counts"));
  const Made array = From("#SBATCH --array=0-2\n" + script);
  EXPECT_NE(Command(array).find("--batch_size $BS"), std::string::npos) << Command(array);
}

TEST(TrainYamlFromScript, DefaultsOfArgumentsStayOpenToTheEnvironment) {
  const Made made =
      From("D=\"${1:-${D:-base}}\"\ntorchrun t.py --max_steps 9 --batch_size 2 --d $D\n");
  EXPECT_EQ(made.yaml["setup"], json({"D=\"${D:-base}\""}));
  EXPECT_TRUE(Says(made.report.changed, "line 1: D="));
}

TEST(TrainYamlFromScript, AScriptThatCallsAnotherIsNamed) {
  for (const char* line : {"srun ./scripts/train.sh", "source scripts/train.sh 7b"}) {
    const std::string error = From("#SBATCH --gres=gpu:2\n" + std::string(line) + "\n").error;
    EXPECT_NE(error.find("job.sh:2: "), std::string::npos) << error;
    EXPECT_NE(error.find("gpuadvise init --from "), std::string::npos) << error;
  }
}

TEST(TrainYamlFromScript, HostMemoryIsReadAsSlurmReadsIt) {
  const std::string line = "torchrun --nproc_per_node=2 t.py --max_steps 9 --batch_size 2\n";
  EXPECT_EQ(From("#SBATCH --gres=gpu:2 --mem=256GB\n" + line).yaml["resources"]["mem_per_gpu"],
            "128G");
  EXPECT_EQ(From("#SBATCH --gres=gpu:2 --cpus-per-task=8 --mem-per-cpu=4G\n" + line)
                .yaml["resources"]["mem_per_gpu"],
            "16G");
}

TEST(TrainYamlFromScript, OptionsOfPluginsAreKept) {
  const Made made = From(
      "#!/bin/bash -l\n#SBATCH --container-image=a/b:c\n"
      "torchrun t.py --max_steps 9 --batch_size 2\n");
  EXPECT_EQ(made.yaml["slurm"]["extra"], json({"--container-image=a/b:c"}));
  EXPECT_TRUE(Says(made.report.unclear, "kept for a plugin of the site"));
  EXPECT_TRUE(Says(made.report.unclear, "login shell"));
}

TEST(TrainYamlFromScript, AFolderBesideAChangeOfFolderIsNotTheOutputs) {
  const Made made =
      From("make x\ncd $HOME/p\ntorchrun t.py --output_dir ./out --max_steps 9 --batch_size 2\n");
  EXPECT_FALSE(made.yaml.contains("output"));
}

TEST(TrainYamlFromScript, ALoneFileOfSettingsIsReadAndOthersAreNamed) {
  const std::string line = "accelerate launch --num_processes 2 src/train.py dpo.yaml\n";
  const Made read = From(line, {{"dpo.yaml",
                                 "stage: dpo\nper_device_train_batch_size: 2\nmax_steps: 9\n"
                                 "finetuning_type: full\n"}});
  EXPECT_EQ(read.yaml["training"]["trainer"], "dpo");
  EXPECT_EQ(read.yaml["training"]["max_steps"], 9);
  EXPECT_TRUE(Says(From(line).report.unclear, "dpo.yaml cannot be read here"));
  EXPECT_TRUE(Says(From("torchrun t.py --my_config=cfg.yaml --max_steps 9\n").report.unclear,
                   "cfg.yaml cannot be read here"));
}

TEST(TrainYamlFromScript, ATextThatAShellReadsAgainLosesItsEscapes) {
  const Made made = From(
      "L=\"accelerate launch --num_processes 2 --machine_rank \\$SLURM_PROCID\"\n"
      "CMD=\"$L t.py --per_device_train_batch_size 2 --max_steps 9\"\nsrun bash -c \"$CMD\"\n");
  EXPECT_NE(Command(made).find("--machine_rank $SLURM_PROCID"), std::string::npos) << Command(made);
}

TEST(TrainYamlFromScript, CommandsBesideTheTrainingInATextStay) {
  const Made made = From(
      "srun bash -c \"conda activate x && cd /d && torchrun t.py --batch_size 2 --max_steps 9 && "
      "python merge.py\"\n");
  EXPECT_EQ(Command(made),
            "srun bash -c \"conda activate x && cd /d && torchrun --nproc_per_node={gpus_per_node} "
            "t.py --batch_size {micro_batch} --max_steps 9 && python merge.py\"");
}

TEST(TrainYamlFromScript, TorchtunesDistributedRecipesShard) {
  const json training =
      From(
          "#SBATCH --gres=gpu:4\ntune run --nproc_per_node 4 full_finetune_distributed "
          "optimizer_in_bwd=True epochs=1 batch_size=2\n")
          .yaml["training"];
  EXPECT_EQ(training["fsdp"], "full_shard");
  EXPECT_EQ(training["optimizer_in_backward"], true);
  EXPECT_EQ(training["gradient_accumulation_steps"], 1);
}

TEST(TrainYamlFromScript, ShardingIsAskedThoughTheMethodIsKnown) {
  EXPECT_TRUE(Says(From("#SBATCH --gres=gpu:4\ntorchrun --nproc_per_node=4 t.py --use_lora "
                        "--max_steps 9 --batch_size 2\n")
                       .report.unclear,
                   "no flag gives the sharding"));
}

TEST(TrainYamlFromScript, ATaskOnEachNodeIsATaskForEachGpu) {
  const Made made = From(
      "#SBATCH --nodes=2 --ntasks=2 --gpus-per-node=1\n"
      "WORLD_SIZE=2 srun python t.py --batch_size 8 --max_steps 9\n");
  EXPECT_NE(Command(made).find("WORLD_SIZE={gpus}"), std::string::npos) << Command(made);
  EXPECT_EQ(made.yaml["slurm"]["extra"], json::array({"--ntasks-per-node={gpus_per_node}"}));
  EXPECT_EQ(made.yaml["resources"]["max_nodes"], 2);
  EXPECT_EQ(made.yaml["run_on"], "first_node");
}

TEST(TrainYamlFromScript, WhatSrunAndTheLauncherAreGivenIsNamed) {
  EXPECT_TRUE(Says(From("srun torchrun t.py --batch_size 8 --max_steps 9\n").report.left,
                   "srun: submit starts the training itself"));
  const Made made = From("accelerate launch --multi_gpu --num_processes 4 t.py --max_steps 9\n");
  EXPECT_EQ(Command(made), "accelerate launch --num_processes {gpus} t.py --max_steps 9");
}

TEST(TrainYamlFromScript, DeepspeedsOldNamesOfOffloadAreRead) {
  const json training =
      From("deepspeed t.py --deepspeed d.json --max_steps 9 --per_device_train_batch_size 1\n",
           {{"d.json", R"({"zero_optimization": {"stage": 2, "cpu_offload": true}})"}})
          .yaml["training"];
  EXPECT_EQ(training["deepspeed"], 2);
  EXPECT_EQ(training["offload"], "optimizer");
}

TEST(TrainYamlFromScript, ALineThatNobodyKnowsIsNamedAndKept) {
  const Made made = From("#SBATCH --gres=gpu:1\nsrun jamun --config-dir=/x\n");
  EXPECT_TRUE(Says(made.report.unclear,
                   "line 2: srun jamun --config-dir=/x: no kind of training that is known"));
  EXPECT_EQ(Command(made), "srun jamun --config-dir=/x");
  EXPECT_TRUE(Says(
      From("#SBATCH --gres=gpu:1\nfor s in 1 2; do srun jamun --seed $s; done\n").report.unclear,
      "write what is missing, those of all rounds of its loop"));
  EXPECT_TRUE(
      Says(From("#SBATCH --gres=gpu:8\nrm x\npython m.py devices=8 batch_size=16 max_steps=9\n")
               .report.unclear,
           "Lightning wants one for each device"))
      << "of a script that stays whole, too";
  EXPECT_TRUE(made.report.batch_is_missing);
}

TEST(TrainYamlFromScript, WhatAShellDoesInAContainerOrATaskStaysThere) {
  const Made container = From(
      "#SBATCH --gres=gpu:1\n"
      "singularity exec --nv i.sif bash -c \"source /ext3/env.sh; python t.py --batch_size 8\"\n");
  EXPECT_EQ(Command(container),
            "singularity exec --nv i.sif bash -c \"source /ext3/env.sh; python t.py --batch_size "
            "{micro_batch}\"");
  const Made task = From(
      "#SBATCH --gres=gpu:4 --ntasks-per-node=4\n"
      "srun bash -c 'export RANK=$SLURM_PROCID; python t.py --batch_size 8'\n");
  EXPECT_EQ(Command(task),
            "srun bash -c 'export RANK=$SLURM_PROCID; python t.py --batch_size {micro_batch}'");
}

TEST(TrainYamlFromScript, WhatDecidesOrWritesIsKept) {
  const std::string lines =
      "if [[ -f done ]]; then echo already; exit 0; fi\n"
      "for n in a b; do echo \"$n\" >> hosts; done\n"
      "rm old 2> /dev/null\n";
  const Made made =
      From("#SBATCH --gres=gpu:1\n" + lines + "python t.py --batch_size 8 --max_steps 9\n");
  EXPECT_EQ(Command(made), "set +e +o pipefail  # as in a script\n" + lines +
                               "python t.py --batch_size {micro_batch} --max_steps 9");
}

TEST(TrainYamlFromScript, MemoryOfCpusIsThatOfTheNode) {
  const json resources = From(
                             "#SBATCH --gres=gpu:4 --cpus-per-task=6 --mem-per-cpu=24g\n"
                             "torchrun --nproc_per_node=4 t.py --batch_size 1 --max_steps 9\n")
                             .yaml["resources"];
  EXPECT_EQ(resources["mem_per_gpu"], "36G");
  EXPECT_EQ(resources["cpus_per_gpu"], 2);
}

TEST(TrainYamlFromScript, ATotalOfGpusIsNotMultiplied) {
  const Made made = From(
      "#SBATCH --nodes=4 --gpus-per-node=4\n"
      "torchrun t.py --per_device_train_batch_size 6 --max_steps 9 --n_devices 16\n");
  EXPECT_EQ(made.yaml["training"]["effective_batch_size"], 96);
}

TEST(TrainYamlFromScript, LightningWithoutSrunIsDoubted) {
  EXPECT_TRUE(Says(From("#SBATCH --gres=gpu:8\npython m.py devices=8 batch_size=16 max_steps=9\n")
                       .report.unclear,
                   "Lightning wants one for each device"));
}

TEST(TrainYamlFromScript, WhatAnAsideScriptLostIsSaidOrKept) {
  const Made made = From(
      "#SBATCH --job-name=f_%1 --mem=0\n"
      "export A=1\nexport A=2\n"
      "python t.py --batch_size 8 --max_steps 9 --torch_dtype bfloat16\n");
  EXPECT_EQ(made.yaml["env"], json({{"A", "2"}}));
  EXPECT_EQ(made.yaml["training"]["torch_dtype"], "bfloat16");
  EXPECT_TRUE(Says(made.report.changed, "--job-name=f_%1 → f__1"));
  EXPECT_TRUE(Says(made.report.left, "--mem=0"));
}

TEST(TrainYamlFromScript, TheTrainingIsNotACommandThatOnlyLooksAround) {
  const Made made = From(
      "#SBATCH --gres=gpu:4 --nodes=4 --ntasks-per-node=4\npython -m xformers.info\n"
      "srun python pretrain/tinyllama.py --devices 4 --num_nodes 4\n");
  EXPECT_NE(Command(made).find("--devices {gpus_per_node} --num_nodes {nodes}"), std::string::npos)
      << Command(made);
}

TEST(TrainYamlFromScript, WhatEvaluationHasIsNotTheTrainings) {
  const Made made = From(
      "#SBATCH --gres=gpu:1\n"
      "python train.py data.batch_size=32 eval.batch_size=4 max_steps=9 rollout.max_steps=7\n");
  EXPECT_EQ(made.yaml["training"]["effective_batch_size"], 32);
  EXPECT_EQ(made.yaml["training"]["max_steps"], 9);
  EXPECT_NE(Command(made).find("eval.batch_size=4"), std::string::npos);
}

TEST(TrainYamlFromScript, ABatchInTokensStays) {
  const Made made = From(
      "#SBATCH --gres=gpu:4\ntorchrun --nproc_per_node 4 t.py --global_batch_size 524288 "
      "--max_steps 9\n");
  EXPECT_NE(Command(made).find("--global_batch_size 524288"), std::string::npos) << Command(made);
  EXPECT_TRUE(Says(made.report.missing, "sounds like tokens, and stays"));
}

// ---- shell scripts that are called

std::vector<std::string> SetupOf(const Made& made) {
  return made.yaml.value("setup", std::vector<std::string>());
}

TEST(TrainYamlFromScript, ACalledScriptIsReadWithWhatItsCallerGives) {
  const Made made = From(
      "#SBATCH --gres=gpu:2\nexport BATCH=8\nHIDDEN=7\nconda activate e\n"
      "srun bash s/in.sh c.yaml 100\n",
      {{"s/in.sh",
        "#!/bin/bash\nset -e\necho start\nSTEPS=${2:-5}\nX=${HIDDEN:-3}\n"
        "torchrun --nproc_per_node=2 train.py --config $1 --per_device_train_batch_size "
        "${BATCH:-4} --gradient_accumulation_steps $X --max_steps $STEPS\n"},
       {"c.yaml", "learning_rate: 1\n"}});
  EXPECT_EQ(made.error, "");
  EXPECT_EQ(made.yaml["training"]["max_steps"], 100);
  EXPECT_EQ(made.yaml["training"]["effective_batch_size"], 8 * 3 * 2)
      << "BATCH is exported, HIDDEN is not";
  EXPECT_EQ(Command(made),
            "set +e +o pipefail  # as in a script\nexport BATCH={micro_batch}\nHIDDEN=7\nconda "
            "activate e\n"
            "srun bash -c \"$(cat <<'END_OF_in_sh'\n#!/bin/bash\nset -e\necho start\n"
            "STEPS=${2:-5}\nX={accumulation}\ntorchrun --nproc_per_node={gpus_per_node} train.py "
            "--config $1 --per_device_train_batch_size {micro_batch} "
            "--gradient_accumulation_steps {accumulation} --max_steps $STEPS\nEND_OF_in_sh\n)\" "
            "s/in.sh c.yaml 100");
  EXPECT_TRUE(Says(made.report.changed, "line 5: s/in.sh → its text"));
}

TEST(TrainYamlFromScript, ACalledScriptReadsItsArgumentsInALoop) {
  const Made made = From(
      "#SBATCH --gres=gpu:1\nMODE=x bash in.sh --data \"$HOME/d\" -- --lr 1\ntorchrun after.py\n",
      {{"in.sh",
        "DATA=\nwhile [ $# -gt 0 ]; do case $1 in --data) DATA=$2; shift 2;; --) shift; break;; "
        "esac; done\nif [ -z \"$DATA\" ]; then exec python train.py --batch_size 8; fi\n"
        "exec python train.py --data $DATA --batch_size 8 --max_steps 9 \"$@\"\necho end\n"}});
  EXPECT_EQ(made.error, "");
  EXPECT_EQ(made.yaml["training"]["max_steps"], 9);
  EXPECT_NE(Command(made).find(")\" in.sh --data \"$HOME/d\" -- --lr 1"), std::string::npos);
  EXPECT_TRUE(
      Says(made.report.unclear, "line 2: exec python train.py --batch_size 8 starts a training"))
      << "as the other branch of the condition";
  EXPECT_TRUE(Says(made.report.unclear, "line 3: torchrun after.py starts a training"))
      << "its line";
}

TEST(TrainYamlFromScript, ASourcedScriptsTextIsItsCallers) {
  const Made made = From("#SBATCH --gres=gpu:1\nsource in.sh 8\n",
                         {{"in.sh", "python train.py --batch_size $1 --max_steps 9\n"}});
  EXPECT_EQ(made.yaml["training"]["effective_batch_size"], 8);
  EXPECT_EQ(Command(made),
            "set +e +o pipefail  # as in a script\neval \"$(cat <<'END_OF_in_sh'\nset -- 8\npython "
            "train.py --batch_size {micro_batch} --max_steps 9\nEND_OF_in_sh\n)\"");
}

TEST(TrainYamlFromScript, WhatACallerExportsInOtherWaysReachesTheScript) {
  const auto unset = [](const std::string& caller) {
    const Made made =
        From("#SBATCH --gres=gpu:1\n" + caller + "bash in.sh\n",
             {{"in.sh", "python train.py --batch_size ${B:-2} --max_steps 9 $PATH\n"}});
    return made.yaml["training"]["effective_batch_size"] == 2;
  };
  EXPECT_TRUE(unset("B=4\n"));
  EXPECT_FALSE(unset("set -a\nB=4\nset +a\n"));
  EXPECT_FALSE(unset("set -o allexport\nB=4\n"));
  EXPECT_FALSE(unset("declare -x B=4\n"));
  const Made path = From("#SBATCH --gres=gpu:1\nPATH=/x:$PATH\nbash in.sh\n",
                         {{"in.sh", "python train.py --batch_size 2 --data $PATH\n"}});
  EXPECT_TRUE(Command(path).starts_with("set +e +o pipefail  # as in a script\nPATH=/x:$PATH\n"));
}

TEST(TrainYamlFromScript, CallsInContainersAndOfCallsAreFollowed) {
  const Made inside = From(
      "#SBATCH --gres=gpu:1\nsingularity exec --nv a.sif bash run.sh 5\n",
      {{"run.sh", "source b.sh\n"}, {"b.sh", "python train.py --batch_size 8 --max_steps $1\n"}});
  EXPECT_EQ(inside.error, "");
  EXPECT_EQ(inside.yaml["training"]["max_steps"], 5);
  EXPECT_NE(Command(inside).find("--batch_size {micro_batch} --max_steps $1\nEND_OF_b_sh\n)\"\n"),
            std::string::npos)
      << Command(inside);
  const Made quoted =
      From("#SBATCH --gres=gpu:1\nsingularity exec a.sif bash -c \"cd /code && bash run.sh 5\"\n",
           {{"run.sh", "python train.py --batch_size 8 --max_steps $1\n"}});
  EXPECT_EQ(quoted.error,
            "job.sh:2: run.sh has the training, and is called inside quotes or too deep: give that "
            "script, `gpuadvise init --from run.sh`; the #SBATCH lines, the setup and the exports "
            "of job.sh are then yours to write");
  const Made itself = From("#SBATCH --gres=gpu:1\nbash a.sh\n", {{"a.sh", "bash a.sh\n"}});
  EXPECT_TRUE(itself.error.starts_with("job.sh:2: a.sh starts no known kind of training"));
}

TEST(TrainYamlFromScript, AnEmptyTextStartsNothing) {
  EXPECT_TRUE(From("eval\nbash -c\n").report.batch_is_missing);
}

TEST(TrainYamlFromScript, ACallIsFoundWhereItRuns) {
  const std::string text = "python train.py --batch_size 8 --max_steps 9\n";
  const std::map<std::string, std::string> files = {{"./train.sh", text},
                                                    {"train.sh", text},
                                                    {"run.sh", "bash sub/run.sh\n"},
                                                    {"sub/run.sh", text}};
  const std::string header = "#SBATCH --gres=gpu:1\n";
  const std::string chmod = Command(From(header + "chmod +x ./train.sh && ./train.sh\n", files));
  EXPECT_NE(chmod.find("chmod +x ./train.sh && bash -c \"$(cat"), std::string::npos) << chmod;
  const std::string dot = Command(From(header + ". ./train.sh\n", files));
  EXPECT_NE(dot.find("\neval \"$(cat"), std::string::npos) << dot;
  const Made twice = From(header + "bash run.sh\n", files);
  EXPECT_EQ(twice.error, "");
  EXPECT_NE(Command(twice).find("{micro_batch}"), std::string::npos) << Command(twice);
}

TEST(TrainYamlFromScript, ACalledScriptWithoutATrainingIsSetup) {
  const Made made = From(
      "#SBATCH --gres=gpu:1\nset -e\nbash prepare.sh\nsource env.sh\npython train.py "
      "--batch_size 8 --max_steps 9\n",
      {{"prepare.sh", "python download.py\n"}, {"env.sh", "export A=1\n"}});
  EXPECT_EQ(SetupOf(made), (std::vector<std::string>{"bash prepare.sh", "source env.sh"}));
}

TEST(TrainYamlFromScript, ACalledScriptThatIsNotHereLeavesItsCallerToTheUser) {
  const Made made = From("#SBATCH --gres=gpu:2\nexport A=1\nbash s/in.sh --bs 4\n");
  EXPECT_EQ(made.error,
            "job.sh:3: s/in.sh may have the training and cannot be read here: give that script, "
            "`gpuadvise init --from s/in.sh`; the #SBATCH lines, the setup and the exports of "
            "job.sh, and the arguments --bs 4 are then yours to write");
  EXPECT_TRUE(
      Says(From("#SBATCH --gres=gpu:2\nmodule load x\nmake train-gpu\necho done\n").report.unclear,
           "line 3: make train-gpu: no kind of training"));
}

TEST(TrainYamlFromScript, DefaultsThatAColonAssignsAreKeptAndKnown) {
  const Made made = From(
      "#SBATCH --gres=gpu:1\n: \"${BATCH:=8}\"\n: \"${DATA:?not set}\"\n: done\n"
      "python train.py --batch_size $BATCH --max_steps 9 --data $DATA\n");
  EXPECT_EQ(made.yaml["training"]["effective_batch_size"], 8);
  EXPECT_EQ(SetupOf(made),
            (std::vector<std::string>{": \"${BATCH:=8}\"", ": \"${DATA:?not set}\""}));
}

// ---- marks, arrays, repeated options

TEST(TrainYamlFromScript, AMarkToFillInIsOneOfWhatRuns) {
  const std::string train = "python train.py --batch_size 8 --max_steps 9\n";
  const std::string usage = "usage() { cat <<EOF\n  --data <path>\nEOF\necho --data <path>\n}\n";
  EXPECT_EQ(From("#SBATCH --gres=gpu:1\n" + usage + train).error, "");
  EXPECT_EQ(From("#SBATCH --gres=gpu:1\n" + train + "python eval.py <your_model>\n").error, "");
  EXPECT_EQ(From("#SBATCH --gres=gpu:1\ncd <your_path>\n" + train).error,
            "job.sh:2: <your_path> is a placeholder; fill it in first");
  EXPECT_TRUE(Says(From("#SBATCH --gres=gpu:1 --account=<account>\n" + train).report.missing,
                   "#SBATCH --account=<account>: <account> is a placeholder"));
}

TEST(TrainYamlFromScript, WhatTheTasksOfAnArrayDifferInIsNamed) {
  const auto made = [](const std::string& array) {
    return From(array +
                "#SBATCH --gres=gpu:1\nFR=(0.1 1.0)\nP=${FR[$SLURM_ARRAY_TASK_ID]}\n"
                "python train.py --data-fraction $P --seed $SLURM_ARRAY_TASK_ID --batch-size 8 "
                "--max-steps 9\n");
  };
  EXPECT_TRUE(Says(made("#SBATCH --array=0-1\n").report.unclear,
                   "--data-fraction: the tasks of the array differ in it"));
  EXPECT_FALSE(Says(made("").report.unclear, "the tasks of the array"));
}

TEST(TrainYamlFromScript, AnOptionThatALaterLineReplacesIsSaid) {
  const Made made = From(
      "#SBATCH --gres=gpu:1 --mail-type=END --comment=a\n#SBATCH --mail-type=FAIL --comment=b\n"
      "python train.py --batch_size 8 --max_steps 9\n");
  EXPECT_TRUE(Says(made.report.left, "#SBATCH --comment=a: a later line gives it again"));
  EXPECT_EQ(made.yaml["slurm"]["extra"], json::array({"--comment=b", "--mail-type=END,FAIL"}));
}

TEST(TrainYamlFromScript, AContinuedLastLineEndsThere) {
  const Made made =
      From("#SBATCH --gres=gpu:4 --ntasks-per-node=4\nsrun python train.py --lr 1 \\\n");
  EXPECT_EQ(Command(made), "srun python train.py --lr 1");
}

TEST(TrainYamlFromScript, CountsOfGpusAreKnownByTheirNames) {
  const std::string head = "#SBATCH --nodes=2 --gpus-per-node=4 --ntasks-per-node=4\n";
  const std::string end = "srun -n $ALL python train.py --batch_size 8\n";
  for (const auto& [line, now] : std::map<std::string, std::string>{
           {"GPU_PER_NODE=4", "{gpus_per_node}"},
           {"num_gpus=4", "{gpus_per_node}"},
           {"NPROC=8", "{gpus}"},
           {"GPUS=${GPUS:-8}", "{gpus}"},
           {"NODES=2", "{nodes}"},
           {"export SLURM_NTASKS_PER_NODE=4", "{gpus_per_node}"},
           {"NUM_PROCESSES=$((SLURM_NNODES * NPROC))", "$((SLURM_NNODES * NPROC))"},
           {"GPU=4", "4"},
           {"NUM_TASKS=4", "4"},
           {"CPUS_PER_GPU=4", "4"},
           {"NNODES=( a b )", "( a b )"},
           {"nodes=$(scontrol show hostnames)", "$(scontrol show hostnames)"}}) {
    EXPECT_NE(Command(From(head + line + "\n" + end))
                  .find(line.substr(0, line.find('=') + 1) + now + "\n"),
              std::string::npos)
        << line;
  }
  const Made list = From(
      "nodes=( $(scontrol show hostnames) )\nN_NODES=$SLURM_NNODES\n"
      "torchrun --nproc_per_node=4 train.py --batch_size 8 ${nodes[0]} $N_NODES\n");
  EXPECT_EQ(list.yaml["setup"], (json{"nodes=( $(scontrol show hostnames) )", "N_NODES={nodes}"}));
  const Made hosts = From(head +
                          "HOSTS=$(scontrol show hostnames | sed 's/$/:4/' | paste -sd,)\n"
                          "mpirun -np 8 -H $HOSTS python train.py --batch_size 8 --ratio 1:4\n");
  EXPECT_NE(Command(hosts).find("sed 's/$/:{gpus_per_node}/'"), std::string::npos);
  EXPECT_NE(Command(hosts).find("--ratio 1:4"), std::string::npos);
  const Made amd = From(
      "#SBATCH --gpus-per-node=2 --ntasks-per-node=2\n"
      "export HIP_VISIBLE_DEVICES=${HIP_VISIBLE_DEVICES:-0,1}\n"
      "srun --cpu-bind=mask_cpu:0xfe,0xfe00 python train.py --batch_size 8\n");
  EXPECT_NE(Command(amd).find("HIP_VISIBLE_DEVICES=$(seq -s , 0"), std::string::npos);
  EXPECT_TRUE(Says(amd.report.unclear, "one kind of node"));
}

TEST(TrainYamlFromScript, AnAbsurdNumberOfTasksTakesNoTime) {
  const Made made = From(
      "#SBATCH --gres=gpu:4 --ntasks-per-node=4555555555\n"
      "srun python train.py --batch_size 8\n");
  EXPECT_TRUE(made.error.empty());
}

TEST(TrainYamlFromScript, WhatASourcedFileMayReadStays) {
  const std::string end = "torchrun --nproc_per_node=4 train.py --batch_size 8 $FLAGS\n";
  EXPECT_EQ(From("MODE=fast\nsource env.sh\n" + end).yaml["setup"].size(), 2);
  EXPECT_EQ(From("MODE=fast\neval \"$(python make.py)\"\n" + end).yaml["setup"].size(), 2);
  EXPECT_EQ(From("MODE=fast\nsource venv/bin/activate\n" + end).yaml["setup"].size(), 1);
}

TEST(TrainYamlFromScript, OptionsOfSrunInAVariableKeepSrun) {
  const Made made = From(
      "#SBATCH --gres=gpu:4 --ntasks-per-node=1\nset -e\n"
      "if [ -n \"$IMAGE\" ]; then ARGS=(--container-image $IMAGE); fi\n"
      "srun -l \"${ARGS[@]}\" torchrun --nproc_per_node=4 train.py --batch_size 8\n");
  EXPECT_NE(Command(made).find("srun -l \"${ARGS[@]}\" torchrun"), std::string::npos);
  const std::string torchrun = "torchrun --nproc_per_node=4 train.py --batch_size 8\n";
  EXPECT_EQ(Command(From("#SBATCH --signal=TERM@120\nsrun " + torchrun)).substr(0, 5), "srun ");
  EXPECT_EQ(Command(From("#SBATCH --signal=B:TERM@120\nsrun " + torchrun)).substr(0, 9),
            "torchrun ");
  EXPECT_EQ(Command(From("srun -n $TASKS " + torchrun)).substr(0, 9), "torchrun ");
}

TEST(TrainYamlFromScript, SleepAndTheShellsOptionsAreNoPrints) {
  const std::string end = "python train.py --batch_size 8 --glob *.txt\n";
  EXPECT_EQ(From("sleep $((SLURM_ARRAY_TASK_ID * 30))\n" + end).yaml["setup"].size(), 1);
  EXPECT_NE(Command(From("set -f\n" + end)).find("set -f\n"), std::string::npos);
  EXPECT_FALSE(From("set -euxo pipefail\n" + end).yaml.contains("setup"));
}

TEST(TrainYamlFromScript, FormsThatWereMisread) {
  const Made lora = From(
      "USE_LORA=false\nARGS=(--batch_size 8)\n"
      "$USE_LORA && ARGS+=(--use_lora --lora_rank 64)\n"
      "torchrun --nproc_per_node=4 train.py \"${ARGS[@]}\"\n");
  EXPECT_FALSE(lora.yaml["training"].contains("method"));
  EXPECT_TRUE(Says(lora.report.unclear, "ARGS: a condition adds to it"));
  const Made array = From(
      "#SBATCH --array=0-3\nexport BATCH=$((2 * 8))\n"
      "torchrun --nproc_per_node=4 train.py --batch_size $BATCH\n");
  EXPECT_NE(Command(array).find("--batch_size {micro_batch}"), std::string::npos);
  const Made gres = From("#SBATCH --gres=gpu:v100:1,nvme:100\npython train.py --batch_size 8\n");
  EXPECT_EQ(gres.yaml["slurm"]["extra"], json::parse(R"(["--gres=nvme:100"])"));
  const Made tasks = From("#SBATCH -n 16 --gpus-per-node=8\nsrun python train.py --batch_size 8\n");
  EXPECT_EQ(tasks.yaml["resources"]["max_nodes"], 2);
  EXPECT_TRUE(Says(tasks.report.unclear, "16 tasks and no number of nodes"));
  EXPECT_EQ(From("#SBATCH -n 16 --gres=gpu:1\npython train.py\n").yaml["resources"]["max_nodes"],
            1);
  EXPECT_NE(From("sbatch --wrap='python train.py'\n").error.find("job.sh:1: sbatch submits"),
            std::string::npos);
  const Made folder =
      From("OUT=$1\nrm -f old\ntorchrun --nproc_per_node=2 t.py --output_dir $OUT\n");
  EXPECT_FALSE(folder.yaml.contains("output"));
  EXPECT_TRUE(Says(From("torchrun t.py --fsdp full_shard --fsdp_config none.json\n").report.unclear,
                   "none.json cannot be read"));
  EXPECT_TRUE(Says(From("torchrun t.py --num-experts 64\n").report.unclear, "--num-experts 64"));
  EXPECT_TRUE(Says(From("torchrun t.py\n").report.changed, "the log slurm-%j.out"));
}

}  // namespace
}  // namespace gpuadvise::client
