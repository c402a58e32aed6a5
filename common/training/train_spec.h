// train.yaml as a value: what a person wants trained and under which conditions.
//
// Decoded from the file's JSON form. Every key is checked for type, range and spelling by the table
// of keys (train_keys.h, which docs/train-yaml.md shows); errors carry the JSON pointer of the
// value. Sizes are bytes, times seconds. A key that was not given is an empty optional: defaults
// are chosen where they are used, so that "not said" and "said" stay apart. Words of the file that
// have one meaning each are read once and are enums from there on; an optimizer's name stays text,
// because any name that a trainer knows may stand there.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/training/model_presets.h"
#include "common/training/model_shape.h"

namespace gpuadvise {

// The number format that a model trains in.
enum class Precision { kBf16, kFp16, kFp32 };
// What is trained: all weights, or adapters.
enum class Method { kFull, kLora, kDora, kQlora };
enum class Attention { kFlashAttention2, kSdpa, kEager };
enum class Checkpointing { kNone, kSelective, kFull };
enum class Fsdp { kFullShard, kShardGradOp };
enum class Offload { kNone, kOptimizer, kAll };
// How the frozen weights under adapters are kept; kAuto: NF4 with qlora, else half precision.
enum class BaseWeights { kAuto, kNf4, kGptq4, kInt8 };
// What is optimised, by TRL's trainers: supervised (also pre-training), or from preferences and
// rewards, where a second model or a second answer is at work.
enum class Trainer { kSft, kDpo, kOrpo, kKto, kReward, kGrpo, kPpo };

struct ModelSpec {
  std::string preset;                         // "" none
  std::optional<MemoryLine> memory;           // the explicit line
  std::optional<double> params;               // parameters of the whole model
  std::optional<ModelShape> shape;            // given by its keys or by hf_config
  std::vector<std::string> assumed;           // where hf_config left something open
  std::vector<std::string> not_counted = {};  // as TrainingSpec's
  // Keys of the shape beside `preset`, which win over the preset's (stage_needs.h); nullptr: none.
  std::shared_ptr<const nlohmann::json> beside_preset;
};

struct LoraSpec {
  int64_t r = 8;
  double dropout = 0;                        // lora_dropout
  std::vector<std::string> target_modules;   // empty: all linear layers
  std::vector<std::string> modules_to_save;  // trained whole beside the adapters
};

// An effective batch size kept between `low` and `high`, both reachable.
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
  std::optional<bool> bf16;  // nullopt: auto
  std::optional<bool> fp16;
  std::optional<Checkpointing> gradient_checkpointing;  // nullopt: auto
  Method method = Method::kFull;
  std::optional<Attention> attn_implementation;
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
  std::optional<Fsdp> fsdp;           // nullopt: none
  Offload offload = Offload::kNone;
  bool chunked_cross_entropy = false;
  bool use_liger_kernel = false;  // fused losses, norms and MLPs (Liger)
  BaseWeights base_weights = BaseWeights::kAuto;
  bool activation_offload = false;     // what autograd keeps goes to the host's memory
  bool optimizer_in_backward = false;  // each gradient is used and freed at once
  Trainer trainer = Trainer::kSft;
  std::optional<int64_t> tensor_parallel_size;
  std::optional<int64_t> pipeline_parallel_size;
  std::optional<int64_t> context_parallel_size;
  std::optional<int64_t> expert_parallel_size;

  // What run time depends on besides.
  std::optional<double> mean_seq_length;  // tokens of a sample on average; nullopt: max_seq_length
  bool fp8 = false;                       // products of matrices in 8 bits
  std::optional<double> software_year;    // of PyTorch and its libraries, 2024.5; nullopt: today's

  MediaSettings media;  // samples that are pictures, films or sound

  bool resume = false;  // after its time limit it goes on from its checkpoint

  bool hybrid_shard = false;   // FSDP shards within a node and copies between nodes
  bool optim_is_said = false;  // else `optim` is the usual one
  // What the file says, changes memory or run time, and is not counted: "device_map (layers …)".
  std::vector<std::string> not_counted;
};

// One training run; a train.yaml without `stages:` is one stage.
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

// Whether a training must say how long it runs: what fits in memory does not depend on it.
enum class RunLength { kRequired, kOptional };

// Decodes `document`, whose place in the request is `pointer` ("/spec"). Errors: kBadInput.
Result<TrainSpec> ParseTrainSpec(const nlohmann::json& document, const std::string& pointer,
                                 RunLength run_length = RunLength::kRequired);

// Whether a measured line says how long a step takes.
bool HasTiming(const TrainingSpec& training);

// Tokens of a sample where the file does not say max_seq_length.
inline constexpr int64_t kUsualSeqLength = 512;

// Whether `optim` is one of Transformers' names whose states are counted; any other counts as
// AdamW with states in fp32.
bool IsKnownOptimizer(const std::string& optim);

// "not counted: …": what the stage says, changes memory or run time, and is not counted; ""
// nothing.
std::string NotCountedOf(const Stage& stage);

// What is taken for granted of a stage whose memory or run time is counted from its model's shape,
// where the file leaves something open, and what is not counted of it; in sentences.
std::vector<std::string> AssumptionsOf(const Stage& stage, const ModelShape& shape);

// "bf16", "fp16", "fp32", and back; nullopt for any other word.
std::string ToWord(Precision precision);
std::optional<Precision> PrecisionFromWord(const std::string& word);

// "full", "lora", "dora", "qlora", and back; nullopt for any other word.
std::string ToWord(Method method);
std::optional<Method> MethodFromWord(const std::string& word);

// "finish", "start", "cost", "deadline".
std::string ToWord(Objective objective);
// nullopt for any other word.
std::optional<Objective> ObjectiveFromWord(const std::string& word);

}  // namespace gpuadvise
