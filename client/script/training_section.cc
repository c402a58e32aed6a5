#include "client/script/training_section.h"

#include <fmt/format.h>

#include <cstdlib>
#include <utility>

#include "common/base/text.h"
#include "common/base/words.h"
#include "common/training/foreign_keys.h"
#include "common/training/train_spec.h"
#include "yaml/yaml_scalar.h"

namespace gpuadvise::client {
namespace {

constexpr int64_t kMostBatchInSamples = 100'000;  // a larger batch is one of tokens

class Section {
 public:
  Section(const ScriptHints& hints, const ScriptTraining& training, const ReadNamedFile& read,
          ScriptReport& report)
      : hints_(hints),
        training_(training),
        read_(read),
        report_(report),
        launch_(training.launch),
        flags_(training.flags),
        layout_(training.layout) {}

  std::string Write() {
    WriteLength();
    WriteBatch();
    WriteNumber(Meaning::kEvalBatch, "per_device_eval_batch_size");
    WriteNumber(Meaning::kSeqLength, "max_seq_length");
    WritePrecision();
    WriteMethod();
    WriteCheckpointing();
    WriteSharding();
    WriteParallelism();
    WriteDetails();
    return "training:\n" + yaml_ + "\n";
  }

 private:
  void Key(const std::string& name, const std::string& value) {
    yaml_ += "  " + name + ": " + value + "\n";
  }

  // The same, and says so.
  void Take(const std::string& name, const std::string& value) {
    Key(name, value);
    report_.taken.push_back(name + " " + value);
  }

  void WriteNumber(Meaning meaning, const std::string& key) {
    const FlagUse* use = flags_.Find(meaning);
    if (use == nullptr) return;
    if (const auto number = flags_.Number(meaning)) {
      Key(key, std::to_string(*number));
      report_.taken.push_back(fmt::format("{} {} ({})", key, *number, use->spelling));
    } else if (!use->value) {
      report_.missing.push_back(fmt::format("{} {}: its value is not in the script; write {}",
                                            use->spelling, use->raw, key));
    }
  }

  void WriteLength() {
    if (hints_.max_steps) {
      Key("max_steps", std::to_string(*hints_.max_steps));
      return;
    }
    if (flags_.Number(Meaning::kMaxSteps)) {
      return WriteNumber(Meaning::kMaxSteps, "max_steps");
    }
    const FlagUse* epochs = flags_.Find(Meaning::kEpochs);
    double count = 0;
    if (epochs != nullptr && epochs->value) count = std::atof(epochs->value->c_str());
    if (count > 0) {
      Key("num_train_epochs", fmt::format("{:g}", count));
      report_.taken.push_back(
          fmt::format("{:g} {} ({})", count, count == 1 ? "epoch" : "epochs", epochs->spelling));
      const auto samples =
          hints_.num_samples ? hints_.num_samples : flags_.Number(Meaning::kSamples);
      if (samples) {
        Key("num_samples", std::to_string(*samples));
        return;
      }
      yaml_ += "  # num_samples: how many samples one epoch has\n";
      report_.missing.push_back(
          "number of samples in the data set: fill in num_samples, or give --num-samples N");
      return;
    }
    if (hints_.num_samples) {
      Key("samples", std::to_string(*hints_.num_samples));
      return;
    }
    yaml_ += "  # max_steps: how many optimizer steps\n";
    report_.missing.push_back(
        "length of the training: fill in max_steps (or num_train_epochs and num_samples), or give "
        "--max-steps N");
  }

  // The batch that the script's own GPUs make is kept; how it is split is free from now on.
  void WriteBatch() {
    const auto micro = flags_.Number(Meaning::kMicroBatch);
    const auto global = flags_.Number(Meaning::kGlobalBatch);
    const bool fixed_accumulation = !TakesAccumulation(flags_) && !global;
    const int64_t accumulation = flags_.Number(Meaning::kAccumulation).value_or(1);
    if (hints_.effective_batch_size) {
      Key("effective_batch_size", std::to_string(*hints_.effective_batch_size));
    } else if (global && *global > kMostBatchInSamples) {
      report_.batch_is_missing = true;
      report_.missing.push_back(
          fmt::format("{} {}: sounds like tokens; write effective_batch_size in samples",
                      SpellingOf(Meaning::kGlobalBatch), *global));
    } else if (global) {
      Key("effective_batch_size", std::to_string(*global));
      report_.taken.push_back(fmt::format("{} samples a step on all GPUs ({})", *global,
                                          SpellingOf(Meaning::kGlobalBatch)));
    } else if (micro && IsUnknown(Meaning::kAccumulation)) {
      report_.batch_is_missing = true;
      yaml_ += "  # effective_batch_size: micro-batch × accumulation × GPUs, which is kept\n";
      const FlagUse* use = flags_.Find(Meaning::kAccumulation);
      report_.missing.push_back(
          fmt::format("the batch: {} {} has no value in the script; write effective_batch_size",
                      use->spelling, use->raw));
    } else if (micro && layout_.gpus() > 0) {
      const int64_t gpus = layout_.gpus();
      const std::string product = fmt::format("{} × {} × {}", *micro, accumulation, gpus);
      Key("effective_batch_size",
          fmt::format("{}  # {} GPUs in the script", *micro * accumulation * gpus, product));
      report_.taken.push_back(fmt::format("batch {} = {} samples a step ({})",
                                          product + (gpus == 1 ? " GPU" : " GPUs"),
                                          *micro * accumulation * gpus, BatchSpellings()));
      if (IsPlainBatchName()) {
        report_.unclear.push_back(SpellingOf(Meaning::kMicroBatch) + " " + std::to_string(*micro) +
                                  ": taken as the batch of one GPU, not of all");
      }
    } else if (micro) {
      Key("per_device_train_batch_size", std::to_string(*micro));
      Key("gradient_accumulation_steps", std::to_string(accumulation));
      report_.unclear.push_back(
          "number of GPUs of the script: the batch per GPU is kept, so the effective batch grows "
          "with the GPUs");
    } else {
      yaml_ += "  # effective_batch_size: micro-batch × accumulation × GPUs, which is kept\n";
      report_.batch_is_missing = true;
      report_.missing.push_back(MissingBatch());
    }
    if (fixed_accumulation && micro && layout_.gpus() > 0) {
      Key("gradient_accumulation_steps", std::to_string(accumulation));
      report_.unclear.push_back(
          "the command has no flag for gradient accumulation: it stays 1, and only GPU counts that "
          "divide the batch are advised; if the program has such a flag, pass {accumulation}");
    }
  }

  // Whether a figure is there, but not what it is.
  bool IsUnknown(Meaning meaning) const {
    return flags_.Find(meaning) != nullptr && !flags_.Number(meaning);
  }

  bool IsPlainBatchName() const {
    std::string name = SpellingOf(Meaning::kMicroBatch);
    name = name.substr(name.rfind('.') == std::string::npos ? 0 : name.rfind('.') + 1);
    return layout_.gpus() > 1 &&
           IsOneOf(name, {"--batch-size", "--batch_size", "-b", "batch_size", "--bs", "--batch",
                          "--train_batch_size", "--train-batch-size"});
  }

  std::string MissingBatch() const {
    const FlagUse* use = flags_.Find(Meaning::kMicroBatch);
    if (use != nullptr && !use->value) {
      return fmt::format("the batch: {} {} has no value in the script; write effective_batch_size",
                         use->spelling, use->raw);
    }
    if (!training_.config.path.empty() && !training_.config.is_read) {
      return fmt::format(
          "the batch: it stands in {}, which cannot be read here; write effective_batch_size, and "
          "let the command take {{micro_batch}} and {{accumulation}}",
          training_.config.path);
    }
    return "the batch: no flag gives it; write effective_batch_size, and pass {micro_batch} and "
           "{accumulation} in the command";
  }

  std::string SpellingOf(Meaning meaning) const {
    const FlagUse* use = flags_.Find(meaning);
    return use == nullptr ? "" : use->spelling;
  }

  std::string BatchSpellings() const {
    std::vector<std::string> names;
    for (Meaning meaning : {Meaning::kMicroBatch, Meaning::kAccumulation, Meaning::kGpusPerNode,
                            Meaning::kGpus, Meaning::kNodes}) {
      if (!SpellingOf(meaning).empty()) names.push_back(SpellingOf(meaning));
    }
    return Join(names, ", ");
  }

  void WritePrecision() {
    const std::string word = flags_.Text(Meaning::kPrecision);
    const bool half = word.find("16") != std::string::npos;
    const bool bf16 = flags_.Switch(Meaning::kBf16).value_or(word.find("bf") != std::string::npos);
    const bool fp16 = flags_.Switch(Meaning::kFp16).value_or(half && !bf16);
    if (bf16) {
      Key("bf16", "true");
      report_.taken.push_back("bf16: GPUs without it are left out");
    } else if (fp16) {
      Key("fp16", "true");
      report_.taken.push_back("fp16");
    } else if (IsOneOf(word, {"no", "fp32", "32", "float32", "32-true"}) ||
               flags_.Switch(Meaning::kBf16) == false) {
      Key("bf16", "false");
      Key("fp16", "false");
      report_.taken.push_back("fp32");
    }
    if (bf16 && launch_.launcher == Launcher::kTune) Key("pure_bf16", "true");
    if (const auto tf32 = flags_.Switch(Meaning::kTf32)) Key("tf32", *tf32 ? "true" : "false");
  }

  // ---- what is trained, and how its frozen rest is kept

  void WriteMethod() {
    const std::string method = MethodWord();
    if (!method.empty()) {
      Key("method", method);
      report_.taken.push_back("method " + method + LoraText());
    }
    if (const std::string base = QuantizationWord(); !base.empty()) Key("quantization", base);
    WriteTrainer();
  }

  // Writes the adapters; " (r: 16)" for the report.
  std::string LoraText() {
    std::vector<std::string> parts;
    if (const auto rank = flags_.Number(Meaning::kLoraRank)) {
      parts.push_back(fmt::format("r: {}", *rank));
    }
    if (const auto alpha = flags_.Number(Meaning::kLoraAlpha)) {
      parts.push_back(fmt::format("lora_alpha: {}", *alpha));
    }
    const double dropout = std::atof(flags_.Text(Meaning::kLoraDropout).c_str());
    if (dropout > 0 && dropout < 1) parts.push_back(fmt::format("lora_dropout: {:g}", dropout));
    if (parts.empty() || MethodWord() == "full") return "";
    Key("lora", "{" + Join(parts, ", ") + "}");
    return " (" + Join(parts, ", ") + ")";
  }

  bool IsInBits(int64_t bits) const { return flags_.Number(Meaning::kQuantizedBits) == bits; }

  std::string MethodWord() const {
    const std::string word = LowerCase(flags_.Text(Meaning::kLora));
    const std::string program = ProgramOf(launch_);
    const bool four_bits = flags_.Switch(Meaning::kLoadIn4Bit).value_or(false) || IsInBits(4) ||
                           word == "qlora" || program.find("qlora") != std::string::npos;
    if (flags_.Switch(Meaning::kDora).value_or(false)) return "dora";
    if (four_bits) return "qlora";
    if (IsOneOf(word, {"lora", "dora"})) return word;
    if (IsOneOf(word, {"full", "freeze"})) return word == "full" ? "full" : "";
    if (flags_.Switch(Meaning::kLora).value_or(false)) return "lora";
    if (flags_.Switch(Meaning::kLora) == false) return "full";
    if (program.find("full_finetune") != std::string::npos) return "full";
    const bool named = program.find("lora") != std::string::npos;
    return named || flags_.Number(Meaning::kLoraRank) ? "lora" : "";
  }

  // Where it says more than the method.
  std::string QuantizationWord() const {
    if (flags_.Switch(Meaning::kLoadIn8Bit).value_or(false) || IsInBits(8)) return "int8";
    const std::string word = LowerCase(flags_.Text(Meaning::kQuantization));
    return IsOneOf(word, {"gptq", "awq"}) ? word : "";
  }

  // The trainer's word: LLaMA-Factory's stage, axolotl's rl, swift's rlhf_type, `trl dpo`, dpo.py.
  void WriteTrainer() {
    std::string said = LowerCase(flags_.Text(Meaning::kTrainer));
    if (said.empty()) said = LowerCase(ProgramOf(launch_));
    if (said == "trl" && launch_.program_at + 1 < launch_.words.size()) {
      said = launch_.words[launch_.program_at + 1].raw;
    }
    for (const auto& [part, trainer] : {std::pair{"grpo", "grpo"},
                                        {"orpo", "orpo"},
                                        {"dpo", "dpo"},
                                        {"kto", "kto"},
                                        {"ppo", "ppo"},
                                        {"reward", "reward"}}) {
      if (said.find(part) != std::string::npos) return Take("trainer", trainer);
    }
    if (said == "rm") Take("trainer", "reward");
  }

  void WriteCheckpointing() {
    const FlagUse* use = flags_.Find(Meaning::kCheckpointing);
    if (use == nullptr) return;
    const std::string word = LowerCase(flags_.Text(Meaning::kCheckpointing));
    if (word == "selective" || use->spelling == "--recompute-activations") {
      return Take("gradient_checkpointing", "selective");
    }
    if (IsOneOf(word, {"unsloth", "offload"})) return Take("gradient_checkpointing", word);
    const auto on = flags_.Switch(Meaning::kCheckpointing);
    if (!on && word.empty()) return;
    Key("gradient_checkpointing", on.value_or(true) ? "true" : "false");
    report_.taken.push_back(std::string("gradient checkpointing ") +
                            (on.value_or(true) ? "on" : "off"));
  }

  // ---- how it is spread

  void WriteSharding() {
    const std::string fsdp = LowerCase(flags_.Text(Meaning::kFsdp));
    if (const std::string words = FsdpWords(fsdp); !words.empty()) return Take("fsdp", words);
    const std::string file = flags_.Text(Meaning::kDeepspeed);
    if (const auto stage = ZeroStage(file)) {
      Key("deepspeed",
          fmt::format("{}{}", *stage, file.empty() ? "" : "  # ZeRO stage of " + Comment(file)));
      report_.taken.push_back(fmt::format("DeepSpeed ZeRO stage {}", *stage));
      WriteOffload(file);
    } else if (!file.empty()) {
      report_.missing.push_back(fmt::format(
          "the ZeRO stage of {}, which cannot be read here: write training.deepspeed", file));
    }
    for (const std::string& fixed : FixedByDeepspeed(file, read_)) {
      report_.unclear.push_back(fmt::format(
          "{} fixes {}: write \"auto\" there, or the advice cannot be submitted", file, fixed));
    }
  }

  // "full_shard offload" of "full_shard auto_wrap offload"; "" none is said.
  std::string FsdpWords(const std::string& said) const {
    // Accelerate writes FSDP1's strategy there too.
    const std::string of_reshard = LowerCase(flags_.Text(Meaning::kReshard));
    std::string strategy;
    if (said == "true" || said == "1") strategy = "full_shard";
    if (said == "2") strategy = "shard_grad_op";
    for (const char* each : {"full_shard", "shard_grad_op", "hybrid_shard", "hybrid_shard_zero2"}) {
      if ((said + " " + of_reshard).find(each) != std::string::npos) strategy = each;
    }
    const auto reshard = flags_.Switch(Meaning::kReshard);
    const bool second = flags_.Number(Meaning::kFsdpVersion) == 2;
    const bool titan = ProgramOf(launch_).find("torchtitan") != std::string::npos;
    if (strategy.empty() && (second || reshard || titan)) strategy = "full_shard";
    if (strategy == "full_shard" && reshard == false) strategy = "shard_grad_op";
    if (strategy.empty() || said == "no_shard") return "";
    const bool offload = said.find("offload") != std::string::npos ||
                         flags_.Switch(Meaning::kFsdpOffload).value_or(false);
    return strategy + (offload ? " offload" : "");
  }

  void WriteOffload(const std::string& file) {
    const OffloadDevices devices = OffloadOf(file, read_);
    const auto is_away = [&](Meaning meaning) {
      return IsOneOf(LowerCase(flags_.Text(meaning)), {"cpu", "nvme"});
    };
    if (devices.parameters || is_away(Meaning::kOffloadParameters)) return Take("offload", "all");
    if (devices.optimizer || is_away(Meaning::kOffloadOptimizer)) Take("offload", "optimizer");
  }

  std::optional<int64_t> ZeroStage(const std::string& file) const {
    if (const FlagUse* use = flags_.Find(Meaning::kZeroStage); use != nullptr && use->value) {
      const std::string& text = *use->value;
      if (text.size() == 1 && text[0] >= '0' && text[0] <= '3') return text[0] - '0';
    }
    return ZeroStageOf(file, read_);
  }

  void WriteParallelism() {
    for (const auto& [meaning, key] : {std::pair{Meaning::kTensorParallel, "tensor_parallel_size"},
                                       {Meaning::kPipelineParallel, "pipeline_parallel_size"},
                                       {Meaning::kContextParallel, "context_parallel_size"},
                                       {Meaning::kExpertParallel, "expert_parallel_size"}}) {
      const auto size = flags_.Number(meaning);
      if (size && *size > 1) Take(key, std::to_string(*size));
    }
  }

  // A file's name as a comment of a line can have it.
  static std::string Comment(const std::string& text) {
    std::string plain;
    for (char c : text) plain += static_cast<unsigned char>(c) < 0x20 ? '_' : c;
    return plain;
  }

  // ---- the rest

  void WriteSwitch(Meaning meaning, const std::string& key) {
    if (flags_.Switch(meaning).value_or(false)) Take(key, "true");
  }

  void WriteDetails() {
    const std::string optim = LowerCase(flags_.Text(Meaning::kOptimizer));
    const std::string not_counted = NotCountedOfOptimizer(optim);
    if (IsKnownOptimizer(optim) || !not_counted.empty()) Key("optim", YamlText(optim));
    std::string attention = LowerCase(flags_.Text(Meaning::kAttention));
    const bool flash = flags_.Switch(Meaning::kFlashAttention).value_or(false);
    if (flash || attention.starts_with("flash")) attention = "flash_attention_2";
    if (IsOneOf(attention, {"flash_attention_2", "sdpa", "eager"})) {
      Key("attn_implementation", attention);
    }
    if (const auto compile = flags_.Switch(Meaning::kCompile)) {
      Key("torch_compile", *compile ? "true" : "false");
    }
    if (const auto workers = flags_.Number(Meaning::kWorkers)) {
      Key("dataloader_num_workers", std::to_string(*workers));
    }
    WriteSwitch(Meaning::kLiger, "use_liger_kernel");
    WriteSwitch(Meaning::kChunkedLoss, "chunked_cross_entropy");
    WriteSwitch(Meaning::kActivationOffload, "activation_offloading");
    WriteSwitch(Meaning::kOptimizerInBackward, "optimizer_in_backward");
    if (IsInFp8()) Take("fp8", "true");
    WriteNotCounted(not_counted);
  }

  bool IsInFp8() const {
    const std::string word =
        LowerCase(flags_.Text(Meaning::kPrecision) + " " + flags_.Text(Meaning::kFp8));
    return word.find("fp8") != std::string::npos || word.find("float8") != std::string::npos ||
           IsOneOf(Trim(word), {"hybrid", "e4m3"}) || flags_.Switch(Meaning::kFp8).value_or(false);
  }

  void WriteNotCounted(const std::string& optimizer) {
    std::vector<std::string> parts = flags_.not_counted;
    if (!optimizer.empty()) parts.push_back(optimizer);
    const bool generates = yaml_.find("trainer: grpo") != std::string::npos ||
                           yaml_.find("trainer: ppo") != std::string::npos;
    if (generates) parts.push_back("memory and time of generating samples");
    if (!parts.empty()) report_.unclear.push_back("not included: " + Join(parts, "; "));
  }

  const ScriptHints& hints_;
  const ScriptTraining& training_;
  const ReadNamedFile& read_;
  ScriptReport& report_;
  const LaunchCommand& launch_;
  const TrainingFlags& flags_;
  const ScriptLayout& layout_;
  std::string yaml_;
};

}  // namespace

std::string TrainingSectionOf(const ScriptHints& hints, const ScriptTraining& training,
                              const ReadNamedFile& read, ScriptReport& report) {
  return Section(hints, training, read, report).Write();
}

}  // namespace gpuadvise::client
