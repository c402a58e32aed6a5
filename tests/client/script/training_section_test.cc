// Settings that decide memory and step time, as newcomers' scripts and config files say them.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "client/script/train_yaml_from_script.h"
#include "common/base/text.h"
#include "common/spec/train_spec.h"
#include "common/yaml/yaml_document.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

struct Made {
  json training;
  ScriptReport report;
  std::string command = {};
};

// The section made of a command; it must read back as a training.
Made Of(const std::string& command, const std::map<std::string, std::string>& files = {}) {
  ScriptSource source;
  const std::string script = "#!/bin/bash\n#SBATCH --gres=gpu:2\n" + command + "\n";
  source.text = script;
  source.file = "job.sh";
  source.read = [&](const std::string& path) -> std::optional<std::string> {
    const auto found = files.find(path);
    return found == files.end() ? std::nullopt : std::optional(found->second);
  };
  source.preset_of = [](const std::string&) { return std::string("llama-3.1-8b"); };
  const Result<ConvertedScript> converted = TrainYamlFromScript(source);
  EXPECT_TRUE(converted) << command << ": " << (converted ? "" : converted.error().message);
  if (!converted) return {};
  const json root = ParseYaml(converted->yaml, "train.yaml").value().root;
  const Result<TrainSpec> spec = ParseTrainSpec(root, "", RunLength::kOptional);
  EXPECT_TRUE(spec) << converted->yaml << (spec ? "" : spec.error().message);
  const json& training = root["training"];
  return {training.is_object() ? training : json::object(), converted->report,
          root.value("command", "")};
}

bool Says(const Made& made, std::string_view part) {
  for (const std::string& sentence : made.report.unclear) {
    if (sentence.find(part) != std::string::npos) return true;
  }
  return false;
}

TEST(TrainingSection, TransformersFlagsAreReadAsInAFile) {
  const Made made =
      Of("torchrun --nproc_per_node 2 train.py --use_liger_kernel --fsdp \"full_shard auto_wrap\" "
         "--per_device_train_batch_size 2 --max_steps 10 --gradient_checkpointing --bf16 "
         "--optim paged_adamw_8bit");
  EXPECT_EQ(made.training["use_liger_kernel"], true);
  EXPECT_EQ(made.training["fsdp"], "full_shard");
  EXPECT_EQ(made.training["optim"], "paged_adamw_8bit");
}

TEST(TrainingSection, ReadsBitsAndPrecisionInOtherWords) {
  const std::string rest = " --batch_size 2 --max_steps 10 --max_seq_length 512";
  EXPECT_EQ(Of("python finetuning.py --use_peft --peft_method lora --quantization 4bit" + rest)
                .training["method"],
            "qlora");
  EXPECT_EQ(Of("python finetuning.py --peft_method lora --quantization 8bit" + rest)
                .training["quantization"],
            "int8");
  const Made fp32 = Of("python train.py --mixed_precision false" + rest);
  EXPECT_EQ(fp32.training["bf16"], false);
  EXPECT_EQ(fp32.training["fp16"], false);
  const Made unknown = Of("python train.py --mixed_precision halfish" + rest);
  EXPECT_NE(Join(unknown.report.unclear, "; ").find("halfish"), std::string::npos);
}

// "[ -n "$BIG" ] && BS=32" does not always run.
TEST(TrainingSection, DoesNotTrustAnAssignmentBehindATest) {
  const Made made =
      Of("BS=8\n[ -n \"$BIG\" ] && BS=32\n"
         "python train.py --per_device_train_batch_size $BS --max_steps 10 --max_seq_length 512");
  EXPECT_FALSE(made.training.contains("effective_batch_size"));
  const Made sure =
      Of("cd . && BS=32\n"
         "python train.py --per_device_train_batch_size $BS --max_steps 10 --max_seq_length 512");
  EXPECT_EQ(sure.training["effective_batch_size"], 64);
}

TEST(TrainingSection, CarriesWhatLibrariesKeepInMemory) {
  const Made made =
      Of("torchrun --nproc_per_node 2 train.py --method qlora --load_in_4bit True "
         "--bnb_4bit_use_double_quant True --use_reentrant False --max_steps 10 "
         "--per_device_train_batch_size 1 --max_seq_length 512 --bf16 True");
  EXPECT_EQ(made.training["bnb_4bit_use_double_quant"], true);
  EXPECT_EQ(made.training["use_reentrant"], false);
}

TEST(TrainingSection, FsdpsOtherWordsAreRead) {
  const auto fsdp = [](const std::string& flags) {
    return Of("torchrun --nproc_per_node 2 train.py --max_steps 10 " + flags)
        .training.value("fsdp", "");
  };
  EXPECT_EQ(fsdp("--fsdp 'full_shard auto_wrap offload'"), "full_shard offload");
  EXPECT_EQ(fsdp("--fsdp 'hybrid_shard auto_wrap'"), "hybrid_shard");
  EXPECT_EQ(fsdp("--fsdp 'hybrid_shard_zero2'"), "hybrid_shard_zero2");
  EXPECT_EQ(fsdp("--fsdp no_shard"), "");
  EXPECT_EQ(fsdp("--fsdp_version 2 --fsdp_reshard_after_forward false"), "shard_grad_op");
}

TEST(TrainingSection, QuantizedBasesAreRead) {
  const Made eight = Of("python train.py --load_in_8bit --lora_r 16 --lora_dropout 0.05");
  EXPECT_EQ(eight.training["method"], "lora");
  EXPECT_EQ(eight.training["quantization"], "int8");
  EXPECT_EQ(eight.training["lora"]["lora_dropout"], 0.05);
  const Made four = Of("python train.py --load_in_4bit --use_peft --lora_r 16");
  EXPECT_EQ(four.training["method"], "qlora");
}

TEST(TrainingSection, AcceleratesConfigSaysShardingAndPrecision) {
  const std::string command =
      "accelerate launch --config_file fsdp.yaml train.py --per_device_train_batch_size 1 "
      "--max_steps 10";
  const Made fsdp = Of(command, {{"fsdp.yaml",
                                  "distributed_type: FSDP\nmixed_precision: bf16\n"
                                  "num_processes: 8\nfsdp_config:\n"
                                  "  fsdp_sharding_strategy: SHARD_GRAD_OP\n"
                                  "  fsdp_offload_params: true\n"
                                  "  fsdp_activation_checkpointing: true\n"}});
  EXPECT_EQ(fsdp.training["fsdp"], "shard_grad_op offload");
  EXPECT_EQ(fsdp.training["bf16"], true);
  EXPECT_EQ(fsdp.training["gradient_checkpointing"], true);
  const Made zero = Of(command, {{"fsdp.yaml",
                                  "distributed_type: DEEPSPEED\ndeepspeed_config:\n"
                                  "  zero_stage: 3\n  offload_optimizer_device: cpu\n"
                                  "  offload_param_device: cpu\n  zero3_init_flag: true\n"}});
  EXPECT_EQ(zero.training["deepspeed"], 3);
  EXPECT_EQ(zero.training["offload"], "all");
  const Made plain = Of(command, {{"fsdp.yaml",
                                   "distributed_type: MULTI_GPU\nfsdp_config: "
                                   "{fsdp_sharding_strategy: FULL_SHARD}\n"}});
  EXPECT_FALSE(plain.training.contains("fsdp"));
}

TEST(TrainingSection, ADeepspeedFileSaysWhatItOffloads) {
  const Made made =
      Of("deepspeed train.py --deepspeed ds.json --per_device_train_batch_size 1 --max_steps 5",
         {{"ds.json",
           R"({"zero_optimization": {"stage": 2, "offload_optimizer": {"device": "cpu"}}})"}});
  EXPECT_EQ(made.training["deepspeed"], 2);
  EXPECT_EQ(made.training["offload"], "optimizer");
}

TEST(TrainingSection, TheTrainerIsReadFromWhereverItIsSaid) {
  EXPECT_EQ(Of("trl dpo --model_name_or_path x --max_steps 5").training["trainer"], "dpo");
  EXPECT_EQ(Of("accelerate launch examples/scripts/orpo.py --max_steps 5").training["trainer"],
            "orpo");
  EXPECT_EQ(Of("llamafactory-cli train x.yaml",
               {{"x.yaml", "stage: rm\nfinetuning_type: lora\nmax_steps: 5\n"}})
                .training["trainer"],
            "reward");
  EXPECT_EQ(Of("axolotl train x.yaml", {{"x.yaml", "rl: kto\nadapter: lora\nmax_steps: 5\n"}})
                .training["trainer"],
            "kto");
  const Made grpo = Of("trl grpo --model_name_or_path x --max_steps 5 --use_vllm");
  EXPECT_EQ(grpo.training["trainer"], "grpo");
  EXPECT_TRUE(Says(grpo,
                   "not included: use_vllm (vLLM's share of memory and the time of generating); "
                   "memory and time of generating samples"));
  EXPECT_FALSE(Of("trl sft --model_name_or_path x --max_steps 5").training.contains("trainer"));
}

TEST(TrainingSection, AxolotlsAndLlamaFactorysFilesAreRead) {
  const Made axolotl =
      Of("axolotl train x.yaml",
         {{"x.yaml",
           "base_model: x\nadapter: lora\nload_in_8bit: true\nlora_r: 32\n"
           "lora_dropout: 0.1\nsequence_len: 4096\nmicro_batch_size: 2\n"
           "liger_fused_linear_cross_entropy: true\noptimizer: adamw_bnb_8bit\n"
           "gradient_checkpointing: offload\nsequence_parallel_degree: 2\n"
           "unfrozen_parameters: [lm_head]\nmax_steps: 5\nneftune_noise_alpha:\n"}});
  EXPECT_EQ(axolotl.training["quantization"], "int8");
  EXPECT_EQ(axolotl.training["use_liger_kernel"], true);
  EXPECT_EQ(axolotl.training["gradient_checkpointing"], "offload");
  EXPECT_EQ(axolotl.training["context_parallel_size"], 2);
  EXPECT_EQ(axolotl.training["max_seq_length"], 4096);
  EXPECT_FALSE(Says(axolotl, "neftune"));
  const Made factory = Of("llamafactory-cli train x.yaml",
                          {{"x.yaml",
                            "stage: sft\nfinetuning_type: lora\nquantization_bit: 4\n"
                            "quantization_method: gptq\nenable_liger_kernel: true\n"
                            "use_galore: true\ncutoff_len: 2048\nmax_steps: 5\n"}});
  EXPECT_EQ(factory.training["method"], "qlora");
  EXPECT_EQ(factory.training["quantization"], "gptq");
  EXPECT_TRUE(Says(factory, "not included: use_galore (gradients of low rank)"));
}

TEST(TrainingSection, TorchtunesRecipesAreRead) {
  const Made made =
      Of("tune run --nproc_per_node 2 full_finetune_distributed --config x.yaml "
         "enable_activation_offloading=True optimizer_in_bwd=True fsdp_cpu_offload=False",
         {{"x.yaml", "batch_size: 2\nmax_steps_per_epoch: 10\ndtype: bf16\nepochs: 1\n"}});
  EXPECT_EQ(made.training["activation_offloading"], true);
  EXPECT_EQ(made.training["optimizer_in_backward"], true);
}

TEST(TrainingSection, MegatronsAndTorchTitansOptionsAreRead) {
  const Made megatron =
      Of("torchrun --nproc_per_node 8 pretrain_gpt.py --tensor-model-parallel-size 4 "
         "--pipeline-model-parallel-size 2 --context-parallel-size 1 --sequence-parallel "
         "--micro-batch-size 1 --global-batch-size 64 --seq-length 4096 --train-iters 100 "
         "--recompute-activations --fp8-format hybrid --bf16");
  EXPECT_EQ(megatron.training["tensor_parallel_size"], 4);
  EXPECT_EQ(megatron.training["pipeline_parallel_size"], 2);
  EXPECT_FALSE(megatron.training.contains("context_parallel_size"));
  EXPECT_EQ(megatron.training["gradient_checkpointing"], "selective");
  EXPECT_EQ(megatron.training["fp8"], true);
  EXPECT_TRUE(Says(megatron, "not included: sequence_parallel"));
  const Made titan =
      Of("torchrun --nproc_per_node 8 -m torchtitan.train --parallelism.tensor_parallel_degree 2 "
         "--activation_checkpoint.mode selective --training.local_batch_size 1 "
         "--training.seq_len 8192 --training.steps 100 --model.converters float8 --compile.enable");
  EXPECT_EQ(titan.training["fsdp"], "full_shard");
  EXPECT_EQ(titan.training["tensor_parallel_size"], 2);
  EXPECT_EQ(titan.training["gradient_checkpointing"], "selective");
  EXPECT_EQ(titan.training["max_seq_length"], 8192);
  EXPECT_EQ(titan.training["fp8"], true);
  EXPECT_EQ(titan.training["torch_compile"], true);
}

TEST(TrainingSection, AnOptimizerThatIsNotCountedIsWrittenAndSaid) {
  const Made made = Of("python train.py --optim soap --max_steps 5");
  EXPECT_EQ(made.training["optim"], "soap");
  EXPECT_TRUE(Says(made, "not included: optim soap"));
}

TEST(TrainingSection, CheckpointingIsWhatTheTrainerDoesByDefault) {
  const std::string transformers =
      "torchrun --nproc_per_node 2 t.py --per_device_train_batch_size 2 --max_steps 1 --save_steps "
      "9 ";
  EXPECT_EQ(Of(transformers).training["gradient_checkpointing"], false);
  EXPECT_EQ(Of(transformers + "\"$@\"").training["gradient_checkpointing"], false);
  EXPECT_EQ(Of(transformers + "--gradient_checkpointing").training["gradient_checkpointing"], true);
  EXPECT_FALSE(Of(transformers + "$MORE").training.contains("gradient_checkpointing"))
      << "MORE may turn it on";
  EXPECT_EQ(Of("llamafactory-cli train --per_device_train_batch_size 2 --max_steps 1")
                .training["gradient_checkpointing"],
            true);
  EXPECT_FALSE(
      Of("llamafactory-cli train elsewhere.yaml").training.contains("gradient_checkpointing"));
  EXPECT_FALSE(Of("torchrun --nproc_per_node 2 own.py --batch-size 2 --max-steps 1")
                   .training.contains("gradient_checkpointing"));
}

TEST(TrainingSection, DetailsThatChangeMemoryAreRead) {
  const json training =
      Of("accelerate launch train_text_to_image.py --train_batch_size 2 --max_train_steps 9 "
         "--use_ema --resolution=512 --method lora --lora_r 8 --lora_target q_proj,v_proj")
          .training;
  EXPECT_EQ(training["use_ema"], true);
  EXPECT_EQ(training["resolution"], 512);
  EXPECT_EQ(training["lora"]["target_modules"], json::array({"q_proj", "v_proj"}));
  EXPECT_EQ(training["gradient_checkpointing"], false) << "diffusers' default";
}

TEST(TrainingSection, AllLayersNeedNoTargetModules) {
  EXPECT_FALSE(Of("python t.py --lora_r 8 --lora_target all --max_steps 1")
                   .training["lora"]
                   .contains("target_modules"));
}

TEST(TrainingSection, AnAccelerateConfigThatIsMissingIsNamedAndItsNameIsRead) {
  const Made made = Of(
      "accelerate launch --config_file=configs/zero3.yaml sft.py --per_device_train_batch_size 2 "
      "--max_steps 9");
  EXPECT_EQ(made.training["deepspeed"], 3);
  EXPECT_TRUE(Says(made, "configs/zero3.yaml cannot be read here"));
  EXPECT_EQ(Of("accelerate launch --config_file fsdp.yaml t.py --max_steps 9").training["fsdp"],
            "full_shard");
}

TEST(TrainingSection, HydrasFilesAreOverriddenOnTheCommandLine) {
  const std::map<std::string, std::string> files = {
      {"configs/trainer/ddp.yaml", "devices: 2\nprecision: bf16-mixed\nmax_epochs: 3\n"},
      {"configs/data/x.yaml", "batch_size: 8\n"}};
  const Made made = Of("srun --ntasks-per-node=2 python train.py trainer=ddp data=x", files);
  EXPECT_EQ(made.training["effective_batch_size"], 16);
  EXPECT_EQ(made.training["bf16"], true);
  EXPECT_EQ(made.training["num_train_epochs"], 3);
  EXPECT_NE(made.command.find("data.batch_size={micro_batch} trainer.devices={gpus_per_node}"),
            std::string::npos)
      << made.command;
}

TEST(TrainingSection, ACountOfGpusInAFileThatTheJobCannotHaveIsNone) {
  const std::string file = "batch_size: 8\nworld_size: 8\nsteps: 10\n";
  EXPECT_EQ(Of("python t.py --config c.yaml", {{"c.yaml", file}}).training["effective_batch_size"],
            16)
      << "the script's two GPUs";
}

TEST(TrainingSection, GpusThatShareASampleAreOneCopy) {
  const Made made = Of("torchrun --nproc_per_node=8 t.py --config-file n.yaml",
                       {{"n.yaml",
                         "parallelism: {dp: 4, pp: 2, tp: 1}\n"
                         "tokens: {micro_batch_size: 4, batch_accumulation_per_replica: 64, "
                         "train_steps: 9}\n"}});
  EXPECT_EQ(made.training["effective_batch_size"], 4 * 64 * 4);
  EXPECT_EQ(made.training["pipeline_parallel_size"], 2);
  EXPECT_TRUE(Says(made,
                   "parallelism.dp 4 in n.yaml stays: the program then runs on 8 GPUs alone; "
                   "write resources.max_gpus: 8"));
  EXPECT_TRUE(Says(Of("torchrun --nproc_per_node=8 t.py --dp_size 2 --pp_size 2"),
                   "runs on 4 GPUs alone, the script has 8"));
}

TEST(TrainingSection, AKeyThatSoundsLikeASplitIsNamed) {
  const Made made = Of("python t.py --config c.yaml",
                       {{"c.yaml", "batch_size: 8\nmy_accumulation: 4\naccum_fp32: true\n"}});
  EXPECT_TRUE(Says(made, "my_accumulation 4 in c.yaml: sounds like a figure"));
  EXPECT_FALSE(Says(made, "accum_fp32"));
}

TEST(TrainingSection, SectionsOfOtherTasksAreNoneOfTheTrainings) {
  const Made made =
      Of("python t.py --config c.yaml", {{"c.yaml",
                                          "EVAL: {BATCH_SIZE: 4}\nlr_scheduler: {max_epochs: 1}\n"
                                          "TRAIN: {BATCH_SIZE: 16, max_epochs: 7}\n"}});
  EXPECT_EQ(made.training["effective_batch_size"], 32);
  EXPECT_EQ(made.training["num_train_epochs"], 7);
}

TEST(TrainingSection, OfStepsAndEpochsItIsSaidWhichCount) {
  EXPECT_TRUE(Says(Of("python t.py --epochs 5 --max_steps 900"),
                   "--max_steps 900 and --epochs 5: the steps are counted"));
  const Made transformers = Of("python t.py --num_train_epochs 5 --max_steps 900");
  EXPECT_EQ(transformers.report.taken[1],
            "--max_steps 900 and --num_train_epochs 5: the steps win in Transformers");
}

TEST(TrainingSection, PrecisionHasManyNames) {
  EXPECT_EQ(Of("python t.py use_bf16=True max_steps=5").training["bf16"], true);
  EXPECT_EQ(Of("python t.py --use_fp16 --max_steps 5").training["fp16"], true);
  EXPECT_TRUE(Says(Of("python t.py --use_amp --max_steps 5"), "--use_amp does not say which"));
  EXPECT_EQ(Of("python t.py --amp false --max_steps 5").training["bf16"], false);
  EXPECT_TRUE(Says(Of("python t.py --config gone.yaml"),
                   "half precision is counted; gone.yaml may say another"));
}

}  // namespace
}  // namespace gpuadvise::client
