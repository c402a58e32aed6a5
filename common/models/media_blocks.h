// The blocks of a network over images, video or audio, for a given sample size. Used by
// media_network.cc only; tests check single blocks. Pure.
#pragma once

#include <vector>

#include "common/models/media_shape.h"

namespace gpuadvise {

// Per sample and block, in numbers (not bytes).
struct MediaBlock {
  double count = 1;  // number of equal blocks in sequence
  double parameters = 0;
  double input = 0;  // kept for recomputation with checkpointing
  bool checkpointed = true;
  // Kept by autograd: always; at the precision of norms; and as inputs of linear layers for weight
  // gradients. The `_for_weights` parts count only if all weights are trained.
  double kept = 0;
  double kept_norms = 0;
  double kept_norms_for_weights = 0;
  double kept_for_weights = 0;    // only if all weights are trained
  double kept_for_attention = 0;  // only if attention has adapters
  double kept_for_mlp = 0;        // only if the MLP is trained, fully or by adapters
  double scores = 0;              // of attention, without a fused kernel
  double passed = 0;              // written and read again, but not kept
  // Total inputs and outputs of linear layers; equals the parameters of a rank-1 adapter.
  double attention_sides = 0;
  double mlp_sides = 0;
  double matrix_operations = 0;
  double convolution_operations = 0;
  double attention_operations = 0;
  double launches = 0;  // in units of transformer layers
  bool frozen = false;  // keeps nothing and is not trained
};

std::vector<MediaBlock> ExpandBlocks(const MediaNetwork& network, const MediaSize& size);

}  // namespace gpuadvise
