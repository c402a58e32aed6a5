// The section `training` in the words of Transformers, TRL, Axolotl, LLaMA-Factory and DeepSpeed.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/spec/train_spec.h"

namespace gpuadvise {
namespace {

using nlohmann::json;

Result<TrainSpec> Read(const char* training, const char* model = R"({"preset": "llama-2-7b"})") {
  return ParseTrainSpec({{"model", json::parse(model)}, {"training", json::parse(training)}}, "",
                        RunLength::kOptional);
}

TrainingSpec TrainingOf(const char* training) {
  const Result<TrainSpec> spec = Read(training);
  EXPECT_TRUE(spec) << training << ": " << (spec ? "" : spec.error().message);
  return spec ? spec->stages.at(0).training : TrainingSpec{};
}

std::string RefusalOf(const char* training) {
  const Result<TrainSpec> spec = Read(training);
  EXPECT_FALSE(spec) << training;
  return spec ? "" : spec.error().message;
}

std::string NotCountedIn(const char* training, const char* model = R"({"preset": "llama-2-7b"})") {
  const Result<TrainSpec> spec = Read(training, model);
  EXPECT_TRUE(spec) << training << ": " << (spec ? "" : spec.error().message);
  return spec ? NotCountedOf(spec->stages.at(0)) : "";
}

TEST(TrainingReader, SettingsOfTransformersAndTrlAreRead) {
  const TrainingSpec training = TrainingOf(R"({
      "use_liger_kernel": true, "activation_offloading": true, "optimizer_in_backward": true,
      "trainer": "dpo", "fp8": true, "max_seq_length": 4096, "mean_seq_length": 900.5,
      "tensor_parallel_size": 4, "pipeline_parallel_size": 2, "context_parallel_size": 8,
      "expert_parallel_size": 16, "method": "lora", "lora": {"lora_dropout": 0.05}})");
  EXPECT_TRUE(training.use_liger_kernel);
  EXPECT_TRUE(training.activation_offload);
  EXPECT_TRUE(training.optimizer_in_backward);
  EXPECT_TRUE(training.fp8);
  EXPECT_EQ(training.trainer, Trainer::kDpo);
  EXPECT_DOUBLE_EQ(*training.mean_seq_length, 900.5);
  EXPECT_EQ(training.tensor_parallel_size, 4);
  EXPECT_EQ(training.pipeline_parallel_size, 2);
  EXPECT_EQ(training.context_parallel_size, 8);
  EXPECT_EQ(training.expert_parallel_size, 16);
  EXPECT_DOUBLE_EQ(training.lora.dropout, 0.05);
}

TEST(TrainingReader, QuantizationAndMethodSayTheSameThing) {
  const auto both = [](const char* training) {
    const TrainingSpec read = TrainingOf(training);
    return std::pair(read.method, read.base_weights);
  };
  using M = Method;
  using B = BaseWeights;
  EXPECT_EQ(both(R"({"load_in_4bit": true})"), std::pair(M::kQlora, B::kNf4));
  EXPECT_EQ(both(R"({"load_in_4bit": true, "method": "lora"})"), std::pair(M::kQlora, B::kNf4));
  EXPECT_EQ(both(R"({"load_in_4bit": true, "method": "dora"})"), std::pair(M::kDora, B::kNf4));
  EXPECT_EQ(both(R"({"load_in_8bit": true})"), std::pair(M::kLora, B::kInt8));
  EXPECT_EQ(both(R"({"quantization": "gptq", "method": "qlora"})"), std::pair(M::kLora, B::kGptq4));
  EXPECT_EQ(both(R"({"quantization": "nf4", "load_in_4bit": true})"),
            std::pair(M::kQlora, B::kNf4));
  EXPECT_EQ(both(R"({"load_in_4bit": false, "method": "full"})"), std::pair(M::kFull, B::kAuto));
  EXPECT_NE(RefusalOf(R"({"load_in_8bit": true, "method": "full"})").find("only adapters"),
            std::string::npos);
  EXPECT_NE(RefusalOf(R"({"load_in_8bit": true, "load_in_4bit": true})").find("keep one"),
            std::string::npos);
  EXPECT_NE(RefusalOf(R"({"load_in_8bit": true, "method": "qlora"})").find("method: lora"),
            std::string::npos);
  EXPECT_NE(RefusalOf(R"({"quantization": "none", "method": "qlora"})").find("4 bits"),
            std::string::npos);
}

TEST(TrainingReader, FsdpInTransformersWords) {
  const auto strategy = [](const char* training) {
    const TrainingSpec read = TrainingOf(training);
    return std::tuple(read.fsdp, read.hybrid_shard, read.offload);
  };
  const std::optional<Fsdp> full = Fsdp::kFullShard, grad = Fsdp::kShardGradOp, none;
  const auto no = Offload::kNone, all = Offload::kAll;
  EXPECT_EQ(strategy(R"({"fsdp": "full_shard auto_wrap"})"), std::tuple(full, false, no));
  EXPECT_EQ(strategy(R"({"fsdp": "full_shard auto_wrap offload"})"), std::tuple(full, false, all));
  EXPECT_EQ(strategy(R"({"fsdp": ["shard_grad_op", "auto_wrap"]})"), std::tuple(grad, false, no));
  EXPECT_EQ(strategy(R"({"fsdp": "hybrid_shard"})"), std::tuple(full, true, no));
  EXPECT_EQ(strategy(R"({"fsdp": "HYBRID_SHARD_ZERO2"})"), std::tuple(grad, true, no));
  EXPECT_EQ(strategy(R"({"fsdp": "no_shard"})"), std::tuple(none, false, no));
  EXPECT_EQ(strategy(R"({"fsdp": false})"), std::tuple(none, false, no));
  EXPECT_EQ(strategy(R"({"fsdp": true})"), std::tuple(full, false, no));
  EXPECT_EQ(strategy(R"({"fsdp_version": 2})"), std::tuple(full, false, no));
  EXPECT_EQ(strategy(R"({"fsdp_version": 2, "reshard_after_forward": false})"),
            std::tuple(grad, false, no));
  EXPECT_EQ(strategy(R"({"fsdp": true, "fsdp_config": {"reshard_after_forward": false}})"),
            std::tuple(grad, false, no));
  EXPECT_EQ(strategy(R"({"fsdp_config": {"fsdp_sharding_strategy": "HYBRID_SHARD",
                                         "fsdp_offload_params": true}})"),
            std::tuple(full, true, all));
  EXPECT_EQ(TrainingOf(R"({"fsdp": true, "fsdp_config": {"activation_checkpointing": true}})")
                .gradient_checkpointing,
            Checkpointing::kFull);
}

TEST(TrainingReader, ContradictionsOfShardingAreRefused) {
  EXPECT_EQ(RefusalOf(R"({"fsdp": "full_shrad"})"),
            "fsdp has 'full_shrad', which is none of full_shard, shard_grad_op, hybrid_shard, "
            "hybrid_shard_zero2, no_shard, auto_wrap and offload (did you mean 'full_shard'?)");
  EXPECT_NE(RefusalOf(R"({"fsdp": "full_shard no_shard"})").find("keep one"), std::string::npos);
  EXPECT_NE(RefusalOf(R"({"fsdp": "full_shard offload", "offload": "none"})").find("keep one"),
            std::string::npos);
  EXPECT_NE(RefusalOf(R"({"fsdp": "full_shard", "deepspeed": 3})").find("keep one"),
            std::string::npos);
  EXPECT_NE(RefusalOf(R"({"reshard_after_forward": true})").find("fsdp_version: 2"),
            std::string::npos);
}

TEST(TrainingReader, ADeepspeedFileSaysStageOffloadAndOptimizer) {
  const TrainingSpec training = TrainingOf(R"({"deepspeed": {
      "zero_optimization": {"stage": 3, "offload_optimizer": {"device": "cpu"},
                            "offload_param": {"device": "cpu", "pin_memory": true}},
      "optimizer": {"type": "Adafactor"}}})");
  EXPECT_EQ(training.zero_stage, 3);
  EXPECT_EQ(training.offload, Offload::kAll);
  EXPECT_EQ(training.optim, "adafactor");
  const TrainingSpec states = TrainingOf(R"({"optim": "adamw_torch", "deepspeed": {
      "zero_optimization": {"stage": 2, "offload_optimizer": {"device": "cpu"}},
      "optimizer": {"type": "Adafactor"}}})");
  EXPECT_EQ(states.offload, Offload::kOptimizer);
  EXPECT_EQ(states.optim, "adamw_torch");
  EXPECT_EQ(TrainingOf(R"({"deepspeed": {"zero_optimization":
      {"stage": 2, "offload_optimizer": {"device": "none"}}}})")
                .offload,
            Offload::kNone);
}

TEST(TrainingReader, WordsOfCheckpointing) {
  const auto read = [](const char* word) {
    const TrainingSpec training =
        TrainingOf((R"({"gradient_checkpointing": )" + std::string(word) + "}").c_str());
    return std::pair(training.gradient_checkpointing, training.activation_offload);
  };
  EXPECT_EQ(read("\"full\""), std::pair(std::optional(Checkpointing::kFull), false));
  EXPECT_EQ(read("\"none\""), std::pair(std::optional(Checkpointing::kNone), false));
  EXPECT_EQ(read("\"selective\""), std::pair(std::optional(Checkpointing::kSelective), false));
  EXPECT_EQ(read("\"unsloth\""), std::pair(std::optional(Checkpointing::kFull), true));
  EXPECT_EQ(read("\"offload\""), std::pair(std::optional(Checkpointing::kFull), true));
  EXPECT_EQ(read("\"auto\""), std::pair(std::optional<Checkpointing>(), false));
}

TEST(TrainingReader, TorchDtypeSaysInWhichFormatTrainedWeightsAre) {
  EXPECT_TRUE(TrainingOf(R"({"torch_dtype": "bfloat16"})").pure_bf16);
  EXPECT_FALSE(TrainingOf(R"({"torch_dtype": "bfloat16", "method": "lora"})").pure_bf16);
  EXPECT_FALSE(TrainingOf(R"({"torch_dtype": "float32"})").pure_bf16);
  EXPECT_EQ(NotCountedIn(R"({"torch_dtype": "auto"})"),
            "not included: torch_dtype auto (weights are counted in float32)");
  EXPECT_NE(RefusalOf(R"({"torch_dtype": "float32", "pure_bf16": true})").find("keep one"),
            std::string::npos);
}

TEST(TrainingReader, NonsenseIsRefused) {
  EXPECT_EQ(RefusalOf(R"({"max_seq_length": 512, "mean_seq_length": 600})"),
            "mean_seq_length 600 is more than the longest text, 512");
  EXPECT_NE(RefusalOf(R"({"optimizer_in_backward": true, "gradient_accumulation_steps": 2})")
                .find("gradient_accumulation_steps: 1"),
            std::string::npos);
  EXPECT_NE(RefusalOf(R"({"torch_compile": true, "software": "1.13"})").find("PyTorch 2.0"),
            std::string::npos);
  EXPECT_NE(RefusalOf(R"({"trainer": "rloo"})").find("trainer must be one of"), std::string::npos);
  EXPECT_NE(RefusalOf(R"({"lora": {"lora_dropout": 1}, "method": "lora"})").find("0.999"),
            std::string::npos);
}

TEST(TrainingReader, EveryTypeInPlaceOfAFormGivesASentenceOrAValue) {
  const json values = json::parse(
      R"([1, -1, 0.5, "x", "", true, false, [], {}, [1], [{}], {"a": 1}, {"version": "x"},
          {"zero_optimization": 3}, {"zero_optimization": {"stage": "3"}},
          {"optimizer": {"type": 5}}, {"sharding_strategy": [[1]]}, 1e308])");
  for (const char* key : {"fsdp", "fsdp_config", "deepspeed", "software", "torch_dtype"}) {
    for (const json& value : values) {
      const Result<TrainSpec> spec =
          ParseTrainSpec({{"training", {{key, value}}}}, "", RunLength::kOptional);
      if (!spec) {
        EXPECT_FALSE(spec.error().message.empty()) << key << value;
      }
    }
  }
  EXPECT_FALSE(ParseTrainSpec({{"training", {{"fsdp", "x"}}}}, "", RunLength::kOptional));
  EXPECT_FALSE(ParseTrainSpec({{"training", {{"fsdp_config", 1}}}}, "", RunLength::kOptional));
}

// A file gives PyTorch 2.10 as the number 2.1.
TEST(TrainingReader, AVersionThatLostItsZeroMustBeQuoted) {
  EXPECT_EQ(RefusalOf(R"({"software": 2.1})"),
            "software 2.1 may be 2.10: put the version in quotes, '2.1' or '2.10'");
  EXPECT_GT(*TrainingOf(R"({"software": "2.10"})").software_year, 2026);
  EXPECT_LT(*TrainingOf(R"({"software": "2.1"})").software_year, 2024);
  EXPECT_GT(*TrainingOf(R"({"software": 2.4})").software_year, 2024.5);
  EXPECT_FALSE(TrainingOf("{}").software_year);
}

TEST(ForeignKeys, WhatChangesNoFigureIsTakenWithoutAWord) {
  EXPECT_EQ(NotCountedIn(R"({"learning_rate": 2e-5, "warmup_ratio": 0.03, "report_to": "wandb",
      "lr_scheduler_type": "cosine", "seed": 42, "logging_steps": 10, "neftune_noise_alpha": null,
      "method": "lora", "lora": {"bias": "none", "task_type": "CAUSAL_LM", "use_rslora": true}})",
                         R"({"preset": "llama-2-7b", "trust_remote_code": true,
                             "device_map": {"": 0}})"),
            "");
}

TEST(ForeignKeys, WhatIsNotCountedIsSaidInOneSentence) {
  EXPECT_EQ(NotCountedIn(R"({"neftune_noise_alpha": 5, "trainer": "grpo", "use_vllm": true,
                             "optim": "soap"})",
                         R"({"preset": "llama-2-7b", "device_map": "auto"})"),
            "not included: device_map (one model's layers over the GPUs, which work one after "
            "another); the rollouts of GRPO (memory and time of generating samples); optim soap "
            "(preconditioners for each matrix; it counts as AdamW); neftune_noise_alpha (noise on "
            "the embeddings); use_vllm (vLLM's share of memory and the time of generating)");
}

TEST(ForeignKeys, SlowerKernelsAndFurtherImagesAreSaidNotToBeCounted) {
  EXPECT_EQ(NotCountedIn(R"({"full_determinism": true, "with_prior_preservation": true})",
                         R"({"preset": "llama-2-7b"})"),
            "not included: full_determinism (deterministic kernels, which take longer); "
            "with_prior_preservation (an image of the class beside each: as much as twice the "
            "micro-batch)");
}

TEST(ForeignKeys, WhatIsNotCountedIsAmongTheAssumptions) {
  const Result<TrainSpec> spec = Read(R"({"optim": "shampoo", "max_seq_length": 512})");
  EXPECT_EQ(
      AssumptionsOf(spec->stages.at(0), ModelShape()),
      std::vector<std::string>{
          "not included: optim shampoo (preconditioners for each matrix; it counts as AdamW)"});
}

TEST(ForeignKeys, AnotherProgramsNameIsToldItsOwnHere) {
  EXPECT_EQ(RefusalOf(R"({"batch_size": 8})"),
            "unknown key 'batch_size'; here it is training.per_device_train_batch_size for a "
            "GPU's, training.effective_batch_size for that of all");
  EXPECT_EQ(RefusalOf(R"({"cutoff_len": 2048})"),
            "unknown key 'cutoff_len'; here it is training.max_seq_length");
  EXPECT_EQ(RefusalOf(R"({"lora": {"use_dora": true}, "method": "lora"})"),
            "unknown key 'use_dora'; here it is training.method: dora");
  EXPECT_EQ(ParseTrainSpec({{"micro_batch_size", 2}}, "").error().message,
            "unknown key 'micro_batch_size'; here it is training.per_device_train_batch_size");
  EXPECT_EQ(ParseTrainSpec({{"learning_rate", 1}}, "").error().message,
            "unknown key 'learning_rate'; it belongs under training");
}

TEST(ForeignKeys, AKeyOfNoProgramIsToldWhereTheListIs) {
  EXPECT_EQ(RefusalOf(R"({"frobnication_level": 3})"),
            "unknown key 'frobnication_level'; `gpuadvise reference training` lists the keys");
}

}  // namespace
}  // namespace gpuadvise
