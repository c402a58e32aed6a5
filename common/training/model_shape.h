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
  int64_t num_dense_layers = 0;          // of num_hidden_layers: those without experts
  // Latent attention (DeepSeek's MLA), where keys and values come out of one narrow vector; 0:
  // none. head_dim is then that of queries and keys, rotary part included.
  int64_t kv_lora_rank = 0;
  int64_t q_lora_rank = 0;  // 0: queries come straight from the hidden state
  int64_t qk_rope_head_dim = 0;
  int64_t v_head_dim = 0;

  bool alibi = false;  // positions are added to the scores, which slows fused attention

  int64_t query_size() const { return num_attention_heads * head_dim; }
  int64_t key_size() const { return num_key_value_heads * head_dim; }
  int64_t expert_layers() const {
    return num_experts > 0 ? num_hidden_layers - num_dense_layers : 0;
  }
  // The width of the MLP that a token passes through, on average over the layers: of the experts
  // those that are active, and the shared ones.
  int64_t active_intermediate_size() const;
  // One layer, the one with experts where there are any: all of them and their router.
  double LayerParameters() const;
  double Parameters() const;  // of all layers
  // Of all layers, what one token passes through: of the experts those that are active.
  double ActiveParameters() const;
  friend bool operator==(const TransformerStack&, const TransformerStack&) = default;
};

// A matrix of a stack's layers under the name that target_modules uses, and how many there are of
// it in all layers together.
struct LinearLayer {
  const char* name;
  int64_t in = 0;
  int64_t out = 0;
  int64_t count = 0;
};

// Every expert's matrices are its own; routers are not among them (PEFT trains none).
std::vector<LinearLayer> LinearsOf(const TransformerStack& stack);

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
  // What the weights' files have beyond what is counted (norms, biases, projectors, state-space
  // layers); trained only with everything else. Below 0 where the count is too high.
  int64_t other_params = 0;
  int64_t tower_params = 0;  // of extra_params: those given with encoder and vision
  // What reads pictures, films or sound; then `layers` may be empty, or a text tower or decoder.
  std::optional<MediaNetwork> media;

  double EmbeddingParameters() const;
  double Parameters() const;
  friend bool operator==(const ModelShape&, const ModelShape&) = default;
};

// The shape that `reader`'s object gives, nullopt when it gives none. With `base` its keys replace
// those of that shape, and what follows from them (head_dim from hidden_size) follows anew.
// Contradictions and what is missing are noted as errors ("hidden_size 100 cannot be split over
// num_attention_heads 12").
std::optional<ModelShape> ReadModelShape(KeyReader& reader, const ModelShape* base = nullptr);

// Fills in what usual models leave out (heads of 128, an MLP of 4 × hidden_size), and notes as an
// error what cannot be. `fields` is the object that the stack was read from.
void CompleteStack(TransformerStack& stack, FieldReader& fields);

// Puts layers and network together: layers beside a network that hears are the decoder of what it
// hears, and without any layers there are no words. REQUIRES: shape.media.
void JoinMedia(ModelShape& shape);

// Makes the count of `shape` that of its weights' files; what it was counted as is said in
// `assumed` where the two are far from each other.
void MatchParameters(double params, ModelShape& shape, std::vector<std::string>& assumed);

}  // namespace gpuadvise
