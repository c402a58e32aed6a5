// Bytes per updated parameter kept by an optimizer, by its Transformers name. Pure.
#pragma once

#include <string>
#include <string_view>

namespace gpuadvise {

struct OptimizerBytes {
  double states = 8;        // per matrix parameter, on any device
  double table_states = 8;  // per embedding or LM head parameter
  bool gradients = true;    // kept until the step; otherwise used immediately
  bool paged = false;       // states may move to host memory
  bool known = true;        // if false, counted as Adam
};

// `half`: states are in half precision like the weights. `hidden_size`: for optimizers with
// low-rank projections (GaLore, APOLLO).
OptimizerBytes LookUpOptimizerBytes(std::string_view optim, bool half, double hidden_size);

}  // namespace gpuadvise
