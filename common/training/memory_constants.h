// What the count of peak memory (memory_model.h) does not take from shapes: sizes of libraries and
// buckets, and how much of a layer is at work at once. MemoryConstantTable() says of each where it
// comes from; those marked `chosen` are fitted, the others follow from how the software is written.
// Values; pure.
#pragma once

#include <span>

#include "common/training/constant_info.h"

namespace gpuadvise {

struct MemoryConstants {
  double context_bytes = 0.9e9;           // of the driver and of libraries, a process
  double nccl_bytes = 0.3e9;              // more where there are several GPUs
  double fragmentation_share = 0.05;      // reserved beyond what is in use
  double fsdp_share = 0.05;               // the same, more, where shards are gathered
  double deepspeed_bucket_bytes = 1.2e9;  // reduce and all-gather
  double logits_bytes = 16;               // of a word and token, under autocast
  double plain_logits_bytes = 12;         // the same without autocast
  double half_logits_bytes = 8;           // the same in DeepSpeed's fp16
  double chunked_logits_bytes = 6;        // the same where the loss goes over the scores in chunks
  double compiled_chunk_bytes = 4;        // the same where that loss is compiled
  double nf4_input_bytes = 14;            // of a hidden size, that a 4-bit layer keeps besides
  double layer_at_work = 1.9;             // of a layer's activations: recomputed, with gradients
  double layer_in_backward = 0.3;         // of a layer's activations: gradients alone
  double dora_share = 1.25;               // of a layer's activations, over LoRA's
  double varying_logits = 2;              // blocks of scores kept beside, where lengths vary
  // Of a card whose usable memory nobody has read: a share, less what the driver takes of any.
  double usable_share = 0.99;
  double driver_bytes = 0.2 * (1 << 30);
};

inline constexpr MemoryConstants kMemoryConstants;

// All members of MemoryConstants.
std::span<const ConstantInfo<MemoryConstants>> MemoryConstantTable();

}  // namespace gpuadvise
