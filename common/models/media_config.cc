#include "common/models/media_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/base/text.h"
#include "common/base/words.h"
#include "common/models/hf_config.h"

namespace gpuadvise {
namespace {

using nlohmann::json;

constexpr int64_t kMostInConfig = 10'000'000;

// The whole number at `key`; `without` if missing or out of range.
int64_t NumberIn(const json& config, const char* key, int64_t without = 0) {
  const auto found = config.find(key);
  if (found == config.end()) return without;
  const json& value = found->is_array() && !found->empty() ? found->back() : *found;
  if (!value.is_number_integer()) return without;
  const auto number = value.get<int64_t>();
  return number >= 0 && number <= kMostInConfig ? number : without;
}

double RatioIn(const json& config, const char* key, double without) {
  const auto found = config.find(key);
  const bool good = found != config.end() && found->is_number() && *found > 0 && *found < 100;
  return good ? found->get<double>() : without;
}

std::string WordIn(const json& config, const char* key) {
  const auto found = config.find(key);
  return found != config.end() && found->is_string() ? found->get<std::string>() : "";
}

std::vector<int64_t> NumbersIn(const json& config, const char* key) {
  constexpr size_t kMostLevels = 16;
  std::vector<int64_t> numbers;
  const auto found = config.find(key);
  if (found == config.end() || !found->is_array() || found->size() > kMostLevels) return {};
  for (const json& value : *found) {
    if (!value.is_number_integer() || value < 0 || value > kMostInConfig) return {};
    numbers.push_back(value.get<int64_t>());
  }
  return numbers;
}

// --- diffusers ---

std::optional<MediaNetwork> UnetFrom(const json& config) {
  UnetShape unet;
  unet.block_out_channels = NumbersIn(config, "block_out_channels");
  if (unet.block_out_channels.empty()) return {};
  const size_t levels = unet.block_out_channels.size();
  unet.layers_per_block = NumberIn(config, "layers_per_block", 2);
  unet.cross_attention_dim = NumberIn(config, "cross_attention_dim", 768);
  unet.in_channels = NumberIn(config, "in_channels", 4);
  unet.added_embedding = NumberIn(config, "projection_class_embeddings_input_dim");
  auto& depths = unet.transformer_layers_per_block;
  depths = NumbersIn(config, "transformer_layers_per_block");
  if (depths.size() != levels) {
    depths.assign(levels, NumberIn(config, "transformer_layers_per_block", 1));
  }
  const auto kinds = config.find("down_block_types");
  for (size_t i = 0; kinds != config.end() && kinds->is_array() && i < levels; ++i) {
    if (i < kinds->size() && (*kinds)[i] == "DownBlock2D") depths[i] = 0;
  }
  const auto last = std::find_if(depths.rbegin(), depths.rend(), [](int64_t d) { return d > 0; });
  unet.mid_transformer_layers = last == depths.rend() ? 0 : *last;
  const int64_t resolution = NumberIn(config, "sample_size", 64) * unet.vae_scale;
  return MediaNetwork{unet, {resolution, 1, 0}, 0, 0};
}

// Properties of a diffusers class that its configuration does not state.
struct DitClass {
  const char* name;
  bool joint = false;
  bool row = false;
  bool cross = false;
  bool gated_mlp = false;
  int64_t modulation_dim = -1;  // -1: width of the layers; 0: shared
  int64_t text_tokens = 512;
  int64_t patch_size = 2;
  int64_t packed = 1;  // latents per channel in `in_channels`
  int64_t vae_scale = 8;
  int64_t vae_time_scale = 1;
  int64_t num_frames = 1;
  int64_t resolution = 1024;
  double mlp_ratio = 4;
};

constexpr DitClass kDitClasses[] = {
    {.name = "FluxTransformer2DModel", .joint = true, .packed = 4},
    {.name = "ChromaTransformer2DModel", .joint = true, .modulation_dim = 0, .packed = 4},
    {.name = "SD3Transformer2DModel", .joint = true, .text_tokens = 333},
    {.name = "QwenImageTransformer2DModel", .joint = true, .packed = 4},
    {.name = "HunyuanVideoTransformer3DModel",
     .joint = true,
     .text_tokens = 256,
     .vae_time_scale = 4,
     .num_frames = 61,
     .resolution = 700},
    {.name = "CogVideoXTransformer3DModel",
     .row = true,
     .text_tokens = 226,
     .vae_time_scale = 4,
     .num_frames = 49,
     .resolution = 588},
    {.name = "ZImageTransformer2DModel", .row = true, .gated_mlp = true, .mlp_ratio = 8.0 / 3},
    {.name = "PixArtTransformer2DModel", .cross = true, .modulation_dim = 0, .text_tokens = 300},
    {.name = "WanTransformer3DModel",
     .cross = true,
     .modulation_dim = 0,
     .vae_time_scale = 4,
     .num_frames = 81,
     .resolution = 632},
    {.name = "LTXVideoTransformer3DModel",
     .cross = true,
     .modulation_dim = 0,
     .text_tokens = 128,
     .patch_size = 1,
     .vae_scale = 32,
     .vae_time_scale = 8,
     .num_frames = 121,
     .resolution = 600},
    {.name = "SanaTransformer2DModel",
     .cross = true,
     .gated_mlp = true,
     .modulation_dim = 0,
     .text_tokens = 300,
     .patch_size = 1,
     .vae_scale = 32,
     .mlp_ratio = 2.5},
};

// The first existing key of several spellings.
int64_t FirstIn(const json& config, std::initializer_list<const char*> keys) {
  for (const char* key : keys) {
    if (const int64_t number = NumberIn(config, key); number > 0) return number;
  }
  return 0;
}

std::optional<MediaNetwork> DitFrom(const json& config, const DitClass& known) {
  DitShape dit;
  MediaLayers& layers = dit.layers;
  layers.num_attention_heads = FirstIn(config, {"num_attention_heads", "n_heads"});
  const int64_t width = layers.num_attention_heads * NumberIn(config, "attention_head_dim");
  layers.hidden_size = width > 0 ? width : NumberIn(config, "dim");
  layers.num_hidden_layers = FirstIn(config, {"num_layers", "n_layers"});
  if (layers.hidden_size == 0 || layers.num_hidden_layers == 0) return {};
  layers.num_hidden_layers += 2 * NumberIn(config, "n_refiner_layers");
  const double ratio = RatioIn(config, "mlp_ratio", known.mlp_ratio);
  const double inner = ratio * static_cast<double>(layers.hidden_size);
  layers.intermediate_size = NumberIn(config, "ffn_dim", static_cast<int64_t>(inner));
  layers.gated_mlp = known.gated_mlp;
  dit.num_single_layers = NumberIn(config, "num_single_layers");
  const auto dual = config.find("dual_attention_layers");
  if (dual != config.end() && dual->is_array()) {
    dit.num_dual_attention_layers = static_cast<int64_t>(dual->size());
  }
  dit.joint_attention = known.joint;
  dit.text_in_row = known.row;
  if (known.cross) {
    dit.cross_attention_dim = NumberIn(config, "cross_attention_dim", layers.hidden_size);
  }
  const int64_t text = FirstIn(config, {"joint_attention_dim", "caption_channels", "text_dim",
                                        "text_embed_dim", "cap_feat_dim"});
  if (text > 0) dit.text_hidden_size = text;
  dit.text_tokens = NumberIn(config, "max_text_seq_length", known.text_tokens);
  dit.in_channels = NumberIn(config, "in_channels", 16) / known.packed;
  dit.patch_size = known.packed > 1 ? 2 : NumberIn(config, "patch_size", known.patch_size);
  if (known.modulation_dim >= 0) {
    dit.modulation_dim = known.modulation_dim;
  } else if (known.row) {  // CogVideoX: two of 512; Z-Image: 4 numbers of 256 instead of 6
    dit.modulation_dim = config.contains("n_layers") ? 171 : 2 * NumberIn(config, "time_embed_dim");
  } else {
    dit.modulation_dim = layers.hidden_size;
  }
  const auto norm = config.find("qk_norm");
  dit.qk_norm = norm != config.end()
                    ? !norm->is_null() && *norm != false
                    : !IsOneOf(known.name, {"PixArtTransformer2DModel", "SD3Transformer2DModel",
                                            "SanaTransformer2DModel"});
  dit.vae_scale = known.vae_scale;
  dit.vae_time_scale = NumberIn(config, "temporal_compression_ratio", known.vae_time_scale);
  return MediaNetwork{dit, {known.resolution, known.num_frames, 0}, 0, 0};
}

// --- Transformers ---

MediaLayers LayersIn(const json& config) {
  MediaLayers layers;
  layers.hidden_size = FirstIn(config, {"hidden_size", "d_model"});
  layers.num_hidden_layers = FirstIn(config, {"num_hidden_layers", "encoder_layers"});
  layers.num_attention_heads =
      std::max<int64_t>(1, FirstIn(config, {"num_attention_heads", "encoder_attention_heads"}));
  layers.intermediate_size = FirstIn(config, {"intermediate_size", "encoder_ffn_dim"});
  if (layers.intermediate_size == 0) {
    layers.intermediate_size = NumberIn(config, "mlp_ratio", 4) * layers.hidden_size;
  }
  return layers;
}

TransformerStack TextStackIn(const json& config, bool decoder) {
  TransformerStack stack;
  stack.hidden_size = FirstIn(config, {"hidden_size", "d_model"});
  stack.num_hidden_layers = NumberIn(config, decoder ? "decoder_layers" : "num_hidden_layers", 12);
  stack.num_attention_heads = std::max<int64_t>(
      1, NumberIn(config, decoder ? "decoder_attention_heads" : "num_attention_heads", 8));
  stack.num_key_value_heads = stack.num_attention_heads;
  stack.head_dim = stack.hidden_size / stack.num_attention_heads;
  stack.intermediate_size =
      NumberIn(config, decoder ? "decoder_ffn_dim" : "intermediate_size", 4 * stack.hidden_size);
  stack.gated_mlp = false;
  stack.rotary = false;
  return stack;
}

MediaNetwork ImageEncoderFrom(const json& config) {
  ImageEncoderShape encoder;
  encoder.layers = LayersIn(config);
  encoder.patch_size = std::max<int64_t>(1, NumberIn(config, "patch_size", 16));
  return {encoder, {std::max<int64_t>(1, NumberIn(config, "image_size", 224)), 1, 0}, 0, 0};
}

MediaNetwork WhisperFrom(const json& config) {
  AudioEncoderShape encoder;
  encoder.layers = LayersIn(config);
  encoder.input_rate = 100;
  encoder.input_channels = NumberIn(config, "num_mel_bins", 80);
  encoder.convolutions = {{encoder.layers.hidden_size, 3, 1}, {encoder.layers.hidden_size, 3, 2}};
  encoder.padded = true;
  return {encoder, {0, 0, 30}, 0, 0};
}

MediaNetwork WaveEncoderFrom(const json& config) {
  AudioEncoderShape encoder;
  encoder.layers = LayersIn(config);
  const std::vector<int64_t> channels = NumbersIn(config, "conv_dim");
  const std::vector<int64_t> kernels = NumbersIn(config, "conv_kernel");
  const std::vector<int64_t> strides = NumbersIn(config, "conv_stride");
  for (size_t i = 0; i < channels.size() && i < kernels.size() && i < strides.size(); ++i) {
    encoder.convolutions.push_back({channels[i], kernels[i], std::max<int64_t>(1, strides[i])});
  }
  encoder.normalised = WordIn(config, "feat_extract_norm") == "layer";
  encoder.position_kernel = NumberIn(config, "num_conv_pos_embeddings", 128);
  encoder.frozen_front_end = true;
  return {encoder, {0, 0, 10}, 0, 0};
}

std::optional<MediaNetwork> StagesFrom(const json& config, const std::string& type) {
  ConvolutionShape shape;
  const bool swin = type == "swin";
  std::vector<int64_t> channels = NumbersIn(config, "hidden_sizes");
  const std::vector<int64_t> depths = NumbersIn(config, "depths");
  if (swin) {
    for (size_t i = 0; i < depths.size(); ++i) {
      channels.push_back(NumberIn(config, "embed_dim", 96) << i);
    }
  }
  if (channels.empty() || channels.size() != depths.size()) return {};
  const bool resnet = type == "resnet";
  shape.stem_channels = resnet ? NumberIn(config, "embedding_size", 64) : channels.front();
  shape.stem_kernel = shape.stem_stride = resnet ? 7 : NumberIn(config, "patch_size", 4);
  if (resnet) shape.stem_stride = 2;
  shape.stem_pool = resnet;
  for (size_t i = 0; i < channels.size(); ++i) {
    ConvolutionStage stage;
    stage.kind = swin                                      ? StageKind::kWindowAttention
                 : type == "convnext"                      ? StageKind::kConvNext
                 : WordIn(config, "layer_type") == "basic" ? StageKind::kBasic
                                                           : StageKind::kBottleneck;
    stage.channels = channels[i];
    stage.blocks = depths[i];
    stage.stride = i == 0 ? 1 : 2;
    stage.kernel = swin ? NumberIn(config, "window_size", 7) : resnet ? 3 : 7;
    shape.stages.push_back(stage);
  }
  return MediaNetwork{
      shape, {std::max<int64_t>(1, NumberIn(config, "image_size", 224)), 1, 0}, 0, 0};
}

std::optional<ModelShape> TransformersShapeFrom(const json& config, const std::string& type,
                                                std::vector<std::string>& assumed) {
  ModelShape shape;
  shape.lm_head = false;
  if (IsOneOf(type, {"vit", "deit", "dinov2", "clip_vision_model", "siglip_vision_model"})) {
    shape.media = ImageEncoderFrom(config);
  } else if (IsOneOf(type, {"clip", "siglip"})) {
    const auto vision = config.find("vision_config");
    const auto text = config.find("text_config");
    if (vision == config.end() || !vision->is_object()) return {};
    shape.media = ImageEncoderFrom(*vision);
    if (text != config.end() && text->is_object()) {
      shape.layers = TextStackIn(*text, false);
      shape.vocab_size = NumberIn(*text, "vocab_size", 49'408);
    }
  } else if (type == "whisper") {
    shape.media = WhisperFrom(config);
    shape.layers = TextStackIn(config, true);
    shape.vocab_size = NumberIn(config, "vocab_size", 51'865);
    shape.lm_head = shape.tie_word_embeddings = true;
  } else if (IsOneOf(type, {"wav2vec2", "hubert", "wavlm", "data2vec-audio"})) {
    shape.media = WaveEncoderFrom(config);
    assumed.push_back("the convolutions over the wave frozen (freeze_feature_encoder)");
  } else if (IsOneOf(type, {"resnet", "convnext", "swin"})) {
    shape.media = StagesFrom(config, type);
  }
  if (!shape.media) return {};
  return shape;
}

}  // namespace

Result<std::optional<ModelShape>> MediaShapeFromConfig(const json& config,
                                                       const std::string& pointer,
                                                       std::vector<std::string>& assumed) {
  const std::string class_name = WordIn(config, "_class_name");
  if (class_name.empty()) {
    auto shape = TransformersShapeFrom(config, WordIn(config, "model_type"), assumed);
    if (shape) JoinMedia(*shape);
    return shape;
  }
  ModelShape shape;
  if (class_name == "UNet2DConditionModel") shape.media = UnetFrom(config);
  for (const DitClass& known : kDitClasses) {
    if (class_name == known.name) shape.media = DitFrom(config, known);
  }
  if (!shape.media) {
    return BadInput(
        fmt::format("diffusers' class {} is not counted here; describe it with model.unet or "
                    "model.dit, or give model.memory",
                    Quoted(class_name)),
        pointer);
  }
  assumed.push_back(
      "text encoders and VAE beside the network hold no memory (made beforehand): give "
      "text_encoder_params and vae_params in model.unet or model.dit, or a preset");
  JoinMedia(shape);
  return std::optional(std::move(shape));
}

Result<ModelShape> ShapeFromConfig(const json& config, const std::string& pointer,
                                   std::vector<std::string>& assumed) {
  if (!config.is_object()) return ShapeFromHfConfig(config, pointer, assumed);
  Result<std::optional<ModelShape>> media = MediaShapeFromConfig(config, pointer, assumed);
  if (!media) return tl::unexpected<Error>(media.error());
  if (*media) return **std::move(media);
  return ShapeFromHfConfig(config, pointer, assumed);
}

}  // namespace gpuadvise
