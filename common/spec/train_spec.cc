#include "common/spec/train_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "common/base/json_fields.h"
#include "common/base/text.h"
#include "common/base/words.h"
#include "common/keys/foreign_keys.h"
#include "common/keys/key_reader.h"
#include "common/models/media_config.h"
#include "common/models/optimizer_bytes.h"
#include "common/spec/training_reader.h"

namespace gpuadvise {
namespace {

using nlohmann::json;

constexpr size_t kMaxMeasuredInAll = 1024;  // each is looked at on every kind and number of GPUs
constexpr int64_t kLatestDeadline = 1'000'000'000'000;  // unix seconds

constexpr NamedValue<Precision> kPrecisions[] = {
    {"bf16", Precision::kBf16}, {"fp16", Precision::kFp16}, {"fp32", Precision::kFp32}};
constexpr NamedValue<Objective> kObjectives[] = {{"finish", Objective::kFinish},
                                                 {"start", Objective::kStart},
                                                 {"cost", Objective::kCost},
                                                 {"deadline", Objective::kDeadline}};
template <typename E, size_t N>
std::optional<E> FromWord(const NamedValue<E> (&names)[N], const std::string& word) {
  for (const NamedValue<E>& name : names) {
    if (word == name.word) return name.value;
  }
  return {};
}

template <typename E, size_t N>
std::string WordOf(const NamedValue<E> (&names)[N], E value) {
  for (const NamedValue<E>& name : names) {
    if (value == name.value) return name.word;
  }
  return "";
}

// The keys of `model` that say a shape; nullptr where it has none.
std::shared_ptr<const json> ShapeKeysOf(const json& model) {
  json keys = model.is_object() ? model : json::object();
  for (const char* other : {"preset", "hf_config", "params", "memory"}) keys.erase(other);
  return keys.empty() ? nullptr : std::make_shared<const json>(std::move(keys));
}

ModelSpec ReadModel(const json& document, KeyReader reader) {
  ModelSpec model;
  model.preset = reader.Text("preset").value_or("");
  model.params = reader.Number("params");
  std::optional<ModelShape> of_config;
  const json* config = reader.Any("hf_config");
  if (config != nullptr && config->is_object()) {
    auto shape = ShapeFromConfig(*config, reader.PointerOf("hf_config"), model.assumed);
    if (!shape) reader.errors()->Note(shape.error().message, shape.error().pointer);
    of_config = shape ? std::optional(*shape) : std::nullopt;
    if (!model.preset.empty()) model.assumed.push_back("the shape of hf_config, not the preset's");
  }
  if (model.preset.empty() || of_config) {
    model.shape = ReadModelShape(reader, of_config ? &*of_config : nullptr);
  } else {
    model.beside_preset = ShapeKeysOf(document);
  }
  if (model.shape && model.params) MatchParameters(*model.params, *model.shape, model.assumed);
  model.memory = ReadMemoryLine(reader, "memory");
  model.not_counted = reader.Finish();
  return model;
}

const json& MemberOrNull(const json& document, const char* key) {
  static const json kNull;
  auto found = document.find(key);
  return found == document.end() ? kNull : *found;
}

// The member `key` of the document, overridden by the stage's own.
json Merged(const json& document, const json& stage, const std::string& key) {
  json merged = document.value(key, json::object());
  if (!stage.is_object() || !stage.contains(key)) return merged;
  if (!stage[key].is_object() || !merged.is_object()) return stage[key];
  merged.update(stage[key]);
  return merged;
}

Stage ReadStage(const json& document, const json& stage_json, const std::string& pointer,
                RunLength run_length, DocumentErrors* errors) {
  Stage stage;
  stage.pointer = pointer;
  KeyReader reader(FieldReader(stage_json, pointer, errors), "stages");
  stage.name = reader.Text("name").value_or("");
  reader.Finish();
  const auto section = [&](const json& value, const char* key) {
    return KeyReader(FieldReader(value, reader.PointerOf(key), errors), key);
  };
  const json model = Merged(document, stage_json, "model");
  stage.model = ReadModel(model, section(model, "model"));
  const json training = Merged(document, stage_json, "training");
  stage.training = ReadTraining(section(training, "training"), run_length);
  return stage;
}

std::vector<Stage> ReadStages(const json& document, KeyReader& top, RunLength run_length) {
  std::vector<Stage> stages;
  if (MemberOrNull(document, "stages").is_null()) {
    const json whole = {{"model", document.value("model", json::object())},
                        {"training", document.value("training", json::object())}};
    stages.push_back(ReadStage(json::object(), whole, top.pointer(), run_length, top.errors()));
    return stages;
  }
  const std::vector<const json*> items = top.fields().List("stages", FindTrainKey("stages")->most);
  if (items.empty())
    top.Refuse("stages", "stages must list one stage or more; remove it for one run");
  for (size_t i = 0; i < items.size(); ++i) {
    std::string pointer = PointerTo(top.PointerOf("stages"), std::to_string(i));
    stages.push_back(ReadStage(document, *items[i], pointer, run_length, top.errors()));
  }
  return stages;
}

}  // namespace

bool IsKnownOptimizer(const std::string& optim) {
  return FindUncountedOptimizerPart(optim).empty() && LookUpOptimizerBytes(optim, false, 0).known;
}

bool HasTiming(const TrainingSpec& training) {
  return std::any_of(training.measured.begin(), training.measured.end(),
                     [](const MeasuredStep& step) { return step.seconds_per_step > 0; });
}

std::string NotCountedOf(const Stage& stage) {
  std::vector<std::string> parts = stage.model.not_counted;
  for (const std::string& part : stage.training.not_counted) parts.push_back(part);
  return parts.empty() ? "" : "not included: " + Join(parts, "; ");
}

bool AssumesLength(const TrainingSpec& training, const ModelShape& shape) {
  return !training.max_seq_length && shape.layers.num_hidden_layers > 0;
}

bool AssumesNoImages(const TrainingSpec& training, const ModelShape& shape) {
  return !training.images_per_sample && shape.vision;
}

std::vector<std::string> AssumptionsOf(const Stage& stage, const ModelShape& shape) {
  const TrainingSpec& training = stage.training;
  std::vector<std::string> assumed = stage.model.assumed;
  if (std::string sentence = NotCountedOf(stage); !sentence.empty()) {
    assumed.push_back(std::move(sentence));
  }
  if (!IsKnownOptimizer(training.optim) && FindUncountedOptimizerPart(training.optim).empty()) {
    assumed.push_back(
        fmt::format("optim {} is not known: counted as AdamW with states in fp32", training.optim));
  }
  if (AssumesLength(training, shape)) {
    assumed.push_back(
        fmt::format("{} tokens a sample: give training.max_seq_length", kUsualSeqLength));
  }
  if (shape.encoder && !training.max_target_length) {
    assumed.push_back("the output is as long as max_seq_length: give training.max_target_length");
  }
  if (!shape.encoder && training.max_target_length) {
    assumed.push_back(
        "a text has max_seq_length and max_target_length tokens, one after the other");
  }
  if (AssumesNoImages(training, shape)) {
    assumed.push_back("no images in a sample: give training.images_per_sample (0: none)");
  }
  const bool adapted = training.method != Method::kFull;
  if (adapted && training.fsdp && !training.use_reentrant &&
      training.gradient_checkpointing != Checkpointing::kNone) {
    assumed.push_back(
        "checkpointing is reentrant, so that FSDP holds the checkpoints of all layers: give "
        "training.use_reentrant");
  }
  if (!shape.media) {
    MediaSettings counted_anyway;
    counted_anyway.use_ema = training.media.use_ema;
    if (!(training.media == counted_anyway)) {
      assumed.push_back(
          "resolution, num_frames, audio_seconds, cache_latents and cache_text_encoder_outputs "
          "change nothing: this model has no unet, dit, image_encoder, audio_encoder or "
          "convolutions");
    }
    return assumed;
  }
  for (std::string& size : AssumedSizes(*shape.media, training.media.size)) {
    assumed.push_back(std::move(size));
  }
  const bool diffusion = std::holds_alternative<UnetShape>(shape.media->shape) ||
                         std::holds_alternative<DitShape>(shape.media->shape);
  if (diffusion && training.method != Method::kFull && training.lora.target_modules.empty()) {
    assumed.push_back(
        "adapters on attention, as in diffusers' scripts: give training.lora.target_modules");
  }
  return assumed;
}

std::string ToWord(Precision precision) { return WordOf(kPrecisions, precision); }

std::optional<Precision> PrecisionFromWord(const std::string& word) {
  return FromWord(kPrecisions, word);
}

std::string ToWord(Method method) { return WordOf(kMethods, method); }

std::optional<Method> MethodFromWord(const std::string& word) { return FromWord(kMethods, word); }

std::string ToWord(Objective objective) { return WordOf(kObjectives, objective); }

std::optional<Objective> ObjectiveFromWord(const std::string& word) {
  return FromWord(kObjectives, word);
}

Result<TrainSpec> ParseTrainSpec(const json& document, const std::string& pointer,
                                 RunLength run_length) {
  DocumentErrors errors;
  if (!document.is_object()) {
    errors.Note("the training file must be a mapping of keys to values", pointer);
    return tl::unexpected<Error>(errors.AsResult().error());
  }
  KeyReader top(FieldReader(document, pointer, &errors), "");
  TrainSpec spec;
  spec.name = top.Text("name").value_or("train");
  auto section = [&](const char* key) {
    top.fields().Any(key);
    const FieldReader fields(MemberOrNull(document, key), top.PointerOf(key), &errors);
    return KeyReader(fields, key);
  };
  spec.resources = section("resources").ReadAll<ResourceSpec>();
  spec.slurm = section("slurm").ReadAll<SlurmSpec>();
  spec.output = section("output").ReadAll<OutputSpec>();
  spec.requires_gpu = section("requires").ReadAll<RequiresSpec>();
  spec.objective = top.Choice("objective", kObjectives).value_or(Objective::kFinish);
  spec.deadline = top.fields().Int("deadline", 1, kLatestDeadline);
  for (const char* key : {"model", "training", "stages"}) top.fields().Any(key);
  top.Finish();
  spec.stages = ReadStages(document, top, run_length);
  for (Stage& stage : spec.stages) stage.pointer.erase(0, pointer.size());
  const size_t measured = std::accumulate(
      spec.stages.begin(), spec.stages.end(), size_t{0},
      [](size_t sum, const Stage& stage) { return sum + stage.training.measured.size(); });
  if (measured > kMaxMeasuredInAll) {
    errors.Note(fmt::format("the stages have {} measured lines together, each with those of "
                            "training.measured; {} are possible: keep the newest",
                            Grouped(static_cast<int64_t>(measured)),
                            Grouped(static_cast<int64_t>(kMaxMeasuredInAll))),
                PointerTo(pointer, "stages"));
  }
  if (Result<void> result = errors.AsResult(); !result)
    return tl::unexpected<Error>(result.error());
  return spec;
}

}  // namespace gpuadvise
