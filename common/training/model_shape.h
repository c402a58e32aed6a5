// What a model is made of, as far as its memory depends on it: stacks of equal transformer layers,
// embeddings, a vision tower.
//
// From the keys of `model:` in a train.yaml or of a preset (Transformers' names), or from a Hugging
// Face config.json. Parameter counts leave out biases and norms (under 0.1 %). Values; pure.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/training/key_reader.h"
#include "common/training/media_network.h"

namespace gpuadvise {

// Bytes of a weight in NF4: half a byte, and in bitsandbytes a float for every block of 64.
inline constexpr double kNf4Bytes = 0.5 + 4.0 / 64;

// Layers that are all the same.
struct TransformerStack {
  int64_t hidden_size = 0;
  int64_t num_hidden_layers = 0;
  int64_t num_attention_heads = 0;
  int64_t num_key_value_heads = 0;
  int64_t head_dim = 0;
  int64_t intermediate_size = 0;
  bool gated_mlp = true;         // gate, up and down; else two matrices
  bool rotary = true;            // queries and keys are turned by their position
  bool dropout = false;          // keeps masks
  bool cross_attention = false;  // the decoder of an encoder-decoder
  int64_t num_experts = 0;       // of a mixture; 0: one MLP for all tokens
  int64_t num_experts_per_tok = 0;
  int64_t moe_intermediate_size = 0;     // of one expert; intermediate_size is a dense layer's
  int64_t shared_intermediate_size = 0;  // of experts that see every token, together
  int64_t num_dense_layers = 0;          // of num_hidden_layers: the first ones have no experts

  int64_t query_size() const { return num_attention_heads * head_dim; }
  int64_t key_size() const { return num_key_value_heads * head_dim; }
  double LayerParameters() const;
  // Of all layers, what one token passes through: of the experts those that are active.
  double ActiveParameters() const { return Parameters(); }
  double Parameters() const { return static_cast<double>(num_hidden_layers) * LayerParameters(); }
  friend bool operator==(const TransformerStack&, const TransformerStack&) = default;
};

struct VisionTower {
  TransformerStack layers;
  int64_t tokens_per_image = 0;   // that the language model sees
  int64_t patches_per_token = 1;  // that the tower has merged into one of those
  bool frozen = false;
  friend bool operator==(const VisionTower&, const VisionTower&) = default;
};

struct ModelShape {
  TransformerStack layers;                  // the decoder, or all there is
  std::optional<TransformerStack> encoder;  // of an encoder-decoder
  std::optional<VisionTower> vision;
  int64_t vocab_size = 0;  // 0: no embeddings
  bool tie_word_embeddings = false;
  bool lm_head = true;       // scores for every word of the vocabulary come out
  int64_t extra_params = 0;  // trainable heads and experts beside the layers
  // What the weights' files have beyond what is counted (norms, biases, experts); trained only with
  // everything else. Below 0 where the count is too high.
  int64_t other_params = 0;
  // What reads pictures, films or sound; then `layers` may be empty, or a text tower or decoder.
  std::optional<MediaNetwork> media;

  double EmbeddingParameters() const;
  double Parameters() const;
  friend bool operator==(const ModelShape&, const ModelShape&) = default;
};

// The shape that `reader`'s object gives, nullopt when it gives none. Contradictions and what is
// missing are noted as errors ("hidden_size 100 cannot be split over num_attention_heads 12").
std::optional<ModelShape> ReadModelShape(KeyReader& reader);

// From a Hugging Face config.json. What the file leaves out or what its architecture is taken for
// is said in `assumed`. Errors: kBadInput with a pointer below `pointer`.
Result<ModelShape> ShapeFromHfConfig(const nlohmann::json& config, const std::string& pointer,
                                     std::vector<std::string>& assumed);

// Puts layers and network together: layers beside a network that hears are the decoder of what it
// hears, and without any layers there are no words. REQUIRES: shape.media.
void JoinMedia(ModelShape& shape);

// Makes the count of `shape` that of its weights' files; what it was counted as is said in
// `assumed` where the two are far from each other.
void MatchParameters(double params, ModelShape& shape, std::vector<std::string>& assumed);

}  // namespace gpuadvise
