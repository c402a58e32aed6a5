#include "common/training/media_reading.h"

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

// A list of whole numbers; empty where it is missing.
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

// Fills in what usual models leave out.
void FillIn(MediaLayers& layers) {
  if (layers.num_attention_heads == 0) {
    layers.num_attention_heads = std::max<int64_t>(1, layers.hidden_size / kMediaHeadDim);
  }
  if (layers.intermediate_size == 0) layers.intermediate_size = 4 * layers.hidden_size;
}

MediaLayers ReadMediaLayers(KeyReader& reader) {
  MediaLayers layers;
  layers.hidden_size = reader.Int("hidden_size").value_or(0);
  layers.num_hidden_layers = reader.Int("num_hidden_layers").value_or(0);
  layers.num_attention_heads = reader.Int("num_attention_heads").value_or(0);
  layers.intermediate_size = reader.Int("intermediate_size").value_or(0);
  layers.gated_mlp = reader.Bool("gated_mlp").value_or(false);
  FillIn(layers);
  return layers;
}

void ReadCompanions(KeyReader& reader, MediaNetwork& network) {
  network.text_encoder_params = reader.Number("text_encoder_params").value_or(0);
  network.vae_params = reader.Number("vae_params").value_or(0);
}

MediaNetwork ReadUnet(KeyReader& reader) {
  UnetShape unet;
  unet.block_out_channels = ReadNumbers(reader, "block_out_channels");
  const bool said = !unet.block_out_channels.empty() && unet.block_out_channels.front() > 0;
  if (!said) unet.block_out_channels = {0};  // refused below
  unet.transformer_layers_per_block = ReadNumbers(reader, "transformer_layers_per_block");
  auto& depths = unet.transformer_layers_per_block;
  if (depths.empty()) {
    depths.assign(unet.block_out_channels.size(), 1);
    depths.back() = 0;
  }
  const auto last = std::find_if(depths.rbegin(), depths.rend(), [](int64_t d) { return d > 0; });
  unet.mid_transformer_layers =
      reader.Int("mid_transformer_layers").value_or(last == depths.rend() ? 0 : *last);
  unet.layers_per_block = reader.Int("layers_per_block").value_or(unet.layers_per_block);
  unet.num_attention_heads = reader.Int("num_attention_heads").value_or(unet.num_attention_heads);
  unet.cross_attention_dim = reader.Int("cross_attention_dim").value_or(unet.cross_attention_dim);
  unet.text_tokens = reader.Int("text_tokens").value_or(unet.text_tokens);
  unet.added_embedding = reader.Int("added_embedding").value_or(0);
  unet.in_channels = reader.Int("in_channels").value_or(unet.in_channels);
  unet.vae_scale = reader.Int("vae_scale").value_or(unet.vae_scale);
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
  dit.num_single_layers = reader.Int("num_single_layers").value_or(0);
  dit.num_dual_attention_layers = reader.Int("num_dual_attention_layers").value_or(0);
  const TextIn text = reader.Choice("text", kTextIns).value_or(TextIn::kJoint);
  dit.joint_attention = text == TextIn::kJoint;
  dit.text_in_row = text == TextIn::kRow;
  dit.text_tokens = reader.Int("text_tokens").value_or(dit.text_tokens);
  dit.text_hidden_size = reader.Int("text_hidden_size").value_or(dit.text_hidden_size);
  const auto width = reader.Int("cross_attention_dim");
  if (text == TextIn::kCross) dit.cross_attention_dim = width.value_or(dit.layers.hidden_size);
  dit.modulation_dim = reader.Int("modulation_dim").value_or(dit.layers.hidden_size);
  dit.qk_norm = reader.Bool("qk_norm").value_or(true);
  dit.in_channels = reader.Int("in_channels").value_or(dit.in_channels);
  dit.patch_size = reader.Int("patch_size").value_or(dit.patch_size);
  dit.vae_scale = reader.Int("vae_scale").value_or(dit.vae_scale);
  dit.vae_time_scale = reader.Int("vae_time_scale").value_or(dit.vae_time_scale);
  MediaNetwork network{dit, {}, 0, 0};
  network.made_for.num_frames = reader.Int("num_frames").value_or(1);
  network.made_for.resolution = reader.Int("resolution").value_or(1024);
  ReadCompanions(reader, network);
  return network;
}

MediaNetwork ReadImageEncoder(KeyReader& reader) {
  ImageEncoderShape encoder;
  encoder.layers = ReadMediaLayers(reader);
  encoder.patch_size = reader.Int("patch_size").value_or(encoder.patch_size);
  encoder.window = reader.Int("window").value_or(0);
  return {encoder, {reader.Int("resolution").value_or(224), 1, 0}, 0, 0};
}

MediaNetwork ReadAudioEncoder(KeyReader& reader) {
  AudioEncoderShape encoder;
  encoder.layers = ReadMediaLayers(reader);
  encoder.input_rate = reader.Int("input_rate").value_or(encoder.input_rate);
  encoder.input_channels = reader.Int("input_channels").value_or(1);
  for (KeyReader& item : reader.Items("convolutions")) {
    AudioConvolution each;
    each.channels = item.Int("channels").value_or(1);
    each.kernel = item.Int("kernel").value_or(1);
    each.stride = item.Int("stride").value_or(1);
    item.Finish();
    encoder.convolutions.push_back(each);
  }
  encoder.normalised = reader.Bool("normalised").value_or(false);
  encoder.position_kernel = reader.Int("position_kernel").value_or(0);
  encoder.padded = reader.Bool("padded").value_or(false);
  encoder.frozen_front_end = reader.Bool("frozen_front_end").value_or(false);
  return {encoder, {0, 0, reader.Number("audio_seconds").value_or(30)}, 0, 0};
}

constexpr NamedValue<StageKind> kStageKinds[] = {
    {"plain", StageKind::kPlain},           {"basic", StageKind::kBasic},
    {"bottleneck", StageKind::kBottleneck}, {"convnext", StageKind::kConvNext},
    {"mbconv", StageKind::kMbConv},         {"window_attention", StageKind::kWindowAttention}};

MediaNetwork ReadConvolutions(KeyReader& reader) {
  ConvolutionShape shape;
  shape.stem_channels = reader.Int("stem_channels").value_or(shape.stem_channels);
  shape.stem_kernel = reader.Int("stem_kernel").value_or(shape.stem_kernel);
  shape.stem_stride = reader.Int("stem_stride").value_or(shape.stem_stride);
  shape.stem_pool = reader.Bool("stem_pool").value_or(false);
  for (KeyReader& item : reader.Items("stages")) {
    ConvolutionStage stage;
    stage.kind = item.Choice("kind", kStageKinds).value_or(stage.kind);
    stage.channels = item.Int("channels").value_or(0);
    stage.blocks = item.Int("blocks").value_or(stage.blocks);
    stage.stride = item.Int("stride").value_or(stage.stride);
    stage.kernel = item.Int("kernel").value_or(stage.kernel);
    stage.expansion = item.Int("expansion").value_or(stage.expansion);
    item.Finish();
    if (stage.channels == 0) item.errors()->Note("a stage needs channels", item.pointer());
    shape.stages.push_back(stage);
  }
  shape.head_channels = reader.Int("head_channels").value_or(0);
  shape.num_labels = reader.Int("num_labels").value_or(shape.num_labels);
  return {shape, {reader.Int("resolution").value_or(224), 1, 0}, 0, 0};
}

// What a section must say at least; "" where it does.
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
  settings.size.resolution = training.Int("resolution").value_or(0);
  settings.size.num_frames = training.Int("num_frames").value_or(0);
  settings.size.audio_seconds = training.Number("audio_seconds").value_or(0);
  settings.cache_latents = training.Bool("cache_latents").value_or(false);
  settings.cache_text_encoder_outputs = training.Bool("cache_text_encoder_outputs").value_or(false);
  settings.use_ema = training.Bool("use_ema").value_or(false);
  return settings;
}

}  // namespace gpuadvise
