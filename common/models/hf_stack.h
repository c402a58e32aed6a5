// One stack of layers from a Hugging Face configuration: text, vision tower or encoder. Knows the
// many field names for hf_config.h. Pure.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "common/models/model_shape.h"

namespace gpuadvise {

// Value of the first of `keys` with a whole number from 1 to 10^8; 0 if none.
int64_t FirstOf(const nlohmann::json& config, std::initializer_list<const char*> keys);
// The number at `key`, or `otherwise`.
double NumberAt(const nlohmann::json& config, const char* key, double otherwise = 0);
// The text at `key`, or "".
std::string TextAt(const nlohmann::json& config, const char* key);
// The object at the first matching key of `keys`, or nullptr.
const nlohmann::json* ObjectAt(const nlohmann::json& config,
                               std::initializer_list<const char*> keys);

// Defaults of a Transformers configuration class, for files that omit them (an older LLaVA names
// its text model by model_type only); null for other types.
nlohmann::json DefaultsOf(const std::string& model_type);

// Which field names apply if a configuration has separate ones for encoder and decoder.
enum class StackPart { kOnly, kEncoder, kDecoder, kVision };

struct HfStack {
  TransformerStack layers;  // before CompleteStack
  double other_params = 0;  // of non-attention layers, beyond `layers`
  std::vector<std::string> assumed;
  bool says_its_mlp = false;  // whether a field states that the MLP is gated
};

HfStack ReadHfStack(const nlohmann::json& config, const std::string& model_type, StackPart part);

}  // namespace gpuadvise
