#include "common/models/hf_vision.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "common/base/text.h"
#include "common/models/hf_stack.h"

namespace gpuadvise {
namespace {

using nlohmann::json;

// A side length given as a number, as [height, width] or as {height, width}.
int64_t SideAt(const json& config, std::initializer_list<const char*> keys) {
  if (const int64_t number = FirstOf(config, keys); number > 0) return number;
  for (const char* key : keys) {
    const auto found = config.find(key);
    if (found == config.end()) continue;
    const json* first = found->is_array() && !found->empty() ? &(*found)[0] : nullptr;
    if (found->is_object() && found->contains("height")) first = &(*found)["height"];
    if (first != nullptr && first->is_number_unsigned()) {
      return static_cast<int64_t>(std::min<uint64_t>(first->get<uint64_t>(), 1'000'000));
    }
  }
  return 0;
}

// Patches per side merged into one token: 2 if four are merged.
double MergedSide(const json& config, const json& vision) {
  const json* projector = ObjectAt(config, {"projector_config"});
  for (const json* each : {&vision, &config, projector}) {
    if (each == nullptr) continue;
    for (const char* key :
         {"spatial_merge_size", "downsample_ratio", "scale_factor", "pixel_shuffle_ratio"}) {
      const double side = NumberAt(*each, key);
      if (side >= 1 && side <= 64) return side;
      if (side > 1.0 / 64 && side < 1) return 1 / side;
    }
  }
  return 1;
}

// Tokens stated by the projector's queries or the file; 0: unknown.
int64_t StatedTokens(const json& config, const json& vision) {
  const std::initializer_list<const char*> keys = {
      "mm_tokens_per_image", "image_seq_length",
      "num_image_tokens",    "image_seq_len",
      "query_num",           "n_queries",
      "num_query_tokens",    "vision_soft_tokens_per_image"};
  if (const int64_t said = FirstOf(config, keys); said > 0) return said;
  if (const int64_t said = FirstOf(vision, keys); said > 0) return said;
  if (const json* text = ObjectAt(config, {"text_config"})) {
    if (const int64_t said = FirstOf(*text, keys); said > 0) return said;
  }
  const json* resampler = ObjectAt(config, {"perceiver_config"});
  return resampler != nullptr ? FirstOf(*resampler, {"resampler_n_latents"}) : 0;
}

// For common projectors: Qwen's mergers, LLaVA's and InternVL's two layers, one layer.
double ProjectorParameters(const json& config, const json& vision, double side, double tower,
                           double text) {
  const double merged = tower * side * side;
  if (vision.contains("spatial_merge_size")) {
    const auto deep = vision.find("deepstack_visual_indexes");
    const bool more = deep != vision.end() && deep->is_array();
    const double mergers = 1 + (more ? static_cast<double>(deep->size()) : 0);
    return mergers * (merged * merged + merged * text);
  }
  const bool two = config.contains("projector_hidden_act") || config.contains("downsample_ratio");
  return merged * text + (two ? text * text : 0);
}

void CountTokens(const json& config, const json& vision, VisionTower& tower,
                 std::vector<std::string>& assumed) {
  const int64_t patch = SideAt(vision, {"patch_size"});
  const int64_t image = SideAt(vision, {"image_size", "img_size", "input_size"});
  const double side = MergedSide(config, vision);
  constexpr int64_t kLongestRow = 3000;  // larger values are errors; keeps all products in 64 bits
  const int64_t row = patch > 0 ? std::min(image / patch, kLongestRow) : 0;
  const int64_t patches = row * row;
  const int64_t stated = std::min(StatedTokens(config, vision), kLongestRow * kLongestRow);
  if (config.value("model_type", json()) == "mllama") {
    assumed.emplace_back(
        "images reach the text by cross-attention and add no tokens to it: their "
        "keys and values are not counted");
    return;
  }
  tower.tokens_per_image =
      stated > 0 ? stated : std::llround(static_cast<double>(patches) / (side * side));
  if (tower.tokens_per_image == 0) {
    tower.patches_per_token = std::llround(side * side);
    assumed.emplace_back("how many tokens an image has: give model.vision.tokens_per_image");
    return;
  }
  tower.patches_per_token = std::max<int64_t>(1, patches / tower.tokens_per_image);
  assumed.push_back(stated > 0 ? fmt::format("{} tokens an image, as the file says", stated)
                               : fmt::format("{} tokens an image of {} × {} pixels, one tile: "
                                             "model.vision.tokens_per_image says another number",
                                             tower.tokens_per_image, image, image));
}

// Merged with the defaults of its class.
json Whole(const json& part) {
  json whole = DefaultsOf(TextAt(part, "model_type"));
  if (whole.is_null()) return part;
  whole.update(part);
  return whole;
}

void AddVision(const json& config, const std::string& pointer, DocumentErrors& errors,
               ModelShape& shape, std::vector<std::string>& assumed) {
  const char* found = nullptr;
  for (const char* key : {"vision_config", "visual", "vit_config"}) {
    if (found == nullptr && ObjectAt(config, {key}) != nullptr) found = key;
  }
  if (found == nullptr) {
    const bool named = config.contains("vision_backbone_id") || config.contains("mm_vision_tower");
    if (named) {
      assumed.emplace_back(
          "the vision tower is named, not described: it is not counted; give "
          "model.vision");
    }
    return;
  }
  const json vision = Whole(config[found]);
  VisionTower tower;
  HfStack stack = ReadHfStack(vision, TextAt(vision, "model_type"), StackPart::kVision);
  stack.layers.num_hidden_layers += FirstOf(vision, {"num_global_layers"});
  if (stack.layers.hidden_size == 0 || stack.layers.num_hidden_layers == 0) {
    assumed.push_back(
        fmt::format("{} does not say the tower's hidden_size and num_hidden_layers: "
                    "the tower is not counted; give model.vision",
                    found));
    return;
  }
  tower.layers = stack.layers;
  FieldReader fields(config[found], PointerTo(pointer, found), &errors);
  CompleteStack(tower.layers, fields);
  if (errors.failed()) return;
  CountTokens(config, vision, tower, assumed);
  const double projector = ProjectorParameters(config, vision, MergedSide(config, vision),
                                               static_cast<double>(tower.layers.hidden_size),
                                               static_cast<double>(shape.layers.hidden_size));
  shape.other_params += std::llround(std::min(projector, 1e12));
  shape.vision = tower;
}

void AddAudio(const json& config, ModelShape& shape, std::vector<std::string>& assumed) {
  const json* audio = ObjectAt(config, {"audio_config"});
  if (audio == nullptr) return;
  HfStack stack = ReadHfStack(*audio, TextAt(*audio, "model_type"), StackPart::kEncoder);
  DocumentErrors ignored;
  FieldReader fields(*audio, "", &ignored);
  CompleteStack(stack.layers, fields);
  const double parameters = ignored.failed() ? 0 : stack.layers.Parameters();
  shape.other_params += std::llround(std::min(parameters, 1e15));
  assumed.push_back(fmt::format(
      "the audio tower: {:.2f} B parameters are held; what it keeps of audio is not counted",
      parameters / 1e9));
}

}  // namespace

void AddTowers(const json& config, const std::string& pointer, DocumentErrors& errors,
               ModelShape& shape, std::vector<std::string>& assumed) {
  AddVision(config, pointer, errors, shape, assumed);
  if (!errors.failed()) AddAudio(config, shape, assumed);
}

}  // namespace gpuadvise
