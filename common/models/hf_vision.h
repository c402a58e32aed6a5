// Additional towers in a Hugging Face configuration: vision, with tokens per image and projector,
// and audio. Part of hf_config.h. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "common/base/json_fields.h"
#include "common/models/model_shape.h"

namespace gpuadvise {

// Adds the towers in `config` to `shape`, whose text part is set. `assumed` receives assumptions
// about images and omissions; `pointer` is that of `config`.
void AddTowers(const nlohmann::json& config, const std::string& pointer, DocumentErrors& errors,
               ModelShape& shape, std::vector<std::string>& assumed);

}  // namespace gpuadvise
