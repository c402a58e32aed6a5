// Constants of peak memory (memory_model.h) that shapes do not give: sizes of libraries and
// buckets, and how much of a layer is live at once. MemoryConstantTable() states the source of
// each; those marked `chosen` are fitted, the others follow from the software. Values; pure.
#pragma once

#include <span>

#include "common/memory/constant_info.h"

namespace gpuadvise {

struct MemoryConstants {
  double context_bytes = 0.9e9;           // driver and libraries, per process
  double nccl_bytes = 0.3e9;              // additional, with several GPUs
  double fragmentation_share = 0.05;      // reserved beyond what comes and goes in a step
  double fsdp_share = 0.05;               // … additionally where shards are gathered
  double deepspeed_bucket_bytes = 1.2e9;  // reduce and all-gather
  double logits_bytes = 12;               // in use per vocabulary entry and token
  double half_logits_bytes = 6;           // … with a loss of half-precision scores
  double freed_logits_bytes = 2;          // … freed, in blocks that nothing else fits into
  double chunked_logits_bytes = 6;        // … with a chunked loss
  double compiled_logits_bytes = 4;       // … with a compiled loss
  double layer_at_work = 1.9;             // of a layer's activations: recomputed, with gradients
  double layer_in_backward = 0.3;         // of a layer's activations: gradients only
  double dora_share = 1.25;               // of a layer's activations, relative to LoRA
  double varying_logits = 2.7;            // additional logits blocks with varying lengths
  // Usable memory of cards that were not measured: this share, minus driver_bytes.
  double usable_share = 0.99;
  double driver_bytes = 0.2 * (1 << 30);
};

inline constexpr MemoryConstants kMemoryConstants;

// All members of MemoryConstants.
std::span<const ConstantInfo<MemoryConstants>> MemoryConstantTable();

}  // namespace gpuadvise
