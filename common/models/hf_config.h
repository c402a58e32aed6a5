// Model shape from a Hugging Face config.json, read by field rather than by a list of
// architectures: any Transformers model, text only or with a vision tower, decoder, encoder or
// both, dense or mixture of experts.
//
// Transformers' classes use many names for the same thing (n_embd, d_model, hidden_size); the first
// existing field counts. Missing facts (two or three matrices per MLP) follow from the norm and
// activation, and omissions are reported. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/models/model_shape.h"

namespace gpuadvise {

// `assumed` receives defaults for missing fields and assumptions about the architecture. Errors:
// kBadInput with a pointer below `pointer`.
Result<ModelShape> ShapeFromHfConfig(const nlohmann::json& config, const std::string& pointer,
                                     std::vector<std::string>& assumed);

}  // namespace gpuadvise
