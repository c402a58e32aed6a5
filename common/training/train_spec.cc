#include "common/training/train_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <numeric>

#include "common/base/json_fields.h"
#include "common/base/words.h"
#include "common/training/key_reader.h"
#include "common/training/media_config.h"
#include "common/training/media_reading.h"

namespace gpuadvise {
namespace {

using nlohmann::json;

constexpr int64_t kMaxBatch = 1'000'000;    // keeps every product of batch numbers inside 64 bits
constexpr size_t kMaxMeasuredInAll = 1024;  // each is looked at on every kind and number of GPUs
constexpr int64_t kLatestDeadline = 1'000'000'000'000;  // unix seconds

constexpr NamedValue<Precision> kPrecisions[] = {
    {"bf16", Precision::kBf16}, {"fp16", Precision::kFp16}, {"fp32", Precision::kFp32}};
constexpr NamedValue<Method> kMethods[] = {{"full", Method::kFull},
                                           {"lora", Method::kLora},
                                           {"dora", Method::kDora},
                                           {"qlora", Method::kQlora}};
constexpr NamedValue<Attention> kAttentions[] = {{"flash_attention_2", Attention::kFlashAttention2},
                                                 {"sdpa", Attention::kSdpa},
                                                 {"eager", Attention::kEager}};
constexpr NamedValue<Fsdp> kFsdps[] = {{"full_shard", Fsdp::kFullShard},
                                       {"shard_grad_op", Fsdp::kShardGradOp}};
constexpr NamedValue<Objective> kObjectives[] = {{"finish", Objective::kFinish},
                                                 {"start", Objective::kStart},
                                                 {"cost", Objective::kCost},
                                                 {"deadline", Objective::kDeadline}};
constexpr NamedValue<Offload> kOffloads[] = {
    {"none", Offload::kNone}, {"optimizer", Offload::kOptimizer}, {"all", Offload::kAll}};

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

// true or false; nullopt for auto.
std::optional<bool> ReadAutoSwitch(KeyReader& reader, const std::string& key) {
  const std::string word = reader.Switch(key).value_or("auto");
  return word == "auto" ? std::nullopt : std::optional(word == "true");
}

std::optional<Checkpointing> ReadCheckpointing(KeyReader& reader, const std::string& key) {
  const std::string word = reader.Switch(key).value_or("auto");
  if (word == "auto") return {};
  if (word == "selective") return Checkpointing::kSelective;
  return word == "true" ? Checkpointing::kFull : Checkpointing::kNone;
}

ModelSpec ReadModel(KeyReader reader) {
  ModelSpec model;
  model.preset = reader.Text("preset").value_or("");
  model.params = reader.Number("params");
  model.shape = ReadModelShape(reader);
  const json* config = reader.Any("hf_config");
  if (config != nullptr && config->is_object()) {
    if (model.shape) {
      model.assumed.push_back("the shape that the file itself gives, not the one of hf_config");
    } else if (auto shape =
                   ShapeFromConfig(*config, reader.PointerOf("hf_config"), model.assumed)) {
      model.shape = *shape;
      if (model.params) MatchParameters(*model.params, *model.shape, model.assumed);
    } else {
      reader.errors()->Note(shape.error().message, shape.error().pointer);
    }
  }
  model.memory = ReadMemoryLine(reader, "memory");
  reader.Finish();
  return model;
}

std::optional<BatchRange> ReadBatchRange(KeyReader& reader, const std::string& key) {
  const json* value = reader.Any(key);
  if (value == nullptr) return {};
  auto refuse = [&] {
    reader.Refuse(key,
                  fmt::format("{} must be a whole number from 1 or a range [low, high] of two "
                              "with low ≤ high, not {}",
                              key, value->dump(-1, ' ', false, json::error_handler_t::replace)));
    return std::optional<BatchRange>();
  };
  auto whole = [](const json& item) {
    bool is_whole = item.is_number_integer() && item.is_number_unsigned();
    return is_whole && item.get<uint64_t>() >= 1 && item.get<uint64_t>() <= kMaxBatch;
  };
  if (whole(*value)) return BatchRange{value->get<int64_t>(), value->get<int64_t>()};
  if (!value->is_array() || value->size() != 2) return refuse();
  if (!whole((*value)[0]) || !whole((*value)[1])) return refuse();
  BatchRange range{(*value)[0].get<int64_t>(), (*value)[1].get<int64_t>()};
  return range.low <= range.high ? std::optional(range) : refuse();
}

LoraSpec ReadLora(KeyReader& training) {
  LoraSpec spec;
  std::optional<KeyReader> lora = training.Map("lora");
  if (!lora) return spec;
  spec.r = lora->Int("r").value_or(spec.r);
  spec.target_modules = lora->Texts("target_modules");
  spec.modules_to_save = lora->Texts("modules_to_save");
  lora->Finish();
  return spec;
}

// A stage by its number, or DeepSpeed's own JSON.
std::optional<int64_t> ReadZeroStage(KeyReader& reader) {
  const json* value = reader.Any("deepspeed");
  if (value == nullptr) return {};
  const json* stage = value;
  if (value->is_object()) {
    const auto zero = value->find("zero_optimization");
    if (zero == value->end() || !zero->is_object() || !zero->contains("stage")) return 0;
    stage = &(*zero)["stage"];
  }
  if (stage->is_number_integer() && stage->get<int64_t>() >= 0 && stage->get<int64_t>() <= 3) {
    return stage->get<int64_t>();
  }
  if (value->is_string()) return {};  // a path that the client did not read: nothing is known of it
  reader.Refuse("deepspeed",
                "deepspeed must be a ZeRO stage from 0 to 3, or a DeepSpeed JSON file");
  return {};
}

// false, true, or the words that resume it.
bool ReadResume(KeyReader& reader) {
  const json* value = reader.Any("resume");
  if (value == nullptr) return false;
  if (value->is_boolean()) return value->get<bool>();
  if (value->is_string()) return value->get<std::string>() != "false";
  reader.Refuse("resume",
                "resume must be true, where the command goes on from its checkpoint by itself, or "
                "the words that {resume} in the command stands for");
  return false;
}

void ReadMemoryKeys(KeyReader& reader, TrainingSpec& training) {
  training.images_per_sample = reader.Int("images_per_sample");
  training.lora = ReadLora(reader);
  training.optim = reader.Text("optim").value_or(training.optim);
  training.pure_bf16 = ReadAutoSwitch(reader, "pure_bf16").value_or(false);
  training.tf32 = ReadAutoSwitch(reader, "tf32").value_or(false);
  training.zero_stage = ReadZeroStage(reader);
  training.offload = reader.Choice("offload", kOffloads).value_or(Offload::kNone);
  training.fsdp = reader.Choice("fsdp", kFsdps);
  training.chunked_cross_entropy = reader.Bool("chunked_cross_entropy").value_or(false);
  training.resume = ReadResume(reader);
  if (training.zero_stage && training.fsdp) {
    reader.Refuse("fsdp", "deepspeed and fsdp both shard the model: keep one");
  }
}

// One way of saying how much work there is, and enough to say it.
void CheckWork(const TrainingSpec& training, RunLength run_length, KeyReader& reader) {
  int ways = (training.max_steps ? 1 : 0) + (training.num_train_epochs ? 1 : 0) +
             (training.samples ? 1 : 0);
  if (ways == 0 && run_length == RunLength::kRequired) {
    reader.errors()->Note(
        "training says nothing about how long it runs: give max_steps, num_train_epochs with "
        "num_samples, or samples",
        reader.pointer());
  } else if (ways > 1) {
    reader.errors()->Note(
        "training gives more than one of max_steps, num_train_epochs and samples: keep one",
        reader.pointer());
  } else if (training.num_train_epochs && !training.num_samples &&
             run_length == RunLength::kRequired) {
    reader.Refuse("num_train_epochs",
                  "num_train_epochs needs num_samples, the number of samples in the data set");
  }
}

TrainingSpec ReadTraining(KeyReader reader, RunLength run_length) {
  TrainingSpec training;
  training.max_steps = reader.Int("max_steps");
  training.num_train_epochs = reader.Number("num_train_epochs");
  training.num_samples = reader.Int("num_samples");
  training.samples = reader.Int("samples");
  training.effective_batch_size = ReadBatchRange(reader, "effective_batch_size");
  training.micro_batch = reader.Int("per_device_train_batch_size");
  training.accumulation = reader.Int("gradient_accumulation_steps");
  training.max_seq_length = reader.Int("max_seq_length");
  training.bf16 = ReadAutoSwitch(reader, "bf16");
  training.fp16 = ReadAutoSwitch(reader, "fp16");
  training.gradient_checkpointing = ReadCheckpointing(reader, "gradient_checkpointing");
  training.method = reader.Choice("method", kMethods).value_or(Method::kFull);
  training.attn_implementation = reader.Choice("attn_implementation", kAttentions);
  training.torch_compile = reader.Bool("torch_compile");
  training.dataloader_num_workers = reader.Int("dataloader_num_workers");
  training.dataloader_seconds_per_sample = reader.Number("dataloader_seconds_per_sample");
  training.measured = ReadMeasuredSteps(reader, "measured");
  ReadMemoryKeys(reader, training);
  training.media = ReadMediaSettings(reader);
  reader.Finish();
  if (training.bf16 == true && training.fp16 == true) {
    reader.Refuse("fp16", "bf16 and fp16 are both true: keep one");
  }
  if (training.pure_bf16 && (training.fp16 == true || training.bf16 == false)) {
    reader.Refuse("pure_bf16", "pure_bf16 needs bf16: leave fp16 and bf16 to auto");
  }
  CheckWork(training, run_length, reader);
  return training;
}

ResourceSpec ReadResources(KeyReader reader) {
  ResourceSpec resources;
  resources.gpus = reader.Texts("gpus");
  resources.max_nodes = reader.Int("max_nodes");
  resources.max_gpus = reader.Int("max_gpus");
  resources.cpus_per_gpu = reader.Int("cpus_per_gpu");
  resources.mem_per_gpu_bytes = reader.Size("mem_per_gpu");
  reader.Finish();
  return resources;
}

SlurmSpec ReadSlurm(KeyReader reader) {
  SlurmSpec slurm;
  slurm.account = reader.Text("account").value_or("");
  slurm.qos = reader.Text("qos").value_or("");
  slurm.partition = reader.Text("partition").value_or("");
  slurm.constraint = reader.Text("constraint").value_or("");
  slurm.exclude = reader.Text("exclude").value_or("");
  slurm.nodelist = reader.Text("nodelist").value_or("");
  slurm.time_limit_seconds = reader.TimeLimit("time");
  reader.Finish();
  return slurm;
}

OutputSpec ReadOutput(KeyReader reader) {
  OutputSpec output;
  output.checkpoint_bytes = reader.Size("checkpoint");
  output.keep = reader.Int("keep");
  output.save_steps = reader.Int("save_steps");
  reader.Finish();
  return output;
}

RequiresSpec ReadRequires(KeyReader reader) {
  RequiresSpec requires_gpu;
  requires_gpu.flash_attention_2 = reader.Bool("flash_attention_2").value_or(false);
  requires_gpu.fp8 = reader.Bool("fp8").value_or(false);
  requires_gpu.min_compute_capability = reader.Number("min_compute_capability");
  reader.Finish();
  return requires_gpu;
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
                RunLength run_length, FirstError* errors) {
  Stage stage;
  stage.pointer = pointer;
  KeyReader reader(FieldReader(stage_json, pointer, errors), "stages");
  stage.name = reader.Text("name").value_or("");
  reader.Finish();
  const auto section = [&](const json& value, const char* key) {
    return KeyReader(FieldReader(value, reader.PointerOf(key), errors), key);
  };
  const json model = Merged(document, stage_json, "model");
  stage.model = ReadModel(section(model, "model"));
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
  static constexpr std::array<const char*, 8> kFamilies = {
      "adafactor", "adam", "paged_adam", "sgd", "lion", "paged_lion", "rmsprop", "adagrad"};
  return std::any_of(kFamilies.begin(), kFamilies.end(),
                     [&](const char* family) { return optim.starts_with(family); });
}

bool HasTiming(const TrainingSpec& training) {
  return std::any_of(training.measured.begin(), training.measured.end(),
                     [](const MeasuredStep& step) { return step.seconds_per_step > 0; });
}

std::vector<std::string> AssumptionsOf(const Stage& stage, const ModelShape& shape) {
  const TrainingSpec& training = stage.training;
  std::vector<std::string> assumed = stage.model.assumed;
  if (!IsKnownOptimizer(training.optim)) {
    assumed.push_back(
        fmt::format("optim {} is not known: counted as AdamW with states in fp32", training.optim));
  }
  if (!training.max_seq_length && shape.layers.num_hidden_layers > 0) {
    assumed.push_back(
        fmt::format("{} tokens a sample: give training.max_seq_length", kUsualSeqLength));
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
  FirstError errors;
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
  spec.resources = ReadResources(section("resources"));
  spec.slurm = ReadSlurm(section("slurm"));
  spec.output = ReadOutput(section("output"));
  spec.requires_gpu = ReadRequires(section("requires"));
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
