#include "common/training/model_shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "common/base/text.h"
#include "common/base/words.h"
#include "common/training/media_reading.h"

namespace gpuadvise {
namespace {

using nlohmann::json;

constexpr int64_t kUsualHeadDim = 128;

// Fills in what usual models leave out, and refuses what cannot be.
void Complete(TransformerStack& stack, FieldReader& reader) {
  if (stack.hidden_size == 0 || stack.num_hidden_layers == 0) {
    reader.errors()->Note(
        "a model's shape needs hidden_size and num_hidden_layers at least (its config.json has "
        "them)",
        reader.pointer());
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
    reader.Refuse(
        "num_key_value_heads",
        fmt::format("num_attention_heads {} cannot share num_key_value_heads {}: one must "
                    "divide the other",
                    stack.num_attention_heads, stack.num_key_value_heads));
  }
  if (stack.head_dim != 0) return;
  if (stack.hidden_size % stack.num_attention_heads != 0) {
    reader.Refuse("hidden_size", fmt::format("hidden_size {} cannot be split over "
                                             "num_attention_heads {}; give head_dim if it is meant",
                                             stack.hidden_size, stack.num_attention_heads));
    return;
  }
  stack.head_dim = stack.hidden_size / stack.num_attention_heads;
}

// nullopt where too little is said to count anything.
std::optional<TransformerStack> ReadStack(KeyReader& reader) {
  TransformerStack stack;
  const auto hidden = reader.Int("hidden_size");
  const auto layers = reader.Int("num_hidden_layers");
  const auto heads = reader.Int("num_attention_heads");
  stack.num_key_value_heads = reader.Int("num_key_value_heads").value_or(0);
  stack.head_dim = reader.Int("head_dim").value_or(0);
  stack.intermediate_size = reader.Int("intermediate_size").value_or(0);
  stack.gated_mlp = reader.Bool("gated_mlp").value_or(true);
  stack.rotary = reader.Bool("rotary").value_or(true);
  stack.dropout = reader.Bool("dropout").value_or(false);
  if (!hidden || !layers) return {};
  stack.hidden_size = *hidden;
  stack.num_hidden_layers = *layers;
  stack.num_attention_heads = heads.value_or(0);
  Complete(stack, reader.fields());
  return stack;
}

// The first of `keys` that `config` has as a whole number of at least 1.
int64_t FirstOf(const json& config, const std::vector<const char*>& keys) {
  for (const char* key : keys) {
    const auto found = config.find(key);
    if (found == config.end() || !found->is_number_integer()) continue;
    const auto value = found->get<int64_t>();
    if (value >= 1 && value <= 100'000'000) return value;
  }
  return 0;
}

std::string TypeOf(const json& config) {
  const auto found = config.find("model_type");
  return found != config.end() && found->is_string() ? found->get<std::string>() : "";
}

TransformerStack StackOf(const json& config, const std::string& type) {
  TransformerStack stack;
  stack.hidden_size = FirstOf(config, {"hidden_size", "n_embd", "d_model", "dim", "embed_dim"});
  stack.num_hidden_layers =
      FirstOf(config, {"num_hidden_layers", "n_layer", "n_layers", "num_layers", "depth"});
  stack.num_attention_heads =
      FirstOf(config, {"num_attention_heads", "n_head", "n_heads", "num_heads"});
  stack.num_key_value_heads = FirstOf(config, {"num_key_value_heads", "num_kv_heads"});
  stack.head_dim = FirstOf(config, {"head_dim", "d_kv"});
  stack.intermediate_size =
      FirstOf(config, {"intermediate_size", "n_inner", "d_ff", "ffn_dim", "ffn_hidden_size"});
  const bool plain = IsOneOf(type, {"gpt2", "bert", "roberta", "vit", "mpt", "falcon", "gpt_neox",
                                    "phi", "bloom", "opt", "gpt_bigcode", "starcoder2"});
  stack.gated_mlp = !plain;
  stack.rotary = !IsOneOf(
      type, {"gpt2", "bert", "roberta", "vit", "mpt", "bloom", "opt", "t5", "mt5", "umt5"});
  stack.dropout = IsOneOf(type, {"bert", "roberta", "gpt2", "t5", "mt5", "umt5"});
  if (type == "qwen" && stack.intermediate_size > 0) stack.intermediate_size /= 2;  // of both
  if (IsOneOf(type, {"t5", "mt5", "umt5"})) {
    stack.gated_mlp = config.value("feed_forward_proj", "relu").find("gated") != std::string::npos;
  }
  return stack;
}

}  // namespace

double TransformerStack::LayerParameters() const {
  const auto h = static_cast<double>(hidden_size);
  const double attention = 2 * h * static_cast<double>(query_size() + key_size());
  const double mlp = (gated_mlp ? 3 : 2) * h * static_cast<double>(intermediate_size);
  return (cross_attention ? 2 : 1) * attention + mlp;
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

std::optional<ModelShape> ReadModelShape(KeyReader& reader) {
  ModelShape shape;
  auto layers = ReadStack(reader);
  shape.vocab_size = reader.Int("vocab_size").value_or(0);
  shape.tie_word_embeddings = reader.Bool("tie_word_embeddings").value_or(false);
  shape.lm_head = reader.Bool("lm_head").value_or(true);
  double extra = reader.Number("extra_params").value_or(0);
  if (auto encoder = reader.Map("encoder")) {
    shape.encoder = ReadStack(*encoder);
    extra += encoder->Number("params").value_or(0);
    encoder->Finish();
  }
  if (auto vision = reader.Map("vision")) {
    VisionTower tower;
    const auto stack = ReadStack(*vision);
    tower.tokens_per_image = vision->Int("tokens_per_image").value_or(0);
    tower.patches_per_token = vision->Int("patches_per_token").value_or(1);
    tower.frozen = vision->Bool("frozen").value_or(false);
    extra += vision->Number("params").value_or(0);
    vision->Finish();
    if (stack) {
      tower.layers = *stack;
      shape.vision = tower;
    }
  }
  shape.extra_params = static_cast<int64_t>(extra);
  shape.media = ReadMediaNetwork(reader);
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
  if (second_table && std::abs(shape.Parameters() - table - params) < kClose * params) {
    shape.tie_word_embeddings = true;  // the files have one of the two
  }
  const double counted = shape.Parameters();
  if (std::abs(counted - params) > kClose * params) {
    assumed.push_back(fmt::format(
        "the {:.2f} B parameters that are given, of which {:.2f} B are in layers that are known "
        "here; the rest is held in memory and takes no time",
        params / 1e9, counted / 1e9));
  }
  shape.other_params += std::llround(params - counted);
}

Result<ModelShape> ShapeFromHfConfig(const json& config, const std::string& pointer,
                                     std::vector<std::string>& assumed) {
  if (!config.is_object())
    return BadInput("hf_config must be the contents of a config.json", pointer);
  const auto text = config.find("text_config");
  const bool nested = text != config.end() && text->is_object() && !text->contains("_name_or_path");
  const json& main = nested ? *text : config;
  std::string type = TypeOf(main);
  if (type.empty()) type = TypeOf(config);
  static const std::vector<std::string_view> kKnown = {
      "llama",         "mistral",         "qwen",        "qwen2",    "qwen2_vl",      "qwen2_5_vl",
      "qwen2_vl_text", "qwen2_5_vl_text", "qwen3",       "qwen3_vl", "qwen3_vl_text", "gemma",
      "gemma2",        "gemma3",          "gemma3_text", "phi",      "phi3",          "gpt2",
      "bert",          "roberta",         "vit",         "t5",       "mt5",           "umt5",
      "mpt",           "falcon",          "stablelm",    "gpt_neox", "bloom",         "opt",
      "starcoder2",    "smollm3",         "openvla"};
  if (!IsOneOf(type, kKnown)) {
    assumed.push_back(fmt::format(
        "model_type {} is not known here: taken for a decoder like Llama's (gated MLP, rotary "
        "positions)",
        Quoted(type)));
  }
  ModelShape shape;
  shape.layers = StackOf(main, type);
  shape.vocab_size = FirstOf(main, {"vocab_size"});
  const auto tied = main.find("tie_word_embeddings");
  const bool by_default = IsOneOf(
      type, {"gpt2", "bert", "gemma", "gemma2", "gemma3_text", "mpt", "bloom", "t5", "falcon"});
  shape.tie_word_embeddings =
      tied != main.end() && tied->is_boolean() ? tied->get<bool>() : by_default;
  shape.lm_head = !IsOneOf(type, {"vit", "bert", "roberta"});
  FirstError errors;
  FieldReader reader(main, nested ? PointerTo(pointer, "text_config") : pointer, &errors);
  if (IsOneOf(type, {"t5", "mt5", "umt5"})) {
    TransformerStack encoder = shape.layers;
    Complete(encoder, reader);
    shape.encoder = encoder;
    const int64_t decoder = FirstOf(main, {"num_decoder_layers"});
    if (decoder > 0) shape.layers.num_hidden_layers = decoder;
    shape.layers.cross_attention = true;
  }
  Complete(shape.layers, reader);
  const auto vision = config.find("vision_config");
  if (vision != config.end() && vision->is_object() && !errors.failed()) {
    VisionTower tower;
    tower.layers = StackOf(*vision, "vit");
    FieldReader of_tower(*vision, PointerTo(pointer, "vision_config"), &errors);
    Complete(tower.layers, of_tower);
    shape.vision = tower;
    assumed.push_back("how many tokens an image has: give model.vision.tokens_per_image");
  }
  if (errors.failed()) return tl::unexpected<Error>(errors.AsResult().error());
  return shape;
}

}  // namespace gpuadvise
