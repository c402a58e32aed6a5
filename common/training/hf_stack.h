// One stack of layers from the fields of a Hugging Face configuration: that of the text, of a
// vision tower, of an encoder. The part of hf_config.h that knows the fields' many names. Pure.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "common/training/model_shape.h"

namespace gpuadvise {

// The first of `keys` that `config` has as a whole number from 1 to 10^8; 0 where none is.
int64_t FirstOf(const nlohmann::json& config, std::initializer_list<const char*> keys);
// The number at `key`, `otherwise` where there is none.
double NumberAt(const nlohmann::json& config, const char* key, double otherwise = 0);
// The text at `key`, "" where there is none.
std::string TextAt(const nlohmann::json& config, const char* key);
// The object at the first of `keys` that is one; nullptr where none is.
const nlohmann::json* ObjectAt(const nlohmann::json& config,
                               std::initializer_list<const char*> keys);

// What a part of Transformers' configuration is by default, for files that leave it out (an older
// LLaVA names its text model by model_type alone); null for other types.
nlohmann::json DefaultsOf(const std::string& model_type);

// Which fields' names hold where a configuration has those of an encoder and of a decoder.
enum class StackPart { kOnly, kEncoder, kDecoder, kVision };

struct HfStack {
  TransformerStack layers;  // not completed (CompleteStack)
  double other_params = 0;  // of layers that are no attention, beyond what `layers` counts
  std::vector<std::string> assumed;
  bool says_its_mlp = false;  // a field said whether the MLP is gated
};

HfStack StackOf(const nlohmann::json& config, const std::string& model_type, StackPart part);

}  // namespace gpuadvise
