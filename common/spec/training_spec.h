// The section `training` of a train.yaml as a value: how a model is trained.
//
// Sizes are bytes, times seconds. A key that was not given is an empty optional: defaults are
// chosen where they are used, so that "not said" and "said" stay apart.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/models/model_presets.h"

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
enum class BaseWeights { kAuto, kNf4, kGptq4, kInt8, kFp32 };
// What is optimised, by TRL's trainers: supervised (also pre-training), or from preferences and
// rewards, where a second model or a second answer is at work.
enum class Trainer { kSft, kDpo, kOrpo, kKto, kReward, kGrpo, kPpo };

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
  std::optional<double> start_seconds;  // before the first step; nullopt: as measured
  std::optional<bool> torch_compile;
  std::optional<int64_t> dataloader_num_workers;
  std::optional<double> dataloader_seconds_per_sample;  // that one worker needs
  std::vector<MeasuredStep> measured;

  // What memory depends on.
  std::optional<int64_t> max_target_length;  // nullopt: max_seq_length
  std::optional<int64_t> images_per_sample;
  std::optional<bool> use_reentrant;  // how torch.utils.checkpoint recomputes; nullopt: yes
  LoraSpec lora;
  std::string optim = "adamw_torch";  // Transformers' names
  std::optional<int64_t> zero_stage;  // of DeepSpeed, 0 to 3; nullopt: no DeepSpeed
  std::optional<int64_t> tensor_parallel_size;
  std::optional<int64_t> pipeline_parallel_size;
  std::optional<int64_t> context_parallel_size;
  std::optional<int64_t> expert_parallel_size;

  // What run time depends on besides.
  std::optional<double> mean_seq_length;  // tokens of a sample on average; nullopt: max_seq_length
  std::optional<double> software_year;    // of PyTorch and its libraries, 2024.5; nullopt: today's

  MediaSettings media;  // samples that are pictures, films or sound

  // Words and switches.
  Method method = Method::kFull;
  std::optional<Attention> attn_implementation;
  std::optional<Fsdp> fsdp;  // nullopt: none
  Offload offload = Offload::kNone;
  BaseWeights base_weights = BaseWeights::kAuto;
  Trainer trainer = Trainer::kSft;
  bool tf32 = false;       // of fp32's products; PyTorch's own default is false
  bool pure_bf16 = false;  // weights, gradients and states in bf16
  bool chunked_cross_entropy = false;
  bool use_liger_kernel = false;       // fused losses, norms and MLPs (Liger)
  bool upcast_logits = true;           // the loss is computed in fp32
  bool double_quantized = false;       // NF4's scales are quantised, too
  bool kbit_prepared = false;          // PEFT's prepare_model_for_kbit_training was called
  bool activation_offload = false;     // what autograd keeps goes to the host's memory
  bool optimizer_in_backward = false;  // each gradient is used and freed at once
  bool fp8 = false;                    // products of matrices in 8 bits
  bool resume = false;                 // after its time limit it goes on from its checkpoint
  bool hybrid_shard = false;           // FSDP shards within a node and copies between nodes
  bool optim_is_said = false;          // else `optim` is the usual one

  // What the file says, changes memory or run time, and is not counted: "device_map (layers …)".
  std::vector<std::string> not_counted;
};

// GPUs that work on one sample together: tensor, pipeline and context parallelism.
inline int64_t GpusOfASample(const TrainingSpec& training) {
  return training.tensor_parallel_size.value_or(1) * training.pipeline_parallel_size.value_or(1) *
         training.context_parallel_size.value_or(1);
}

// Whether a training must say how long it runs: what fits in memory does not depend on it.
enum class RunLength { kRequired, kOptional };

// Tokens of a sample where the file does not say max_seq_length.
inline constexpr int64_t kUsualSeqLength = 512;

}  // namespace gpuadvise
