// How a model is trained on a GPU, as values that memory and run time are counted from.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "common/models/model_shape.h"
#include "common/spec/train_spec.h"

namespace gpuadvise {

// How a model is trained on each of `gpus` GPUs.
struct TrainingSetup {
  Precision precision = Precision::kBf16;
  Checkpointing checkpointing = Checkpointing::kNone;
  int64_t micro_batch = 1;
  int64_t seq_length = 1;
  int64_t target_length = 0;  // of an encoder-decoder's output (0: seq_length); else added
  int64_t images = 0;         // of a sample
  int64_t gpus = 1;           // that share states, in all
  bool pure_half = false;     // weights, gradients and states in half precision
  bool deepspeed = false;
  int zero_stage = 0;  // 0 to 3; FSDP: full_shard 3, shard_grad_op 2
  Offload offload = Offload::kNone;
  Method method = Method::kFull;
  int64_t lora_rank = 8;
  std::vector<std::string> target_modules;   // empty: all linear layers
  std::vector<std::string> modules_to_save;  // trained whole beside the adapters
  std::string optim = "adamw_torch";
  bool flash_attention = true;  // attention keeps no scores
  bool tf32 = false;            // products of fp32 in TF32, where the GPU has it
  bool compiled = false;
  bool chunked_cross_entropy = false;
  bool use_liger_kernel = false;
  double lora_dropout = 0;
  BaseWeights base_weights = BaseWeights::kAuto;
  bool activation_offload = false;
  bool optimizer_in_backward = false;
  Trainer trainer = Trainer::kSft;
  int64_t tensor_parallel = 1;  // GPUs that share a layer, and so on; their product divides `gpus`
  int64_t pipeline_parallel = 1;
  int64_t context_parallel = 1;
  int64_t expert_parallel = 1;
  double mean_seq_length = 0;  // 0: seq_length
  bool fp8 = false;
  double software_year = 0;  // 0: today's
  bool accumulates = false;  // gradients of a micro-batch wait for those of others
  // Keys and values that several queries share are copied for each: in PyTorch's own attention, as
  // trainers call it, but not in FlashAttention.
  bool repeats_key_values = false;
  MediaSettings media;            // of samples that are pictures, films or sound
  bool hybrid_shard = false;      // zero_stage holds within a node; nodes have copies
  bool upcast_logits = true;      // the loss is computed in fp32
  bool reentrant = true;          // checkpointing by torch.utils.checkpoint's older way
  bool double_quantized = false;  // NF4's scales in 8 bits
  bool kbit_prepared = false;     // PEFT's prepare_model_for_kbit_training: the rest is in fp32
};

// How the frozen weights of layers are kept: what base_weights says, else NF4 with qlora.
inline BaseWeights BaseOf(const TrainingSetup& setup) {
  if (setup.method == Method::kFull || setup.base_weights != BaseWeights::kAuto) {
    return setup.method == Method::kFull ? BaseWeights::kAuto : setup.base_weights;
  }
  return setup.method == Method::kQlora ? BaseWeights::kNf4 : BaseWeights::kAuto;
}

// Bytes of a number that a forward or backward pass works on.
inline double NumberBytes(const TrainingSetup& setup) {
  return setup.precision == Precision::kFp32 ? 4 : 2;
}

// Bytes per GPTQ weight: half a byte, a scale and a zero per group of 128.
inline constexpr double kGptqBytes = 0.5 + 4.5 / 128;

// Bytes per weight of NF4's scales in bitsandbytes: a float for 64 weights, or with double
// quantisation a byte, and a float for 256 of those.
inline double Nf4ScaleBytes(const TrainingSetup& setup) {
  return setup.double_quantized ? 1.0 / 64 + 4.0 / (64 * 256) : 4.0 / 64;
}
inline bool HasFourBitBase(const TrainingSetup& setup) {
  return BaseOf(setup) == BaseWeights::kNf4 || BaseOf(setup) == BaseWeights::kGptq4;
}

// That one forward pass of a sample works on: two where a chosen and a rejected answer are compared
// (TRL's documentation of each trainer).
inline int64_t SequencesOfASample(const TrainingSetup& setup) {
  const bool two = setup.trainer == Trainer::kDpo || setup.trainer == Trainer::kOrpo ||
                   setup.trainer == Trainer::kReward;
  return two ? 2 : 1;
}

// GPUs that each take samples of their own: what tensor, pipeline and context parallelism leave.
inline int64_t DataParallelGpus(const TrainingSetup& setup) {
  const int64_t share = setup.tensor_parallel * setup.pipeline_parallel * setup.context_parallel;
  return share < 1 || setup.gpus < share ? 1 : setup.gpus / share;
}

// GPUs that ZeRO or FSDP shards over: all that hold the same part of the model. With hybrid_shard
// those of one node, which is taken to have kNodeOfShards.
inline constexpr int64_t kNodeOfShards = 8;
inline int64_t ShardingGpus(const TrainingSetup& setup) {
  const int64_t all = DataParallelGpus(setup) * setup.context_parallel;
  return setup.hybrid_shard ? std::min(all, kNodeOfShards) : all;
}

// What `training` says, on a GPU in `precision`; auto is checkpointing off.
TrainingSetup SetupFrom(const TrainingSpec& training, Precision precision, int64_t gpus);

}  // namespace gpuadvise
