// train.yaml as a value: what a person wants trained and under which conditions.
//
// Decoded from the file's JSON form (docs: DESIGN of train.yaml in README and examples/). Every key
// is checked for type, range and spelling; errors carry the JSON pointer of the value. Sizes are
// bytes, times seconds. A key that was not given is an empty optional: defaults are chosen where
// they are used, so that "not said" and "said" stay apart.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/error.h"
#include "common/model_presets.h"
#include "common/model_shape.h"

namespace gpuadvise {

struct ModelSpec {
  std::string preset;                // "" none
  std::optional<MemoryLine> memory;  // the explicit line
  std::optional<double> params;      // parameters of the whole model
  std::optional<ModelShape> shape;   // given by its keys or by hf_config
  std::vector<std::string> assumed;  // where hf_config left something open
};

struct LoraSpec {
  int64_t r = 8;
  std::vector<std::string> target_modules;   // empty: all linear layers
  std::vector<std::string> modules_to_save;  // trained whole beside the adapters
};

/// An effective batch size kept between `low` and `high`, both reachable.
struct BatchRange {
  int64_t low = 0;
  int64_t high = 0;
};

struct TrainingSpec {
  std::optional<int64_t> max_steps;  // optimizer steps
  std::optional<double> num_train_epochs;
  std::optional<int64_t> num_samples;  // in the data set, with num_train_epochs
  std::optional<int64_t> samples;      // in all, instead of steps or epochs
  std::optional<BatchRange> effective_batch_size;
  std::optional<int64_t> micro_batch;   // per_device_train_batch_size
  std::optional<int64_t> accumulation;  // gradient_accumulation_steps
  std::optional<int64_t> max_seq_length;
  std::string bf16 = "auto";  // auto, true, false
  std::string fp16 = "auto";
  std::string gradient_checkpointing = "auto";  // auto, true, false, selective
  std::string method = "full";
  std::string attn_implementation;
  std::optional<bool> torch_compile;
  std::optional<int64_t> dataloader_num_workers;
  std::optional<double> dataloader_seconds_per_sample;  // that one worker needs
  bool tf32 = false;  // of fp32's products; PyTorch's own default is false
  std::vector<MeasuredStep> measured;

  // What memory depends on.
  std::optional<int64_t> images_per_sample;
  LoraSpec lora;
  std::string optim = "adamw_torch";  // Transformers' names
  bool pure_bf16 = false;             // weights, gradients and states in bf16
  std::optional<int64_t> zero_stage;  // of DeepSpeed, 0 to 3; nullopt: no DeepSpeed
  std::string fsdp;                   // full_shard, shard_grad_op, "" none
  std::string offload = "none";       // none, optimizer, all
  bool chunked_cross_entropy = false;

  bool resume = false;  // after its time limit it goes on from its checkpoint
};

/// One training run; a train.yaml without `stages:` is one stage.
struct Stage {
  std::string name;
  ModelSpec model;
  TrainingSpec training;
  std::string pointer;  // of the stage in the document, "" for the whole
};

struct ResourceSpec {
  std::vector<std::string> gpus;  // allow-list; empty: any
  std::optional<int64_t> max_nodes;
  std::optional<int64_t> max_gpus;
  std::optional<int64_t> cpus_per_gpu;
  std::optional<int64_t> mem_per_gpu_bytes;
};

struct SlurmSpec {
  std::string account, qos, partition, constraint, exclude, nodelist;
  std::optional<int64_t> time_limit_seconds;
};

struct OutputSpec {
  std::optional<int64_t> checkpoint_bytes;
  std::optional<int64_t> keep;
  std::optional<int64_t> save_steps;
};

struct RequiresSpec {
  bool flash_attention_2 = false;
  bool fp8 = false;
  std::optional<double> min_compute_capability;
};

enum class Objective { kFinish, kStart, kCost, kDeadline };

struct TrainSpec {
  std::string name = "train";
  std::vector<Stage> stages;  // never empty
  ResourceSpec resources;
  SlurmSpec slurm;
  OutputSpec output;
  RequiresSpec requires_gpu;
  Objective objective = Objective::kFinish;
  std::optional<int64_t> deadline;  // unix seconds
};

/// Decodes `document`, whose place in the request is `pointer` ("/spec"). Errors: kBadInput.
Result<TrainSpec> ParseTrainSpec(const nlohmann::json& document, const std::string& pointer);

/// "finish", "start", "cost", "deadline".
std::string ToWord(Objective objective);
/// nullopt for any other word.
std::optional<Objective> ObjectiveFromWord(const std::string& word);

}  // namespace gpuadvise
