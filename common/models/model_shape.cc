#include "common/models/model_shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/models/media_reading.h"

namespace gpuadvise {
namespace {

constexpr int64_t kUsualHeadDim = 128;

// Clears values derived from other keys, so that they are recomputed from new ones.
TransformerStack WithoutDerived(TransformerStack stack) {
  if (stack.query_size() == stack.hidden_size) stack.head_dim = 0;
  if (stack.num_key_value_heads == stack.num_attention_heads) stack.num_key_value_heads = 0;
  if (stack.intermediate_size == 4 * stack.hidden_size) stack.intermediate_size = 0;
  return stack;
}

void ReadExperts(KeyReader& reader, TransformerStack& stack) {
  const auto read = [&](const char* key, int64_t& value) {
    value = reader.Int(key).value_or(value);
  };
  read("num_experts", stack.num_experts);
  read("num_experts_per_tok", stack.num_experts_per_tok);
  read("moe_intermediate_size", stack.moe_intermediate_size);
  read("shared_intermediate_size", stack.shared_intermediate_size);
  read("num_dense_layers", stack.num_dense_layers);
  read("kv_lora_rank", stack.kv_lora_rank);
  read("q_lora_rank", stack.q_lora_rank);
  read("qk_rope_head_dim", stack.qk_rope_head_dim);
  read("v_head_dim", stack.v_head_dim);
}

// nullopt if too little is given.
std::optional<TransformerStack> ReadStack(KeyReader& reader, const TransformerStack* base,
                                          bool is_text) {
  TransformerStack stack = base != nullptr ? WithoutDerived(*base) : TransformerStack();
  const auto read = [&](const char* key, int64_t& value) {
    value = reader.Int(key).value_or(value);
  };
  read("hidden_size", stack.hidden_size);
  read("num_hidden_layers", stack.num_hidden_layers);
  read("num_attention_heads", stack.num_attention_heads);
  read("num_key_value_heads", stack.num_key_value_heads);
  read("head_dim", stack.head_dim);
  read("intermediate_size", stack.intermediate_size);
  stack.gated_mlp = reader.Bool("gated_mlp").value_or(stack.gated_mlp);
  stack.rotary = reader.Bool("rotary").value_or(stack.rotary);
  stack.dropout = reader.Bool("dropout").value_or(stack.dropout);
  stack.alibi = reader.Bool("alibi").value_or(stack.alibi);
  stack.gelu_new = reader.Bool("gelu_new").value_or(stack.gelu_new);
  if (is_text) ReadExperts(reader, stack);
  if (stack.hidden_size == 0 || stack.num_hidden_layers == 0) return {};
  CompleteStack(stack, reader.fields());
  return stack;
}

void CompleteExperts(TransformerStack& stack, FieldReader& fields) {
  if (stack.num_experts == 0) return;
  if (stack.moe_intermediate_size == 0) stack.moe_intermediate_size = stack.intermediate_size;
  if (stack.num_experts_per_tok == 0 || stack.num_experts_per_tok > stack.num_experts) {
    fields.Refuse("num_experts_per_tok",
                  fmt::format("num_experts {} needs num_experts_per_tok from 1 to {}: the experts "
                              "that a token passes through",
                              stack.num_experts, stack.num_experts));
  }
  if (stack.num_dense_layers > stack.num_hidden_layers) {
    fields.Refuse("num_dense_layers",
                  fmt::format("num_dense_layers {} are more than num_hidden_layers {}",
                              stack.num_dense_layers, stack.num_hidden_layers));
  }
}

double Product(int64_t a, int64_t b) { return static_cast<double>(a) * static_cast<double>(b); }

double AttentionParameters(const TransformerStack& stack) {
  const int64_t h = stack.hidden_size;
  if (stack.kv_lora_rank == 0) {
    return 2 * Product(h, stack.query_size() + stack.key_size()) * (stack.cross_attention ? 2 : 1);
  }
  // DeepSeek-V2's paper, section 2.1: queries and keys-values are projected down and up again.
  const int64_t values = stack.v_head_dim * stack.num_attention_heads;
  const int64_t plain_keys = (stack.head_dim - stack.qk_rope_head_dim) * stack.num_attention_heads;
  const double queries = stack.q_lora_rank > 0 ? Product(stack.q_lora_rank, h + stack.query_size())
                                               : Product(h, stack.query_size());
  return queries + Product(h, stack.kv_lora_rank + stack.qk_rope_head_dim) +
         Product(stack.kv_lora_rank, plain_keys + values) + Product(values, h);
}

// Matrices of an MLP of this width.
double MlpParameters(const TransformerStack& stack, int64_t width) {
  return (stack.gated_mlp ? 3 : 2) * Product(stack.hidden_size, width);
}

double ExpertLayerParameters(const TransformerStack& stack, int64_t experts) {
  return AttentionParameters(stack) + Product(stack.hidden_size, stack.num_experts) +
         static_cast<double>(experts) * MlpParameters(stack, stack.moe_intermediate_size) +
         MlpParameters(stack, stack.shared_intermediate_size);
}

double OfAllLayers(const TransformerStack& stack, int64_t experts) {
  const double dense = AttentionParameters(stack) + MlpParameters(stack, stack.intermediate_size);
  const int64_t with_experts = stack.expert_layers();
  double all = static_cast<double>(stack.num_hidden_layers - with_experts) * dense;
  if (with_experts > 0) {
    all += static_cast<double>(with_experts) * ExpertLayerParameters(stack, experts);
  }
  return all;
}

}  // namespace

void CompleteStack(TransformerStack& stack, FieldReader& fields) {
  if (stack.hidden_size == 0 || stack.num_hidden_layers == 0) {
    fields.errors()->Note(
        "a model's shape needs hidden_size and num_hidden_layers at least (its config.json has "
        "them)",
        fields.pointer());
    return;
  }
  if (stack.num_attention_heads == 0) {
    const int64_t size = stack.head_dim > 0 ? stack.head_dim : kUsualHeadDim;
    const bool even = stack.hidden_size % size == 0;
    stack.num_attention_heads = even ? stack.hidden_size / size : 1;
  }
  if (stack.num_key_value_heads == 0) stack.num_key_value_heads = stack.num_attention_heads;
  if (stack.intermediate_size == 0) stack.intermediate_size = 4 * stack.hidden_size;
  if (stack.num_attention_heads % stack.num_key_value_heads != 0) {
    fields.Refuse(
        "num_key_value_heads",
        fmt::format("num_attention_heads {} cannot share num_key_value_heads {}: one must "
                    "divide the other",
                    stack.num_attention_heads, stack.num_key_value_heads));
  }
  CompleteExperts(stack, fields);
  if (stack.head_dim == 0) {
    if (stack.hidden_size % stack.num_attention_heads != 0) {
      fields.Refuse("hidden_size",
                    fmt::format("hidden_size {} cannot be split over "
                                "num_attention_heads {}; give head_dim if it is meant",
                                stack.hidden_size, stack.num_attention_heads));
      return;
    }
    stack.head_dim = stack.hidden_size / stack.num_attention_heads;
  }
  if (stack.kv_lora_rank > 0 && stack.v_head_dim == 0) stack.v_head_dim = stack.head_dim;
  if (stack.qk_rope_head_dim > stack.head_dim) {
    fields.Refuse("qk_rope_head_dim", fmt::format("qk_rope_head_dim {} is a part of head_dim {}",
                                                  stack.qk_rope_head_dim, stack.head_dim));
  }
}

int64_t TransformerStack::active_intermediate_size() const {
  if (expert_layers() == 0) return intermediate_size;
  const double active = Product(num_experts_per_tok, moe_intermediate_size) +
                        static_cast<double>(shared_intermediate_size);
  const double of_layers =
      Product(num_dense_layers, intermediate_size) + static_cast<double>(expert_layers()) * active;
  return std::llround(of_layers / static_cast<double>(num_hidden_layers));
}

double TransformerStack::LayerParameters() const {
  if (expert_layers() > 0) return ExpertLayerParameters(*this, num_experts);
  return AttentionParameters(*this) + MlpParameters(*this, intermediate_size);
}

double TransformerStack::Parameters() const { return OfAllLayers(*this, num_experts); }

double TransformerStack::ActiveParameters() const {
  return OfAllLayers(*this, num_experts_per_tok);
}

std::vector<LinearLayer> ListLinearLayers(const TransformerStack& stack) {
  const int64_t h = stack.hidden_size;
  const int64_t layers = stack.num_hidden_layers;
  const int64_t heads = stack.num_attention_heads;
  std::vector<LinearLayer> linears;
  if (stack.kv_lora_rank > 0) {
    if (stack.q_lora_rank > 0) {
      linears.push_back({"q_a_proj", h, stack.q_lora_rank, layers});
      linears.push_back({"q_b_proj", stack.q_lora_rank, stack.query_size(), layers});
    } else {
      linears.push_back({"q_proj", h, stack.query_size(), layers});
    }
    const int64_t keys = heads * (stack.head_dim - stack.qk_rope_head_dim + stack.v_head_dim);
    linears.push_back(
        {"kv_a_proj_with_mqa", h, stack.kv_lora_rank + stack.qk_rope_head_dim, layers});
    linears.push_back({"kv_b_proj", stack.kv_lora_rank, keys, layers});
    linears.push_back({"o_proj", heads * stack.v_head_dim, h, layers});
  } else {
    linears = {{"q_proj", h, stack.query_size(), layers},
               {"k_proj", h, stack.key_size(), layers},
               {"v_proj", h, stack.key_size(), layers},
               {"o_proj", stack.query_size(), h, layers}};
  }
  const auto add_mlp = [&](int64_t width, int64_t count) {
    if (width == 0 || count == 0) return;
    linears.push_back({"up_proj", h, width, count});
    linears.push_back({"down_proj", width, h, count});
    if (stack.gated_mlp) linears.push_back({"gate_proj", h, width, count});
  };
  add_mlp(stack.intermediate_size, layers - stack.expert_layers());
  add_mlp(stack.moe_intermediate_size, stack.expert_layers() * stack.num_experts);
  add_mlp(stack.shared_intermediate_size, stack.expert_layers());
  return linears;
}

double ModelShape::EmbeddingParameters() const {
  const bool second = lm_head && !tie_word_embeddings;
  return static_cast<double>(vocab_size) * static_cast<double>(layers.hidden_size) *
         (second ? 2 : 1);
}

double ModelShape::Parameters() const {
  return layers.Parameters() + (encoder ? encoder->Parameters() : 0) +
         (vision ? vision->layers.Parameters() : 0) + EmbeddingParameters() +
         static_cast<double>(extra_params + other_params) + (media ? MediaParameters(*media) : 0);
}

void JoinMedia(ModelShape& shape) {
  if (shape.layers.num_hidden_layers == 0) {
    shape.lm_head = false;
    shape.vocab_size = 0;
    return;
  }
  if (auto* audio = std::get_if<AudioEncoderShape>(&shape.media->shape)) {
    shape.layers.cross_attention = true;
    audio->read_by_layers = shape.layers.num_hidden_layers;
    audio->read_by_key_size = shape.layers.key_size();
  }
}

std::optional<ModelShape> ReadModelShape(KeyReader& reader, const ModelShape* base) {
  ModelShape shape = base != nullptr ? *base : ModelShape();
  auto layers = ReadStack(reader, base != nullptr ? &base->layers : nullptr, true);
  shape.vocab_size = reader.Int("vocab_size").value_or(shape.vocab_size);
  shape.tie_word_embeddings =
      reader.Bool("tie_word_embeddings").value_or(shape.tie_word_embeddings);
  shape.lm_head = reader.Bool("lm_head").value_or(shape.lm_head);
  const double beside = reader.Number("extra_params")
                            .value_or(static_cast<double>(shape.extra_params - shape.tower_params));
  shape.other_params = static_cast<int64_t>(
      reader.Number("other_params").value_or(static_cast<double>(shape.other_params)));
  std::optional<double> of_encoder;
  std::optional<double> of_vision;
  if (auto encoder = reader.Map("encoder")) {
    shape.encoder = ReadStack(*encoder, shape.encoder ? &*shape.encoder : nullptr, false);
    of_encoder = encoder->Number("params");
    encoder->Finish();
  }
  if (auto vision = reader.Map("vision")) {
    VisionTower tower = shape.vision.value_or(VisionTower());
    const auto stack = ReadStack(*vision, shape.vision ? &shape.vision->layers : nullptr, false);
    tower.tokens_per_image = vision->Int("tokens_per_image").value_or(tower.tokens_per_image);
    tower.patches_per_token = vision->Int("patches_per_token").value_or(tower.patches_per_token);
    if (const auto frozen = vision->Bool("frozen")) tower.frozen = frozen;
    of_vision = vision->Number("params");
    vision->Finish();
    if (stack) {
      tower.layers = *stack;
      shape.vision = tower;
    }
  }
  if (of_encoder || of_vision) {
    shape.tower_params = static_cast<int64_t>(of_encoder.value_or(0) + of_vision.value_or(0));
  }
  shape.extra_params = static_cast<int64_t>(beside) + shape.tower_params;
  if (auto media = ReadMediaNetwork(reader)) shape.media = *media;
  if (!layers && !shape.media) return {};
  if (layers) shape.layers = *layers;
  if (shape.media) JoinMedia(shape);
  if (shape.encoder) shape.layers.cross_attention = true;
  return shape;
}

void MatchParameters(double params, ModelShape& shape, std::vector<std::string>& assumed) {
  constexpr double kClose = 0.01;
  const double table =
      static_cast<double>(shape.vocab_size) * static_cast<double>(shape.layers.hidden_size);
  const bool second_table = shape.lm_head && !shape.tie_word_embeddings;
  const double without = std::abs(shape.Parameters() - table - params);
  if (second_table && without < kClose * params &&
      without < std::abs(shape.Parameters() - params)) {
    shape.tie_word_embeddings = true;  // the files have only one of the two
  }
  const double counted = shape.Parameters();
  if (std::abs(counted - params) > kClose * params) {
    assumed.push_back(fmt::format(
        "the {:.2f} B parameters that are given, of which {:.2f} B are in layers that are known "
        "here; the rest is held in memory and takes no time",
        params / 1e9, counted / 1e9));
  }
  constexpr double kMostOther = 1e18;  // keeps absurd shapes within 64 bits
  shape.other_params += std::llround(std::clamp(params - counted, -kMostOther, kMostOther));
}

}  // namespace gpuadvise
