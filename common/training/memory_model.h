// Peak memory of one GPU in training, by part.
//
// Idea. Two moments decide. At the start of the backward pass there are weights, optimizer states,
// everything the forward pass has kept and the scores of the vocabulary, but no gradients yet; in
// the optimizer's step there are weights, gradients and states, but no activations any more. The
// larger of the two is the peak. (In between activations go as gradients come, so that no other
// moment is higher.)
//
// Each part is counted from shapes, in bytes:
// clang-format off
//   weights       4 a parameter (2 more for the copies of autocast), 2 in pure bf16 or where
//                 DeepSpeed keeps masters, 2 where frozen, 0.5625 as NF4 (a scale for each 64)
//   states        8 a trained parameter for Adam, 2 for 8-bit states, next to none for Adafactor;
//                 and 4 for DeepSpeed's masters
//   activations   for each layer and token what autograd keeps: with flash attention
//                 c (4h + 2(q+k) + q + k + 4i) for a gated MLP and c bytes a number (Korthikanti et
//                 al. 2022 count the same for other blocks); eager attention adds heads × tokens;
//                 with checkpointing the input of each layer, and one layer anew
//   logits        16 a word and token: in half precision, upcast, shifted, their softmax and
//                 gradient
//   workspace     the layer that is being worked on, gathered shards, DeepSpeed's buckets,
//                 temporaries of the optimizer
//   framework     CUDA context and libraries, and what the caching allocator cannot use
// clang-format on
// docs/models.md says how far that is from published measurements, and where it is wrong.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/gpu/gpu_catalogue.h"
#include "common/training/media_network.h"
#include "common/training/model_shape.h"
#include "common/training/train_spec.h"

namespace gpuadvise {

// How a model is trained on each of `gpus` GPUs.
struct TrainingSetup {
  Precision precision = Precision::kBf16;
  Checkpointing checkpointing = Checkpointing::kNone;
  int64_t micro_batch = 1;
  int64_t seq_length = 1;
  int64_t images = 0;      // of a sample
  int64_t gpus = 1;        // that share states, in all
  bool pure_half = false;  // weights, gradients and states in half precision
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
  MediaSettings media;       // of samples that are pictures, films or sound
};

// Bytes.
struct MemoryParts {
  double weights = 0;
  double gradients = 0;
  double optimizer = 0;
  double activations = 0;
  double logits = 0;
  double workspace = 0;
  double framework = 0;
  bool in_step = false;  // the peak is in the optimizer's step, else in the backward pass

  double total() const {
    return weights + gradients + optimizer + activations + logits + workspace + framework;
  }
};

// What the caching allocator reserves beyond what is in use, as a share of it.
inline constexpr double kFragmentationShare = 0.05;

MemoryParts PeakMemory(const ModelShape& model, const TrainingSetup& setup);

// Of one sample that is a picture, a film or sound; all 0 where `model` has no network for them.
SampleWork MediaWorkOf(const ModelShape& model, const TrainingSetup& setup);

// Parameters that an optimizer updates.
double TrainedParameters(const ModelShape& model, const TrainingSetup& setup);

// Bytes that autograd keeps of one layer for one token, without checkpointing, where rows are
// `tokens_in_row` long.
double KeptBytesOfLayer(const TransformerStack& stack, const TrainingSetup& setup,
                        int64_t tokens_in_row);

// Bytes that the optimizer's step reads and writes for each parameter that it updates: weights and
// states both ways, gradients once.
double StepTrafficBytes(const TrainingSetup& setup);

// Bytes of optimizer states and master weights for each parameter that it updates, on whichever
// device they are kept.
double StateBytesPerParameter(const TrainingSetup& setup);

// The largest micro-batch whose peak is at most `bytes`; 0: not even one. At most
// kMostModelledBatch.
int64_t LargestMicroBatch(const ModelShape& model, TrainingSetup setup, double bytes);
inline constexpr int64_t kMostModelledBatch = 65'536;

// What `training` says, on a GPU in `precision`; auto is checkpointing off.
TrainingSetup SetupFrom(const TrainingSpec& training, Precision precision, int64_t gpus);

// The same; auto is checkpointing where the micro-batch, with the share `margin` of the card left
// free, would be small without.
TrainingSetup SetupOn(const GpuModel& gpu, const ModelShape& model, const TrainingSpec& training,
                      Precision precision, int64_t gpus, double margin);

// Of a card's memory, what the driver leaves for use.
double UsableBytes(const GpuModel& gpu);

}  // namespace gpuadvise
