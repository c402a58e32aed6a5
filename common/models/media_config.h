// Image, video and audio models from diffusers' and Transformers' configurations. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/models/model_shape.h"

namespace gpuadvise {

// From unet/config.json or transformer/config.json of a diffusers folder (identified by
// `_class_name`), or the config.json of a ViT, CLIP, Whisper, wav2vec2, ResNet … (by `model_type`).
// nullopt: another kind of model. `assumed` receives assumptions. Errors: kBadInput at `pointer` if
// a diffusers class is unknown or lacks required fields.
Result<std::optional<ModelShape>> MediaShapeFromConfig(const nlohmann::json& config,
                                                       const std::string& pointer,
                                                       std::vector<std::string>& assumed);

// From either kind of configuration; others go to ShapeFromHfConfig.
Result<ModelShape> ShapeFromConfig(const nlohmann::json& config, const std::string& pointer,
                                   std::vector<std::string>& assumed);

}  // namespace gpuadvise
