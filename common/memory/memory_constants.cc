#include "common/memory/memory_constants.h"

#include <array>

namespace gpuadvise {

std::span<const ConstantInfo<MemoryConstants>> MemoryConstantTable() {
  using M = MemoryConstants;
  static constexpr auto kTable = std::to_array<ConstantInfo<MemoryConstants>>({
      {"context_bytes", &M::context_bytes, 0.4e9, 1.8e9, "bytes", true,
       "CUDA context, cuBLAS and cuDNN workspaces", "QwenLM/Qwen, lambdal, unsloth"},
      {"nccl_bytes", &M::nccl_bytes, 0.1e9, 1e9, "bytes", false,
       "buffers of NCCL's channels: a few MB for each channel and peer", ""},
      {"fragmentation_share", &M::fragmentation_share, 0, 0.15,
       "share of activations and workspace", true,
       "blocks of the caching allocator that nothing fits into",
       "all rows that say reserved or nvidia-smi"},
      {"fsdp_share", &M::fsdp_share, 0, 0.2, "share of activations and workspace", true,
       "gathered weights are freed late, because FSDP's streams hold them",
       "fsdp_qlora, peft, torchtitan"},
      {"deepspeed_bucket_bytes", &M::deepspeed_bucket_bytes, 0.2e9, 4e9, "bytes", false,
       "2e8 numbers of 2 bytes, as Transformers' documentation sets the buckets: to reduce, twice "
       "for overlap_comm, and to gather",
       ""},
      {"logits_bytes", &M::logits_bytes, 10, 16, "bytes a word and token", false,
       "in fp32: log-softmax (4), the loss's gradient (4), that of the scores (4)", ""},
      {"half_logits_bytes", &M::half_logits_bytes, 4, 8, "bytes a word and token", false,
       "the same three in half precision", ""},
      {"freed_logits_bytes", &M::freed_logits_bytes, 0, 4, "bytes a word and token", false,
       "the scores in half precision: freed, but their block is too small for a copy in fp32", ""},
      {"chunked_logits_bytes", &M::chunked_logits_bytes, 2, 10, "bytes a word and token", false,
       "scores (2) and log-softmax of all chunks (2 to 4), gradients as they come (2)", ""},
      {"compiled_logits_bytes", &M::compiled_logits_bytes, 2, 6, "bytes a word and token", false,
       "scores (2) and their gradient (2): the rest is fused", ""},
      {"layer_at_work", &M::layer_at_work, 1, 2, "share of a layer's activations", true,
       "with checkpointing: a layer recomputed, and the gradients within it",
       "QwenLM/Qwen, fsdp_qlora, unsloth"},
      {"layer_in_backward", &M::layer_in_backward, 0, 0.6, "share of a layer's activations", false,
       "gradients within a layer, of which the widest are those of its MLP", ""},
      {"dora_share", &M::dora_share, 1, 1.6, "share of a layer's activations", false,
       "DoRA keeps the direction of each merged weight", ""},
      {"varying_logits", &M::varying_logits, 0, 4, "times the scores", false,
       "blocks of one length are too short for the next: ms-swift reserves up to three times the "
       "largest scores",
       ""},
      {"usable_share", &M::usable_share, 0.9, 1, "share of a card", false,
       "with driver_bytes: at most PyTorch's total capacity of 8 to 80 GB cards without ECC", ""},
      {"driver_bytes", &M::driver_bytes, 0, 0.5 * (1 << 30), "bytes", false,
       "a 2080 Ti has 10.75 of 11 GiB, a 4090 23.64 of 24", ""},
  });
  return kTable;
}

}  // namespace gpuadvise
