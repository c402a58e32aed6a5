// The shape of a model from its Hugging Face config.json, read by the file's fields rather than by
// a list of architectures: any transformer of the Transformers library, text alone or beside a
// vision tower, decoder, encoder or both, dense or a mixture of experts.
//
// Transformers' classes name the same thing in many ways (n_embd, d_model, hidden_size); the first
// field that is there counts. What no field says (two or three matrices in an MLP) follows from the
// kind of norm and activation, and what is not counted is said. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/training/model_shape.h"

namespace gpuadvise {

// What the file leaves out or what its architecture is taken for is said in `assumed`. Errors:
// kBadInput with a pointer below `pointer`.
Result<ModelShape> ShapeFromHfConfig(const nlohmann::json& config, const std::string& pointer,
                                     std::vector<std::string>& assumed);

}  // namespace gpuadvise
