// Networks over pictures, films and sound, and the size of their samples, from the keys of a
// train.yaml or of a preset (media_keys.h). Pure.
#pragma once

#include <optional>

#include "common/training/key_reader.h"
#include "common/training/media_network.h"

namespace gpuadvise {

// What `model` says of one of the sections unet, dit, image_encoder, audio_encoder, convolutions;
// nullopt where it has none. Contradictions and what is missing are noted as errors.
std::optional<MediaNetwork> ReadMediaNetwork(KeyReader& model);

// training.resolution and so on.
MediaSettings ReadMediaSettings(KeyReader& training);

}  // namespace gpuadvise
