// Networks over pictures, films and sound from the keys of `model:` (media_keys.h) and from the
// configurations that diffusers and Transformers write. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/training/key_reader.h"
#include "common/training/media_network.h"

namespace gpuadvise {

// What `model` says of one of the sections unet, dit, image_encoder, audio_encoder, convolutions;
// nullopt where it has none. Contradictions and what is missing are noted as errors.
std::optional<MediaNetwork> ReadMediaNetwork(KeyReader& model);

// training.resolution and so on.
MediaSettings ReadMediaSettings(KeyReader& training);

// From unet/config.json or transformer/config.json of a diffusers folder (`_class_name`), or from
// the config.json of a ViT, Whisper, wav2vec2, ResNet … (`model_type`). nullopt: another kind of
// model. What the file leaves open is said in `assumed`. Errors: kBadInput at `pointer`, where a
// class of diffusers is not known here.
Result<std::optional<MediaNetwork>> MediaFromConfig(const nlohmann::json& config,
                                                    const std::string& pointer,
                                                    std::vector<std::string>& assumed);

}  // namespace gpuadvise
