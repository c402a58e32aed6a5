// Training settings for a network over images, video or audio: which layers have adapters, and what
// a micro-batch keeps. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/models/media_network.h"
#include "common/spec/train_spec.h"

namespace gpuadvise {

// Sets in `training` which linear layers get adapters from `targets` (target_modules; empty: the
// usual ones). The usual ones are attention's for diffusion networks, as in diffusers' scripts, and
// all for others.
void ReadAdapterTargets(const MediaNetwork& network, const std::vector<std::string>& targets,
                        MediaTraining& training);

// Bytes for all samples of a micro-batch.
struct MediaActivations {
  double kept = 0;
  double at_work = 0;  // in addition, while a block is recomputed or latents are encoded
};
MediaActivations CountMediaActivations(const SampleWork& sample, Checkpointing checkpointing,
                                       int64_t micro_batch);

}  // namespace gpuadvise
