// Bytes that an optimizer keeps for each parameter that it updates, by Transformers' name of it.
// Pure.
#pragma once

#include <string>
#include <string_view>

namespace gpuadvise {

struct OptimizerBytes {
  double states = 8;        // a parameter of a matrix, on whichever device
  double table_states = 8;  // a parameter of the embeddings and the scores' layer
  bool gradients = true;    // kept until the step; else each is used as soon as it is there
  bool paged = false;       // states go to the host's memory when the GPU runs short
  bool known = true;        // else counted as Adam
};

// `half`: states are in half precision, as weights are. `hidden_size`: for optimizers that keep a
// projection of low rank (GaLore, APOLLO).
OptimizerBytes BytesOfOptimizer(std::string_view optim, bool half, double hidden_size);

}  // namespace gpuadvise
