#include "common/models/media_reading.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/base/json_fields.h"
#include "common/base/words.h"

namespace gpuadvise {
namespace {

using nlohmann::json;

constexpr int64_t kMediaHeadDim = 64;
constexpr int64_t kMostInList = 1'000'000;
constexpr size_t kMostLevels = 16;

// A list of whole numbers; empty if missing.
std::vector<int64_t> ReadNumbers(KeyReader& reader, const std::string& key) {
  const json* value = reader.Any(key);
  if (value == nullptr) return {};
  std::vector<int64_t> numbers;
  bool good = value->is_array() && !value->empty() && value->size() <= kMostLevels;
  for (size_t i = 0; good && i < value->size(); ++i) {
    const json& item = (*value)[i];
    good = item.is_number_integer() && item >= 0 && item <= kMostInList;
    if (good) numbers.push_back(item.get<int64_t>());
  }
  if (!good) {
    reader.Refuse(key, fmt::format("{} must be a list of at most {} whole numbers, such as [320, "
                                   "640, 1280]",
                                   key, kMostLevels));
    return {};
  }
  return numbers;
}

// Fills in common defaults.
void FillIn(MediaLayers& layers) {
  if (layers.num_attention_heads == 0) {
    layers.num_attention_heads = std::max<int64_t>(1, layers.hidden_size / kMediaHeadDim);
  }
  if (layers.intermediate_size == 0) layers.intermediate_size = 4 * layers.hidden_size;
}

MediaLayers ReadMediaLayers(KeyReader& reader) {
  MediaLayers layers;
  reader.Into("hidden_size", layers.hidden_size);
  reader.Into("num_hidden_layers", layers.num_hidden_layers);
  reader.Into("num_attention_heads", layers.num_attention_heads);
  reader.Into("intermediate_size", layers.intermediate_size);
  reader.Into("gated_mlp", layers.gated_mlp);
  FillIn(layers);
  return layers;
}

void ReadCompanions(KeyReader& reader, MediaNetwork& network) {
  reader.Into("text_encoder_params", network.text_encoder_params);
  reader.Into("vae_params", network.vae_params);
}

MediaNetwork ReadUnet(KeyReader& reader) {
  UnetShape unet;
  unet.block_out_channels = ReadNumbers(reader, "block_out_channels");
  const bool said = !unet.block_out_channels.empty() && unet.block_out_channels.front() > 0;
  if (!said) unet.block_out_channels = {0};  // rejected below
  unet.transformer_layers_per_block = ReadNumbers(reader, "transformer_layers_per_block");
  auto& depths = unet.transformer_layers_per_block;
  if (depths.empty()) {
    depths.assign(unet.block_out_channels.size(), 1);
    depths.back() = 0;
  }
  const auto last = std::find_if(depths.rbegin(), depths.rend(), [](int64_t d) { return d > 0; });
  unet.mid_transformer_layers =
      reader.Int("mid_transformer_layers").value_or(last == depths.rend() ? 0 : *last);
  reader.Into("layers_per_block", unet.layers_per_block);
  reader.Into("num_attention_heads", unet.num_attention_heads);
  reader.Into("cross_attention_dim", unet.cross_attention_dim);
  reader.Into("text_tokens", unet.text_tokens);
  reader.Into("added_embedding", unet.added_embedding);
  reader.Into("in_channels", unet.in_channels);
  reader.Into("vae_scale", unet.vae_scale);
  MediaNetwork network{unet, {reader.Int("resolution").value_or(512), 1, 0}, 0, 0};
  ReadCompanions(reader, network);
  return network;
}

enum class TextIn { kCross, kJoint, kRow, kNone };
constexpr NamedValue<TextIn> kTextIns[] = {{"cross", TextIn::kCross},
                                           {"joint", TextIn::kJoint},
                                           {"row", TextIn::kRow},
                                           {"none", TextIn::kNone}};

MediaNetwork ReadDit(KeyReader& reader) {
  DitShape dit;
  dit.layers = ReadMediaLayers(reader);
  reader.Into("num_single_layers", dit.num_single_layers);
  reader.Into("num_dual_attention_layers", dit.num_dual_attention_layers);
  const TextIn text = reader.Choice("text", kTextIns).value_or(TextIn::kJoint);
  dit.joint_attention = text == TextIn::kJoint;
  dit.text_in_row = text == TextIn::kRow;
  reader.Into("text_tokens", dit.text_tokens);
  reader.Into("text_hidden_size", dit.text_hidden_size);
  const auto width = reader.Int("cross_attention_dim");
  if (text == TextIn::kCross) dit.cross_attention_dim = width.value_or(dit.layers.hidden_size);
  dit.modulation_dim = reader.Int("modulation_dim").value_or(dit.layers.hidden_size);
  dit.qk_norm = reader.Bool("qk_norm").value_or(true);
  reader.Into("in_channels", dit.in_channels);
  reader.Into("patch_size", dit.patch_size);
  reader.Into("vae_scale", dit.vae_scale);
  reader.Into("vae_time_scale", dit.vae_time_scale);
  MediaNetwork network{dit, {}, 0, 0};
  network.made_for.num_frames = reader.Int("num_frames").value_or(1);
  network.made_for.resolution = reader.Int("resolution").value_or(1024);
  ReadCompanions(reader, network);
  return network;
}

MediaNetwork ReadImageEncoder(KeyReader& reader) {
  ImageEncoderShape encoder;
  encoder.layers = ReadMediaLayers(reader);
  reader.Into("patch_size", encoder.patch_size);
  reader.Into("window", encoder.window);
  return {encoder, {reader.Int("resolution").value_or(224), 1, 0}, 0, 0};
}

MediaNetwork ReadAudioEncoder(KeyReader& reader) {
  AudioEncoderShape encoder;
  encoder.layers = ReadMediaLayers(reader);
  reader.Into("input_rate", encoder.input_rate);
  encoder.input_channels = reader.Int("input_channels").value_or(1);
  for (KeyReader& item : reader.Items("convolutions")) {
    AudioConvolution each;
    each.channels = item.Int("channels").value_or(1);
    each.kernel = item.Int("kernel").value_or(1);
    each.stride = item.Int("stride").value_or(1);
    item.Finish();
    encoder.convolutions.push_back(each);
  }
  reader.Into("normalised", encoder.normalised);
  reader.Into("position_kernel", encoder.position_kernel);
  reader.Into("padded", encoder.padded);
  reader.Into("frozen_front_end", encoder.frozen_front_end);
  return {encoder, {0, 0, reader.Number("audio_seconds").value_or(30)}, 0, 0};
}

constexpr NamedValue<StageKind> kStageKinds[] = {
    {"plain", StageKind::kPlain},           {"basic", StageKind::kBasic},
    {"bottleneck", StageKind::kBottleneck}, {"convnext", StageKind::kConvNext},
    {"mbconv", StageKind::kMbConv},         {"window_attention", StageKind::kWindowAttention}};

MediaNetwork ReadConvolutions(KeyReader& reader) {
  ConvolutionShape shape;
  reader.Into("stem_channels", shape.stem_channels);
  reader.Into("stem_kernel", shape.stem_kernel);
  reader.Into("stem_stride", shape.stem_stride);
  reader.Into("stem_pool", shape.stem_pool);
  for (KeyReader& item : reader.Items("stages")) {
    ConvolutionStage stage;
    stage.kind = item.Choice("kind", kStageKinds).value_or(stage.kind);
    item.Into("channels", stage.channels);
    item.Into("blocks", stage.blocks);
    item.Into("stride", stage.stride);
    item.Into("kernel", stage.kernel);
    item.Into("expansion", stage.expansion);
    item.Finish();
    if (stage.channels == 0) item.errors()->Note("a stage needs channels", item.pointer());
    shape.stages.push_back(stage);
  }
  reader.Into("head_channels", shape.head_channels);
  reader.Into("num_labels", shape.num_labels);
  return {shape, {reader.Int("resolution").value_or(224), 1, 0}, 0, 0};
}

// The first required value missing in a section; "" if complete.
std::string MissingIn(const MediaNetwork& network) {
  const auto lacks = [](const MediaLayers& layers) {
    return layers.hidden_size == 0 || layers.num_hidden_layers == 0;
  };
  if (const auto* unet = std::get_if<UnetShape>(&network.shape)) {
    const auto& channels = unet->block_out_channels;
    const bool all = std::count(channels.begin(), channels.end(), 0) == 0;
    return all ? "" : "block_out_channels, such as [320, 640, 1280]";
  }
  const auto* dit = std::get_if<DitShape>(&network.shape);
  const auto* image = std::get_if<ImageEncoderShape>(&network.shape);
  const auto* audio = std::get_if<AudioEncoderShape>(&network.shape);
  if ((dit != nullptr && lacks(dit->layers)) || (image != nullptr && lacks(image->layers)) ||
      (audio != nullptr && lacks(audio->layers))) {
    return "hidden_size and num_hidden_layers";
  }
  const auto* convolutions = std::get_if<ConvolutionShape>(&network.shape);
  return convolutions != nullptr && convolutions->stages.empty() ? "stages" : "";
}

struct Section {
  const char* key;
  MediaNetwork (*read)(KeyReader&);
};

constexpr Section kSections[] = {{"unet", ReadUnet},
                                 {"dit", ReadDit},
                                 {"image_encoder", ReadImageEncoder},
                                 {"audio_encoder", ReadAudioEncoder},
                                 {"convolutions", ReadConvolutions}};

}  // namespace

std::optional<MediaNetwork> ReadMediaNetwork(KeyReader& model) {
  std::optional<MediaNetwork> network;
  for (const Section& section : kSections) {
    auto reader = model.Map(section.key);
    if (!reader) continue;
    if (network) {
      model.Refuse(section.key,
                   "a model has one of unet, dit, image_encoder, audio_encoder and "
                   "convolutions: keep one");
    }
    network = section.read(*reader);
    reader->Finish();
    const std::string missing = MissingIn(*network);
    if (!missing.empty()) {
      reader->errors()->Note(fmt::format("{} needs {} at least", section.key, missing),
                             reader->pointer());
    }
  }
  return network;
}

MediaSettings ReadMediaSettings(KeyReader& training) {
  MediaSettings settings;
  training.Into("resolution", settings.size.resolution);
  training.Into("num_frames", settings.size.num_frames);
  training.Into("audio_seconds", settings.size.audio_seconds);
  training.Into("cache_latents", settings.cache_latents);
  training.Into("cache_text_encoder_outputs", settings.cache_text_encoder_outputs);
  training.Into("use_ema", settings.use_ema);
  return settings;
}

}  // namespace gpuadvise
