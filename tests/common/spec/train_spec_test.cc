#include "common/spec/train_spec.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace gpuadvise {
namespace {

using nlohmann::json;

json Smallest() {
  return json::parse(R"({"model": {"preset": "gr00t-n1-2b"},
                         "training": {"max_steps": 100, "effective_batch_size": 8}})");
}

Error ErrorOf(const json& document) {
  Result<TrainSpec> spec = ParseTrainSpec(document, "/spec");
  EXPECT_FALSE(spec) << document.dump();
  return spec ? Error{} : spec.error();
}

// `patch` merged into the smallest valid document.
Error ErrorWith(const char* patch) {
  json document = Smallest();
  document.merge_patch(json::parse(patch));
  return ErrorOf(document);
}

TEST(TrainSpec, ReadsEveryKeyOfTheFile) {
  json document = json::parse(R"({
    "name": "gr00t-finetune", "objective": "deadline", "deadline": 1790086400,
    "model": {"preset": "p", "params": 2e9, "hidden_size": 2048, "num_hidden_layers": 24, "num_attention_heads": 16,
      "num_key_value_heads": 8, "intermediate_size": 8192, "vocab_size": 32000, "tie_word_embeddings": true,
      "encoder": {"hidden_size": 8}, "vision": {"params": 3e8, "tokens_per_image": 256, "frozen": true},
      "extra_params": 3e7, "memory": {"base": "5 GB", "per_sample": "1.2 GB", "overhead": "2 GB", "floor": "6 GB"}, "hf_config": {"hidden_size": 64, "num_hidden_layers": 2}},
    "training": {"max_steps": 10000, "effective_batch_size": [120, 144], "bf16": "auto", "fp16": false, "pure_bf16": false,
      "tf32": "auto", "gradient_checkpointing": "selective", "max_seq_length": 2048, "images_per_sample": 2, "packing": false,
      "method": "lora", "lora": {"r": 8, "lora_alpha": 16, "target_modules": ["q_proj"], "modules_to_save": []},
      "optim": "adamw_torch", "attn_implementation": "sdpa", "deepspeed": 2, "offload": "none",
      "torch_compile": false, "chunked_cross_entropy": true, "dataloader_num_workers": 8, "retry_on_oom": true, "resume": true,
      "measured": [{"gpu": "rtx4090", "gpus": 4, "batch": 10, "seconds_per_step": 3.9, "peak": "21.3 GiB"}]},
    "resources": {"cpus_per_gpu": 8, "mem_per_gpu": "30G", "max_nodes": 2, "max_gpus": 8, "gpus": ["rtx4090", "l40s"]},
    "requires": {"flash_attention_2": true, "min_compute_capability": 7.5},
    "slurm": {"account": "lab", "qos": "normal", "partition": "gpu_shared", "time": "12:00:00", "constraint": "a&b",
      "exclude": "n1", "nodelist": "n2", "array": "0-3", "extra": ["--mail-type=END"]},
    "output": {"dir": "/scratch", "checkpoint": "7 GB", "keep": 5, "save_steps": 2000},
    "inference": {"batch_size": 4}, "setup": ["module load cuda"], "container": "x.sif", "workdir": "/w",
    "env": {"A": "b"}, "command": "torchrun train.py"})");
  Result<TrainSpec> spec = ParseTrainSpec(document, "/spec");
  ASSERT_TRUE(spec) << spec.error().message << " at " << spec.error().pointer;
  EXPECT_EQ(spec->name, "gr00t-finetune");
  EXPECT_EQ(spec->objective, Objective::kDeadline);
  const Stage& stage = spec->stages.at(0);
  EXPECT_EQ(stage.model.memory->per_sample_bytes, 1'200'000'000);
  EXPECT_EQ(stage.model.memory->floor_bytes, 6'000'000'000);
  EXPECT_EQ(stage.training.effective_batch_size->high, 144);
  EXPECT_EQ(stage.training.measured.at(0).micro_batch, 10);
  EXPECT_EQ(spec->resources.mem_per_gpu_bytes, int64_t{30} << 30);
  EXPECT_EQ(spec->slurm.time_limit_seconds, 12 * 3600);
  EXPECT_TRUE(spec->requires_gpu.flash_attention_2);
}

TEST(TrainSpec, StagesOverrideWhatTheyShare) {
  json document = Smallest();
  document["stages"] =
      json::parse(R"([{"name": "one"}, {"name": "two", "training": {"max_steps": 50}}])");
  Result<TrainSpec> spec = ParseTrainSpec(document, "/spec");
  ASSERT_TRUE(spec) << spec.error().message;
  ASSERT_EQ(spec->stages.size(), 2u);
  EXPECT_EQ(*spec->stages[0].training.max_steps, 100);
  EXPECT_EQ(*spec->stages[1].training.max_steps, 50);
  EXPECT_EQ(spec->stages[1].training.effective_batch_size->low, 8);
}

TEST(TrainSpec, AStageKnowsItsPlaceInTheFile) {
  json document = Smallest();
  EXPECT_EQ(ParseTrainSpec(document, "/spec")->stages.at(0).pointer, "");
  document["stages"] = json::parse(R"([{"name": "one"}, {"name": "two"}])");
  EXPECT_EQ(ParseTrainSpec(document, "/spec")->stages.at(1).pointer, "/stages/1");
}

TEST(TrainSpec, MisspeltKeyNamesTheNearest) {
  Error error = ErrorWith(R"({"training": {"max_stepz": 5}})");
  EXPECT_EQ(error.pointer, "/spec/training/max_stepz");
  EXPECT_EQ(error.message, "unknown key 'max_stepz' (did you mean 'max_steps'?)");
}

TEST(TrainSpec, NameOfAnotherProgramsFlagIsTranslated) {
  EXPECT_EQ(ErrorWith(R"({"training": {"accum_iter": 5}})").message,
            "unknown key 'accum_iter'; here it is training.gradient_accumulation_steps");
}

TEST(TrainSpec, UnknownTopLevelKeyIsRefused) {
  EXPECT_EQ(ErrorWith(R"({"trainig": {}})").message,
            "unknown key 'trainig' (did you mean 'training'?)");
}

TEST(TrainSpec, ZeroAndNegativeStepsAreRefused) {
  EXPECT_EQ(ErrorWith(R"({"training": {"max_steps": 0}})").pointer, "/spec/training/max_steps");
  EXPECT_NE(ErrorWith(R"({"training": {"max_steps": -3}})").message.find("not -3"),
            std::string::npos);
}

TEST(TrainSpec, ARangeTurnedRoundIsRefused) {
  Error error = ErrorWith(R"({"training": {"effective_batch_size": [144, 120]}})");
  EXPECT_EQ(error.pointer, "/spec/training/effective_batch_size");
  EXPECT_NE(error.message.find("[144,120]"), std::string::npos) << error.message;
}

TEST(TrainSpec, ASizeWithoutUnitIsRefused) {
  Error error = ErrorWith(R"({"model": {"memory": {"base": 5, "per_sample": "1 GB"}}})");
  EXPECT_EQ(error.pointer, "/spec/model/memory/base");
  EXPECT_NE(error.message.find("unit"), std::string::npos) << error.message;
}

TEST(TrainSpec, WorkMustBeSaidOnce) {
  EXPECT_EQ(ErrorWith(R"({"training": {"max_steps": null}})").pointer, "/spec/training");
  EXPECT_NE(ErrorWith(R"({"training": {"samples": 5}})").message.find("more than one"),
            std::string::npos);
  Error error = ErrorWith(R"({"training": {"max_steps": null, "num_train_epochs": 3}})");
  EXPECT_EQ(error.pointer, "/spec/training/num_train_epochs");
}

TEST(TrainSpec, BothHalfPrecisionsAreRefused) {
  EXPECT_EQ(ErrorWith(R"({"training": {"bf16": true, "fp16": true}})").pointer,
            "/spec/training/fp16");
}

TEST(TrainSpec, HugeIntegersAreRefusedNotWrapped) {
  EXPECT_EQ(ErrorWith(R"({"training": {"max_steps": 18446744073709551615}})").pointer,
            "/spec/training/max_steps");
  EXPECT_EQ(ErrorWith(R"({"resources": {"max_nodes": 1e300}})").pointer,
            "/spec/resources/max_nodes");
}

TEST(TrainSpec, EveryTypeInEveryPlaceGivesASentenceOrAValue) {
  const json values =
      json::parse(R"([1, -1, 0.5, "x", "", true, null, [], {}, [1], {"a": 1}, [[]], 1e308])");
  const json smallest = Smallest();
  for (const char* section :
       {"name", "model", "training", "resources", "slurm", "output", "requires", "stages",
        "objective", "deadline", "env", "inference", "command", "setup"}) {
    for (const json& value : values) {
      json document = smallest;
      document[section] = value;
      Result<TrainSpec> spec = ParseTrainSpec(document, "");
      if (!spec) {
        EXPECT_FALSE(spec.error().message.empty());
      }
    }
  }
  EXPECT_FALSE(ParseTrainSpec(json::array(), ""));
  EXPECT_FALSE(ParseTrainSpec(json(), ""));
}

}  // namespace
}  // namespace gpuadvise
