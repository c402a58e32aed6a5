// Activations kept from the forward pass for the backward pass, in bytes, from the shape of a
// layer.
//
// Counted as autograd keeps them: each operation keeps what its gradient needs. A linear layer
// keeps its input only if its weight or an adapter is trained. RMSNorm as written in Transformers
// keeps an fp32 copy of its input. SiLU keeps its input; the product with `up` keeps both factors.
// Rotary positions keep nothing, because their cosines are not trained. Fused kernels (Liger's
// sources: one copy in RMSNorm, only gate and up in SwiGLU) and compiled ones (which recompute
// cheap operations) keep less. Pure.
#pragma once

#include <cstdint>

#include "common/memory/memory_constants.h"
#include "common/models/model_shape.h"
#include "common/spec/training_setup.h"

namespace gpuadvise {

// A text that a stack works on.
struct TextRow {
  int64_t tokens = 0;
  int64_t seen = 0;  // tokens of the encoder's row, which cross-attention sees; 0: as many

  // Tokens that cross-attention sees for each of its own.
  double SeenPerToken() const {
    return seen > 0 ? static_cast<double>(seen) / static_cast<double>(tokens) : 1;
  }
};

// Text tokens of a sample's longest input. Without an encoder the target follows it in one text.
int64_t InputTokens(const ModelShape& model, const TrainingSetup& setup);

// The row of the model's own layers, where the input of a sample with its images has `in_row`
// tokens: an encoder-decoder's decoder may have one of max_target_length.
TextRow RowOfLayers(const ModelShape& model, const TrainingSetup& setup, int64_t in_row);

// Bytes kept per token by one layer (the mean over layers of a mixture of experts), without
// checkpointing, in such rows.
double AutogradBytesOfLayer(const TransformerStack& stack, const TrainingSetup& setup,
                            const TextRow& row,
                            const MemoryConstants& constants = kMemoryConstants);

struct StackActivations {
  double kept = 0;         // since the forward pass
  double at_work = 0;      // during one layer's backward pass
  double checkpoints = 0;  // of `kept`, before some are offloaded
};

// Activations of `layers` layers for `rows` rows.
StackActivations CountActivations(const TransformerStack& stack, const TrainingSetup& setup,
                                  const TextRow& row, double rows, double layers,
                                  const MemoryConstants& constants);

// Bytes of logits when the loss is computed.
struct LossBytes {
  double in_use = 0;
  double freed = 0;  // in blocks of the allocator that stay reserved
};

// Of the logits of `tokens` tokens.
LossBytes CountLossBytes(const ModelShape& model, const TrainingSetup& setup, double tokens,
                         const MemoryConstants& constants);

}  // namespace gpuadvise
