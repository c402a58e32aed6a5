// Model shape, as far as memory depends on it: stacks of equal transformer layers, embeddings,
// vision tower.
//
// From the keys of `model:` in a train.yaml or preset (Transformers' names), or from a Hugging Face
// config.json. Parameter counts omit biases and norms (under 0.1 %). Values; pure.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/keys/key_reader.h"
#include "common/models/media_network.h"

namespace gpuadvise {

// A stack of equal layers.
struct TransformerStack {
  int64_t hidden_size = 0;
  int64_t num_hidden_layers = 0;
  int64_t num_attention_heads = 0;
  int64_t num_key_value_heads = 0;
  int64_t head_dim = 0;
  int64_t intermediate_size = 0;
  bool gated_mlp = true;         // gate, up and down; otherwise two matrices
  bool rotary = true;            // rotary positions
  bool dropout = false;          // keeps masks
  bool cross_attention = false;  // decoder of an encoder-decoder
  int64_t num_experts = 0;       // 0: one MLP for all tokens
  int64_t num_experts_per_tok = 0;
  int64_t moe_intermediate_size = 0;     // per expert; intermediate_size is for dense layers
  int64_t shared_intermediate_size = 0;  // of shared experts, together
  int64_t num_dense_layers = 0;          // layers without experts, part of num_hidden_layers
  // Latent attention (DeepSeek's MLA): keys and values come from one narrow vector; 0: none.
  // head_dim is then that of queries and keys, including the rotary part.
  int64_t kv_lora_rank = 0;
  int64_t q_lora_rank = 0;  // 0: queries come directly from the hidden state
  int64_t qk_rope_head_dim = 0;
  int64_t v_head_dim = 0;

  bool alibi = false;     // position biases in the scores, which slow fused attention
  bool gelu_new = false;  // an activation of several operations, each of which keeps a copy

  int64_t query_size() const { return num_attention_heads * head_dim; }
  int64_t key_size() const { return num_key_value_heads * head_dim; }
  int64_t expert_layers() const {
    return num_experts > 0 ? num_hidden_layers - num_dense_layers : 0;
  }
  // Mean MLP width used by a token: of active and shared experts.
  int64_t active_intermediate_size() const;
  // One layer, with all experts and the router if there are any.
  double LayerParameters() const;
  double Parameters() const;  // of all layers
  // Used by one token in all layers: only active experts.
  double ActiveParameters() const;
  friend bool operator==(const TransformerStack&, const TransformerStack&) = default;
};

// A matrix by its target_modules name, with its count over all layers.
struct LinearLayer {
  const char* name;
  int64_t in = 0;
  int64_t out = 0;
  int64_t count = 0;
};

// Each expert has its own matrices; routers are excluded (PEFT trains none).
std::vector<LinearLayer> ListLinearLayers(const TransformerStack& stack);

struct VisionTower {
  TransformerStack layers;
  int64_t tokens_per_image = 0;   // seen by the language model
  int64_t patches_per_token = 1;  // patches merged into one token
  // Whether it is not trained; unset: trained where all weights are, without adapters otherwise.
  std::optional<bool> frozen = {};
  friend bool operator==(const VisionTower&, const VisionTower&) = default;
};

struct ModelShape {
  TransformerStack layers;                  // the decoder, or the whole model
  std::optional<TransformerStack> encoder;  // of an encoder-decoder
  std::optional<VisionTower> vision;
  int64_t vocab_size = 0;  // 0: no embeddings
  bool tie_word_embeddings = false;
  bool lm_head = true;       // has an LM head
  int64_t extra_params = 0;  // trainable heads and experts in addition to the layers
  // Parameters in the weight files beyond what is counted (norms, biases, projectors, state-space
  // layers); trained only in full training. Negative if the count is too high.
  int64_t other_params = 0;
  int64_t tower_params = 0;  // part of extra_params given with encoder and vision
  // Network over images, video or audio; `layers` may then be empty, a text tower or a decoder.
  std::optional<MediaNetwork> media;

  double EmbeddingParameters() const;
  double Parameters() const;
  friend bool operator==(const ModelShape&, const ModelShape&) = default;
};

// The shape in `reader`'s object, nullopt if none. With `base`, keys replace those of that shape,
// and derived values (head_dim from hidden_size) are recomputed. Records contradictions and missing
// values as errors ("hidden_size 100 cannot be split over num_attention_heads 12").
std::optional<ModelShape> ReadModelShape(KeyReader& reader, const ModelShape* base = nullptr);

// Fills in common defaults (heads of 128, an MLP of 4 × hidden_size) and records impossible values
// as errors. `fields`: the object of the stack.
void CompleteStack(TransformerStack& stack, FieldReader& fields);

// Combines layers and network: layers next to an audio network are its decoder; without layers
// there is no vocabulary. REQUIRES: shape.media.
void JoinMedia(ModelShape& shape);

// Adjusts the parameter count of `shape` to that of its weight files; reports a large difference in
// `assumed`.
void MatchParameters(double params, ModelShape& shape, std::vector<std::string>& assumed);

}  // namespace gpuadvise
