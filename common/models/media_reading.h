// Reads image, video and audio networks and sample sizes from the keys of a train.yaml or preset
// (media_keys.h). Pure.
#pragma once

#include <optional>

#include "common/keys/key_reader.h"
#include "common/models/media_network.h"

namespace gpuadvise {

// The network in one of the sections unet, dit, image_encoder, audio_encoder, convolutions of
// `model`; nullopt if none. Records contradictions and missing values as errors.
std::optional<MediaNetwork> ReadMediaNetwork(KeyReader& model);

// Reads training.resolution and related keys.
MediaSettings ReadMediaSettings(KeyReader& training);

}  // namespace gpuadvise
