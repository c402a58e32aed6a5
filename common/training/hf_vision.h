// The towers beside the text of a Hugging Face configuration: vision, with the tokens that an image
// becomes and the projector between, and audio. A part of hf_config.h. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "common/base/json_fields.h"
#include "common/training/model_shape.h"

namespace gpuadvise {

// Adds the towers that `config` describes to `shape`, whose text is known already. What an image is
// taken for, and what is not counted, is said in `assumed`; `pointer` is that of `config`.
void AddTowers(const nlohmann::json& config, const std::string& pointer, FirstError& errors,
               ModelShape& shape, std::vector<std::string>& assumed);

}  // namespace gpuadvise
