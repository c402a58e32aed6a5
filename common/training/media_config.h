// Models over pictures, films and sound from the configurations that diffusers and Transformers
// write beside their weights. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/training/model_shape.h"

namespace gpuadvise {

// From unet/config.json or transformer/config.json of a diffusers folder (known by `_class_name`),
// or from the config.json of a ViT, CLIP, Whisper, wav2vec2, ResNet … (known by `model_type`).
// nullopt: another kind of model. What the file leaves open is said in `assumed`. Errors: kBadInput
// at `pointer`, where a class of diffusers is not known here or lacks what it is counted from.
Result<std::optional<ModelShape>> MediaShapeFromConfig(const nlohmann::json& config,
                                                       const std::string& pointer,
                                                       std::vector<std::string>& assumed);

// From a configuration of either kind: what has no pictures, films or sound by ShapeFromHfConfig.
Result<ModelShape> ShapeFromConfig(const nlohmann::json& config, const std::string& pointer,
                                   std::vector<std::string>& assumed);

}  // namespace gpuadvise
