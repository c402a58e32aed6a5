#include "common/spec/training_reader.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "common/base/text.h"
#include "common/base/words.h"
#include "common/keys/foreign_keys.h"
#include "common/models/media_reading.h"
#include "common/spec/sharding_keys.h"
#include "common/spec/software_year.h"

namespace gpuadvise {
namespace {

using nlohmann::json;

constexpr int64_t kMaxBatch = 1'000'000;  // keeps every product of batch numbers inside 64 bits
constexpr NamedValue<Attention> kAttentions[] = {{"flash_attention_2", Attention::kFlashAttention2},
                                                 {"sdpa", Attention::kSdpa},
                                                 {"eager", Attention::kEager}};
constexpr NamedValue<Trainer> kTrainers[] = {{"sft", Trainer::kSft},       {"dpo", Trainer::kDpo},
                                             {"orpo", Trainer::kOrpo},     {"kto", Trainer::kKto},
                                             {"reward", Trainer::kReward}, {"grpo", Trainer::kGrpo},
                                             {"ppo", Trainer::kPpo}};
constexpr NamedValue<BaseWeights> kQuantizations[] = {
    {"nf4", BaseWeights::kNf4},   {"fp4", BaseWeights::kNf4},   {"gptq", BaseWeights::kGptq4},
    {"awq", BaseWeights::kGptq4}, {"int8", BaseWeights::kInt8}, {"none", BaseWeights::kAuto}};

// true or false; nullopt for auto.
std::optional<bool> ReadAutoSwitch(KeyReader& reader, const std::string& key) {
  const std::string word = reader.Switch(key).value_or("auto");
  return word == "auto" ? std::nullopt : std::optional(word == "true");
}

void ReadCheckpointing(KeyReader& reader, TrainingSpec& training) {
  const std::string word = reader.Switch("gradient_checkpointing").value_or("auto");
  const bool offloads = word == "offload" || word == "unsloth";
  if (word == "selective") {
    training.gradient_checkpointing = Checkpointing::kSelective;
  } else if (word == "true" || word == "full" || offloads) {
    training.gradient_checkpointing = Checkpointing::kFull;
  } else if (word == "false" || word == "none") {
    training.gradient_checkpointing = Checkpointing::kNone;
  }
  const std::optional<bool> offload = reader.Bool("activation_offloading");
  if (offloads && offload == false) {
    reader.Refuse("activation_offloading",
                  "gradient_checkpointing: " + word + " moves activations to the host: keep one");
  }
  training.activation_offload = offloads || offload.value_or(false);
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

void Append(std::vector<std::string> more, std::vector<std::string>& texts) {
  for (std::string& text : more) texts.push_back(std::move(text));
}

// Whether it is said.
bool ReadLora(KeyReader& reader, TrainingSpec& training) {
  std::optional<KeyReader> lora = reader.Map("lora");
  if (!lora) return false;
  LoraSpec& spec = training.lora;
  lora->Into("r", spec.r);
  lora->Into("lora_dropout", spec.dropout);
  lora->Into("target_modules", spec.target_modules);
  // LLaMA-Factory's word for PEFT's.
  std::replace(spec.target_modules.begin(), spec.target_modules.end(), std::string("all"),
               std::string("all-linear"));
  lora->Into("modules_to_save", spec.modules_to_save);
  Append(lora->Finish(), training.not_counted);
  return true;
}

// What is trained, and how the frozen rest is kept: both say something of each other.
void ReadMethod(KeyReader& reader, bool has_adapters, TrainingSpec& training) {
  const std::optional<Method> method = reader.Choice("method", kMethods);
  const std::optional<BaseWeights> said = reader.Choice("quantization", kQuantizations);
  std::optional<BaseWeights> base = said;
  std::string key = "quantization";
  const auto load = [&](const char* name, BaseWeights weights) {
    if (reader.Bool(name) != true) return;
    if (base && *base != weights) {
      reader.Refuse(name, fmt::format("{} and {} contradict each other: keep one", key, name));
    }
    base = weights;
    key = name;
  };
  load("load_in_4bit", BaseWeights::kNf4);
  load("load_in_8bit", BaseWeights::kInt8);
  if (has_adapters && method == Method::kFull) {
    reader.Refuse("method", "full trains all weights: write method: lora, or take lora out");
  }
  training.method = method.value_or(has_adapters ? Method::kLora : Method::kFull);
  if (!base) return;
  if (*base == BaseWeights::kAuto) {
    if (method == Method::kQlora) {
      reader.Refuse("quantization",
                    "qlora keeps the weights in 4 bits: take quantization out, or "
                    "write method: lora");
    }
    return;
  }
  if (method == Method::kFull) {
    reader.Refuse(key, key +
                           " freezes the weights, so only adapters can be trained: write method: "
                           "lora or qlora, or take it out");
  }
  if (method == Method::kQlora && *base == BaseWeights::kInt8) {
    reader.Refuse(key, "qlora keeps the weights in 4 bits: write method: lora for 8 bits");
  }
  training.base_weights = *base;
  if (*base == BaseWeights::kNf4) {
    if (method != Method::kDora) training.method = Method::kQlora;
  } else if (method != Method::kDora) {
    training.method = Method::kLora;
  }
}

// The format in which the weights are loaded.
void ReadWeightFormat(KeyReader& reader, TrainingSpec& training) {
  const std::string pure = reader.Switch("pure_bf16").value_or("auto");
  training.pure_bf16 = pure == "true";
  const std::string dtype = reader.Word("torch_dtype").value_or("");
  const bool bf16 = dtype == "bfloat16" || dtype == "bf16";
  const bool fp32 = dtype == "float32" || dtype == "fp32";
  if (training.method != Method::kFull) {
    if (fp32 && training.base_weights == BaseWeights::kAuto && training.method != Method::kQlora) {
      training.base_weights = BaseWeights::kFp32;
    }
    return;
  }
  if (dtype.empty()) return;
  if ((bf16 && pure == "false") || (fp32 && pure == "true")) {
    reader.Refuse("torch_dtype",
                  fmt::format("torch_dtype {} contradicts pure_bf16: keep one", dtype));
  }
  if (bf16) training.pure_bf16 = true;
  if (!bf16 && !fp32 && pure != "true") {
    training.not_counted.push_back(
        fmt::format("torch_dtype {} (weights are counted in float32)", dtype));
  }
}

void ReadOptimizer(KeyReader& reader, TrainingSpec& training) {
  if (const std::optional<std::string> optim = reader.Text("optim")) {
    training.optim = *optim;
    training.optim_is_said = true;
  }
  reader.Into("optimizer_in_backward", training.optimizer_in_backward);
  if (training.optimizer_in_backward && training.accumulation.value_or(1) > 1) {
    reader.Refuse("optimizer_in_backward",
                  "optimizer_in_backward uses each gradient at once and cannot accumulate: write "
                  "gradient_accumulation_steps: 1");
  }
}

void ReadParallelism(KeyReader& reader, TrainingSpec& training) {
  reader.Into("tensor_parallel_size", training.tensor_parallel_size);
  reader.Into("pipeline_parallel_size", training.pipeline_parallel_size);
  reader.Into("context_parallel_size", training.context_parallel_size);
  reader.Into("expert_parallel_size", training.expert_parallel_size);
}

// PyTorch 2.10 without quotes is 2.1 by the time that it arrives here.
bool LostItsZero(const json& value) { return value == 1.1 || value == 2.1; }

void ReadSoftware(KeyReader& reader, TrainingSpec& training) {
  constexpr double kFirstCompiler = 2023;  // torch.compile came with PyTorch 2.0, in March of it
  const json* value = reader.fields().Any("software");
  const std::optional<std::string> text = reader.Text("software");
  if (value == nullptr || !text) return;
  if (LostItsZero(*value)) {
    reader.Refuse("software", fmt::format("software {} may be {}0: put the version in quotes, '{}' "
                                          "or '{}0'",
                                          *text, *text, *text, *text));
    return;
  }
  const Result<std::optional<double>> year = SoftwareYearFrom(*text);
  if (!year) return reader.Refuse("software", year.error().message);
  training.software_year = *year;
  if (*year && **year < kFirstCompiler && training.torch_compile == true) {
    reader.Refuse("torch_compile", fmt::format("torch_compile needs PyTorch 2.0, and software says "
                                               "{}: take one out",
                                               *text));
  }
}

// false, true, or the words that resume it.
bool ReadResume(KeyReader& reader) {
  const json* value = reader.Any("resume");
  if (value == nullptr) return false;
  if (value->is_boolean()) return value->get<bool>();
  if (value->is_string()) return value->get<std::string>() != "false";
  reader.Refuse("resume",
                "resume must be true, if the command resumes from its checkpoint itself, or the "
                "words that replace {resume} in the command");
  return false;
}

void ReadMemoryKeys(KeyReader& reader, TrainingSpec& training) {
  reader.Into("images_per_sample", training.images_per_sample);
  const bool has_adapters = ReadLora(reader, training);
  ReadMethod(reader, has_adapters, training);
  ReadWeightFormat(reader, training);
  ReadOptimizer(reader, training);
  ReadCheckpointing(reader, training);
  ReadSharding(reader, training);
  ReadParallelism(reader, training);
  training.tf32 = ReadAutoSwitch(reader, "tf32").value_or(false);
  reader.Into("chunked_cross_entropy", training.chunked_cross_entropy);
  reader.Into("use_liger_kernel", training.use_liger_kernel);
  reader.Into("upcast_logits", training.upcast_logits);
  reader.Into("use_reentrant", training.use_reentrant);
  reader.Into("bnb_4bit_use_double_quant", training.double_quantized);
  reader.Into("prepare_model_for_kbit_training", training.kbit_prepared);
  training.trainer = reader.Choice("trainer", kTrainers).value_or(Trainer::kSft);
  if (training.trainer == Trainer::kGrpo || training.trainer == Trainer::kPpo) {
    training.not_counted.push_back(
        fmt::format("the rollouts of {} (memory and time of generating samples)",
                    training.trainer == Trainer::kGrpo ? "GRPO" : "PPO"));
  }
  if (std::string optimizer = FindUncountedOptimizerPart(training.optim); !optimizer.empty()) {
    training.not_counted.push_back(std::move(optimizer));
  }
}

void ReadLengths(KeyReader& reader, TrainingSpec& training) {
  reader.Into("max_seq_length", training.max_seq_length);
  reader.Into("mean_seq_length", training.mean_seq_length);
  reader.Into("max_target_length", training.max_target_length);
  const auto longest = static_cast<double>(training.max_seq_length.value_or(kUsualSeqLength) +
                                           training.max_target_length.value_or(0));
  if (training.mean_seq_length.value_or(0) > longest) {
    reader.Refuse("mean_seq_length",
                  fmt::format("mean_seq_length {:g} is more than the longest text, {:g}",
                              *training.mean_seq_length, longest));
  }
}

// One way of saying how much work there is, and enough to say it.
void CheckWork(const TrainingSpec& training, RunLength run_length, KeyReader& reader) {
  int ways = (training.max_steps ? 1 : 0) + (training.num_train_epochs ? 1 : 0) +
             (training.samples ? 1 : 0);
  if (ways == 0 && run_length == RunLength::kRequired) {
    reader.errors()->Note(
        "training has no length: set max_steps, num_train_epochs with num_samples, or samples",
        reader.pointer());
  } else if (ways > 1) {
    reader.errors()->Note(
        "training has more than one of max_steps, num_train_epochs and samples: keep one",
        reader.pointer());
  } else if (training.num_train_epochs && !training.num_samples &&
             run_length == RunLength::kRequired) {
    reader.Refuse("num_train_epochs",
                  "num_train_epochs needs num_samples, the number of samples in the data set");
  }
}

}  // namespace

TrainingSpec ReadTraining(KeyReader reader, RunLength run_length) {
  TrainingSpec training;
  reader.Into("max_steps", training.max_steps);
  reader.Into("num_train_epochs", training.num_train_epochs);
  reader.Into("num_samples", training.num_samples);
  reader.Into("samples", training.samples);
  training.effective_batch_size = ReadBatchRange(reader, "effective_batch_size");
  reader.Into("per_device_train_batch_size", training.micro_batch);
  reader.Into("gradient_accumulation_steps", training.accumulation);
  ReadLengths(reader, training);
  training.bf16 = ReadAutoSwitch(reader, "bf16");
  training.fp16 = ReadAutoSwitch(reader, "fp16");
  training.attn_implementation = reader.Choice("attn_implementation", kAttentions);
  reader.Into("start_seconds", training.start_seconds);
  reader.Into("torch_compile", training.torch_compile);
  reader.Into("dataloader_num_workers", training.dataloader_num_workers);
  reader.Into("dataloader_seconds_per_sample", training.dataloader_seconds_per_sample);
  training.measured = ReadMeasuredSteps(reader, "measured");
  training.media = ReadMediaSettings(reader);
  reader.Into("fp8", training.fp8);
  training.resume = ReadResume(reader);
  ReadSoftware(reader, training);
  ReadMemoryKeys(reader, training);
  Append(reader.Finish(), training.not_counted);
  if (training.pure_bf16 && training.zero_stage && training.method == Method::kFull) {
    training.not_counted.emplace_back(
        "weights in bf16 alone (DeepSpeed keeps float32 ones beside them)");
  }
  if (training.bf16 == true && training.fp16 == true) {
    reader.Refuse("fp16", "bf16 and fp16 are both true: keep one");
  }
  if (training.pure_bf16 && (training.fp16 == true || training.bf16 == false)) {
    reader.Refuse("pure_bf16", "pure_bf16 needs bf16: leave fp16 and bf16 to auto");
  }
  CheckWork(training, run_length, reader);
  return training;
}

}  // namespace gpuadvise
