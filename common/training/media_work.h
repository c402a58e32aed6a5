// What settings of a training mean for a network over pictures, films or sound: where its adapters
// are, and what a micro-batch of its samples keeps. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/training/media_network.h"
#include "common/training/train_spec.h"

namespace gpuadvise {

// Which linear layers `targets` (target_modules; empty: the usual ones) puts adapters on, into
// `training`. Of diffusion networks the usual ones are attention's, as in diffusers' scripts, of
// others all.
void ReadAdapterTargets(const MediaNetwork& network, const std::vector<std::string>& targets,
                        MediaTraining& training);

// Bytes of all samples of a micro-batch.
struct MediaActivations {
  double kept = 0;
  double at_work = 0;  // besides, while a block is computed again or latents are made
};
MediaActivations MediaActivationsOf(const SampleWork& sample, Checkpointing checkpointing,
                                    int64_t micro_batch);

}  // namespace gpuadvise
