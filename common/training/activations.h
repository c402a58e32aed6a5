// What the forward pass keeps for the backward pass, in bytes, from the shape of a layer.
//
// Counted as autograd keeps it: an operation keeps what its gradient needs. A linear layer keeps
// its input only where its weight or an adapter beside it is trained; RMSNorm as Transformers
// writes it keeps a copy of its input in fp32; SiLU keeps its input, the product with `up` both
// factors; rotary positions keep nothing, because their cosines are not trained. Fused kernels
// (Liger's sources: one copy in RMSNorm, gate and up alone in SwiGLU) and compiled ones (which
// recompute what is cheap) keep less. Pure.
#pragma once

#include <cstdint>

#include "common/training/memory_constants.h"
#include "common/training/model_shape.h"
#include "common/training/training_setup.h"

namespace gpuadvise {

// Bytes that autograd keeps of one layer (the mean over layers of a mixture of experts) for one
// token, without checkpointing, where rows are `tokens_in_row` long.
double AutogradBytesOfLayer(const TransformerStack& stack, const TrainingSetup& setup,
                            int64_t tokens_in_row,
                            const MemoryConstants& constants = kMemoryConstants);

struct StackActivations {
  double kept = 0;     // from the forward pass on
  double at_work = 0;  // while one layer is in its backward pass
};

// Of `tokens` tokens in rows of `tokens_in_row`, in `layers` of the stack's layers.
StackActivations ActivationsOf(const TransformerStack& stack, const TrainingSetup& setup,
                               int64_t tokens_in_row, double tokens, double layers,
                               const MemoryConstants& constants);

// Bytes of the scores of every word for `tokens` tokens at the moment of the loss.
double LogitsBytes(const ModelShape& model, const TrainingSetup& setup, double tokens,
                   const MemoryConstants& constants);

}  // namespace gpuadvise
