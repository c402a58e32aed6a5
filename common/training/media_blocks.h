// The blocks that a network over pictures, films or sound is a row of, for a sample of a size.
// Used by media_network.cc alone; tests look at single blocks. Pure.
#pragma once

#include <vector>

#include "common/training/media_shape.h"

namespace gpuadvise {

// Numbers, of one sample, in one block.
struct MediaBlock {
  double count = 1;  // equal ones, one after the other
  double parameters = 0;
  double input = 0;  // that is kept of the block where it is computed again
  bool checkpointed = true;
  // What autograd keeps: always; in the size of normalisations, and of these only where all weights
  // are trained; and as inputs of linear layers, for their weights' gradients.
  double kept = 0;
  double kept_norms = 0;
  double kept_norms_for_weights = 0;
  double kept_for_weights = 0;    // only where all weights are trained
  double kept_for_attention = 0;  // only where attention has adapters,
  double kept_for_mlp = 0;        // and where the MLP is trained, whole or by adapters
  double scores = 0;              // of attention, where no fused kernel keeps them away
  // Inputs and outputs of linear layers, together: an adapter of rank 1 has as many parameters.
  double attention_sides = 0;
  double mlp_sides = 0;
  double matrix_operations = 0;
  double convolution_operations = 0;
  double attention_operations = 0;
  double launches = 0;  // in transformer layers
  bool frozen = false;  // keeps nothing, and is not trained
};

std::vector<MediaBlock> BlocksOf(const MediaNetwork& network, const MediaSize& size);

}  // namespace gpuadvise
