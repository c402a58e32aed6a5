#include "client/script/training_section.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "client/script/trainer_defaults.h"
#include "client/shell/shell_text.h"
#include "common/base/text.h"
#include "common/base/words.h"
#include "common/keys/foreign_keys.h"
#include "common/keys/train_keys.h"
#include "common/spec/train_spec.h"
#include "common/yaml/yaml_document.h"
#include "common/yaml/yaml_scalar.h"

namespace gpuadvise::client {
namespace {

constexpr int64_t kMostBatchInSamples = 100'000;  // a larger batch counts tokens

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
    WriteNumber("per_device_eval_batch_size");
    WriteNumber("max_seq_length");
    WritePrecision();
    WriteMethod();
    WriteCheckpointing();
    WriteSharding();
    AskForMethod();
    WriteParallelism();
    WriteDetails();
    WriteOthers();
    AskForUnknown();
    return "training:\n" + yaml_ + "\n";
  }

 private:
  void Key(const std::string& name, const std::string& value) {
    yaml_ += "  " + name + ": " + value + "\n";
  }

  // Writes a key and reports it.
  void Take(const std::string& name, const std::string& value) {
    Key(name, value);
    report_.taken.push_back(name + " " + value);
  }

  void WriteNumber(const std::string& key) {
    const FlagUse* use = flags_.Find(key);
    if (use == nullptr) return;
    if (const auto number = flags_.Number(key)) {
      Key(key, std::to_string(*number));
      report_.taken.push_back(fmt::format("{} {} ({})", key, *number, use->spelling));
    } else if (const auto side = SideOfBoth(use->value.value_or("")); side && key == "resolution") {
      Key(key, fmt::format("{}  # {}", *side, *use->value));
      report_.taken.push_back(fmt::format("{} {} ({} {})", key, *side, use->spelling, use->raw));
    } else if (use->value && !use->bare) {
      report_.missing.push_back(
          fmt::format("{} {}: no whole number; write {}", use->spelling, use->raw, key));
    }
  }

  // A side of the square of as many pixels as "1024,768".
  static std::optional<int64_t> SideOfBoth(const std::string& text) {
    const size_t comma = text.find_first_of(",x");
    if (comma == std::string::npos) return {};
    const double pixels = std::atof(text.c_str()) * std::atof(text.c_str() + comma + 1);
    return pixels > 0 && pixels < 1e9 ? std::optional(std::llround(std::sqrt(pixels)))
                                      : std::nullopt;
  }

  // Keys of `training` by their own names, such as cache_latents: what no other function wrote.
  void WriteOthers() {
    for (const auto& [setting, use] : flags_.uses) {
      const TrainKey* key = FindTrainKey("training." + std::string(setting));
      const std::string name(setting);
      if (key == nullptr || name.find('.') != std::string::npos || IsWritten(name)) continue;
      if (name.ends_with("_parallel_size")) continue;  // written where it is above 1
      if (IsOneOf(name, {"load_in_4bit", "load_in_8bit", "resume", "retry_on_oom", "packing",
                         "num_samples", "samples", "per_device_train_batch_size",
                         "gradient_accumulation_steps", "effective_batch_size"})) {
        continue;
      }
      if (key->kind == ValueKind::kBool && flags_.Switch(setting).value_or(false)) {
        Take(name, "true");
      } else if (key->kind == ValueKind::kWhole && flags_.Number(setting)) {
        Take(name, std::to_string(*flags_.Number(setting)));
      }
    }
  }

  bool IsWritten(const std::string& key) const {
    return yaml_.find("  " + key + ": ") != std::string::npos;
  }

  // A setting whose value is a variable that nothing in the script gives.
  void AskForUnknown() {
    for (const auto& [name, use] : flags_.uses) {
      const Setting* setting = FindSetting(name);
      const bool counts = setting != nullptr && setting->here.starts_with("training.");
      if (use.value || use.bare || !counts) continue;
      if (IsOneOf(name, {"per_device_train_batch_size", "gradient_accumulation_steps",
                         "effective_batch_size", "bf16", "fp16", "lora.lora_alpha", "resume",
                         "max_steps", "num_train_epochs", "zero_stage", "deepspeed"})) {
        continue;  // asked for above, or without effect
      }
      report_.missing.push_back(fmt::format("{} {} has no value in the script: write {}",
                                            use.spelling, use.raw, setting->here));
    }
  }

  void WriteLength() {
    if (hints_.max_steps) {
      Key("max_steps", std::to_string(*hints_.max_steps));
      return;
    }
    if (flags_.Number("max_steps")) {
      return WriteNumber("max_steps");
    }
    const FlagUse* epochs = flags_.Find("num_train_epochs");
    double count = 0;
    if (epochs != nullptr && epochs->value) count = std::atof(epochs->value->c_str());
    if (count > 0) {
      Key("num_train_epochs", fmt::format("{:g}", count));
      report_.taken.push_back(
          fmt::format("{:g} {} ({})", count, count == 1 ? "epoch" : "epochs", epochs->spelling));
      const auto samples = hints_.num_samples ? hints_.num_samples : flags_.Number("num_samples");
      if (samples) {
        Key("num_samples", std::to_string(*samples));
        if (!hints_.num_samples) SayWhereSamplesAreFrom(*flags_.Find("num_samples"));
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

  void SayWhereSamplesAreFrom(const FlagUse& use) {
    report_.taken.push_back(fmt::format("num_samples {} ({})", use.raw, use.spelling));
    if (use.spelling.find("max") == std::string::npos) return;
    report_.unclear.push_back(fmt::format(
        "{} {} is a limit: where the data set is smaller, write its size as num_samples",
        use.spelling, use.raw));
  }

  // Keeps the effective batch of the script's GPUs; its split is open from now on.
  void WriteBatch() {
    const auto micro = flags_.Number("per_device_train_batch_size");
    const auto global = flags_.Number("effective_batch_size");
    const bool fixed_accumulation = !TakesAccumulation(flags_) && !global;
    const int64_t accumulation = flags_.accelerate_accumulation > 0
                                     ? flags_.accelerate_accumulation
                                     : flags_.Number("gradient_accumulation_steps").value_or(1);
    if (hints_.effective_batch_size) {
      Key("effective_batch_size", std::to_string(*hints_.effective_batch_size));
    } else if (global && *global > kMostBatchInSamples) {
      report_.batch_is_missing = true;
      report_.missing.push_back(
          fmt::format("{} {}: sounds like tokens; write effective_batch_size in samples",
                      Spelling("effective_batch_size"), *global));
    } else if (global) {
      Key("effective_batch_size", std::to_string(*global));
      report_.taken.push_back(fmt::format("{} samples a step on all GPUs ({})", *global,
                                          Spelling("effective_batch_size")));
    } else if (micro && IsUnknown("gradient_accumulation_steps")) {
      report_.batch_is_missing = true;
      yaml_ += "  # effective_batch_size: micro-batch × accumulation × GPUs, which is kept\n";
      const FlagUse* use = flags_.Find("gradient_accumulation_steps");
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
        report_.unclear.push_back(
            Spelling("per_device_train_batch_size") + " " + std::to_string(*micro) +
            fmt::format(": taken as the batch of one GPU; if it is that of all, "
                        "write effective_batch_size: {} and "
                        "{{effective_batch_size}} in its place",
                        *micro * accumulation));
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
          "the command has no flag for gradient accumulation: counted as 1, and only GPU counts "
          "that divide the batch are advised; if the program accumulates by itself, multiply "
          "effective_batch_size, and pass {accumulation} if it has a flag");
    }
  }

  // Whether a figure is given but unknown.
  bool IsUnknown(std::string_view setting) const {
    return flags_.Find(setting) != nullptr && !flags_.Number(setting);
  }

  bool IsPlainBatchName() const {
    std::string name = Spelling("per_device_train_batch_size");
    name = name.substr(name.rfind('.') == std::string::npos ? 0 : name.rfind('.') + 1);
    return layout_.gpus() > 1 &&
           IsOneOf(name, {"--batch-size", "--batch_size", "-b", "batch_size", "--bs", "--batch",
                          "--train_batch_size", "--train-batch-size"});
  }

  std::string MissingBatch() const {
    const FlagUse* use = flags_.Find("per_device_train_batch_size");
    if (use != nullptr && !use->value) {
      return fmt::format("the batch: {} {} has no value in the script; write effective_batch_size",
                         use->spelling, use->raw);
    }
    if (!training_.config.path.empty() && !training_.config.is_read) {
      return fmt::format(
          "the batch: it is set in {}, which cannot be read here; write effective_batch_size, and "
          "let the command take {{micro_batch}} and {{accumulation}}",
          training_.config.path);
    }
    return "the batch: no flag gives it; write effective_batch_size, and pass {micro_batch} and "
           "{accumulation} in the command";
  }

  std::string Spelling(std::string_view setting) const {
    const FlagUse* use = flags_.Find(setting);
    return use == nullptr ? "" : use->spelling;
  }

  std::string BatchSpellings() const {
    std::vector<std::string> names;
    for (std::string_view setting : {"per_device_train_batch_size", "gradient_accumulation_steps",
                                     "gpus_per_node", "gpus", "nodes"}) {
      if (!Spelling(setting).empty()) names.push_back(Spelling(setting));
    }
    return Join(names, ", ");
  }

  void WritePrecision() {
    const std::string word = flags_.Text("precision");
    const std::string half = HalfPrecisionOf(flags_);
    if (half == "bf16") {
      Key("bf16", "true");
      report_.taken.push_back("bf16: GPUs without it are left out");
    } else if (half == "fp16") {
      Key("fp16", "true");
      report_.taken.push_back("fp16");
    } else if (IsOneOf(word, {"no", "fp32", "32", "float32", "32-true"}) ||
               flags_.Switch("bf16") == false) {
      Key("bf16", "false");
      Key("fp16", "false");
      report_.taken.push_back("fp32");
    } else if (word.empty() && !IsInFp8()) {
      WriteUsualPrecision();
    }
    if (half == "bf16" && launch_.launcher == Launcher::kTune) Key("pure_bf16", "true");
    if (const auto tf32 = flags_.Switch("tf32")) Key("tf32", *tf32 ? "true" : "false");
    WriteDtype();
  }

  // A trainer's default, which a program other than the trainer's own examples may replace.
  void Assume(const char* what, const std::string& value, const std::string& trainer) {
    const std::string program = ProgramOf(launch_);
    const bool example = program.substr(program.rfind('/') + 1).starts_with("run_");
    if (example || trainer != "Transformers") {
      report_.taken.push_back(fmt::format("{}, the default of {}", value, trainer));
    } else {
      report_.unclear.push_back(fmt::format(
          "no flag gives the {}: {} is counted, the default of {} unless the program sets another",
          what, value, trainer));
    }
  }

  // "torch_dtype: bfloat16" of a config file or a flag: the weights themselves.
  void WriteDtype() {
    std::string dtype = LowerCase(flags_.Text("torch_dtype"));
    if (dtype.starts_with("torch.")) dtype = dtype.substr(6);
    const bool known = IsOneOf(dtype, {"bfloat16", "float16", "float32", "bf16", "fp16", "fp32"});
    if (!known || flags_.Find("pure_bf16") != nullptr) return;
    Key("torch_dtype", dtype);
    report_.taken.push_back("torch_dtype " + dtype);
  }

  // What the trainer does where nothing is said.
  void WriteUsualPrecision() {
    const auto usual = DefaultsOfTrainer(launch_, flags_);
    const bool unread = !training_.config.path.empty() && !training_.config.is_read;
    const bool accelerate = launch_.launcher == Launcher::kAccelerate;
    if (unread || flags_.Find("torch_dtype") != nullptr) return;
    for (const char* key : {"bf16", "fp16"}) {
      const FlagUse* use = flags_.Find(key);
      if (use == nullptr || use->bare || use->value) continue;
      report_.unclear.push_back(fmt::format(
          "{} {} has no value in the script: half precision is counted; write {} into the file",
          use->spelling, use->raw, key));
      return;
    }
    if (const FlagUse* use = flags_.Find("precision"); use != nullptr && use->bare) {
      report_.unclear.push_back(
          use->spelling + " does not say which: half precision is counted; write bf16 or fp16");
      return;
    }
    if (usual && !usual->fp32 && !accelerate) return;
    if (!usual || accelerate || !IsWholeCommandKnown(launch_)) {
      report_.unclear.push_back(
          std::string("no flag gives the precision: half precision is counted") +
          (accelerate ? ", accelerate's configuration decides (--mixed_precision)"
                      : "; for fp32 write bf16: false and fp16: false"));
      return;
    }
    Key("bf16", "false");
    Key("fp16", fmt::format("false  # fp32, the default of {}", usual->trainer));
    Assume("precision", "fp32", usual->trainer);
  }

  // ---- method and quantization

  void WriteMethod() {
    const std::string method = MethodWord();
    if (!method.empty()) {
      Key("method", method);
      report_.taken.push_back("method " + method + LoraText());
      if (method != "full" && !flags_.Number("lora.r")) {
        report_.unclear.push_back("no flag gives the rank of the adapters: 8 is counted (lora.r)");
      }
    }
    if (const std::string base = QuantizationWord(); !base.empty()) Key("quantization", base);
    WriteTrainer();
  }

  // Programs of one's own choose adapters and sharding in their code.
  void AskForMethod() {
    const Launcher launcher = launch_.launcher;
    const bool names_all = launcher == Launcher::kLlamaFactory || launcher == Launcher::kSwift ||
                           launcher == Launcher::kAxolotl || launcher == Launcher::kTune ||
                           ProgramOf(launch_).find("run_") != std::string::npos;
    const FlagUse* use = flags_.Find("method");
    const bool known = names_all || !MethodWord().empty() || (use != nullptr && !use->value);
    const bool whole = layout_.gpus() > 1 && !IsSharded() && launcher != Launcher::kLlamaFactory &&
                       launcher != Launcher::kSwift && !DefaultsOfTrainer(launch_, flags_);
    if (known && !whole) return;
    const std::string what = known   ? "the sharding"
                             : whole ? "the method or the sharding"
                                     : "the method";
    const std::string counted = known   ? "a whole copy of the weights on each GPU"
                                : whole ? "training of all weights, a whole copy on each GPU,"
                                        : "training of all weights";
    const char* keys = known ? "deepspeed or fsdp" : whole ? "method, deepspeed or fsdp" : "method";
    report_.unclear.push_back(
        fmt::format("no flag gives {}: {} is counted; otherwise write {}", what, counted, keys));
  }

  bool IsSharded() const {
    if (IsWritten("fsdp") || IsWritten("deepspeed")) return true;
    for (const char* name : {"fsdp", "deepspeed", "zero_stage"}) {
      if (flags_.Find(name) != nullptr) return true;  // asked for
    }
    return launch_.launcher == Launcher::kDeepspeed;  // asked for by itself
  }

  // Writes the adapters; returns " (r: 16)" for the report.
  std::string LoraText() {
    std::vector<std::string> parts;
    if (const auto rank = flags_.Number("lora.r")) {
      parts.push_back(fmt::format("r: {}", *rank));
    }
    if (const auto alpha = flags_.Number("lora.lora_alpha")) {
      parts.push_back(fmt::format("lora_alpha: {}", *alpha));
    }
    const double dropout = std::atof(flags_.Text("lora.lora_dropout").c_str());
    if (dropout > 0 && dropout < 1) parts.push_back(fmt::format("lora_dropout: {:g}", dropout));
    if (const auto modules = TargetModules(flags_.Text("lora.target_modules")); !modules.empty()) {
      parts.push_back("target_modules: [" + Join(modules, ", ") + "]");
    }
    if (parts.empty() || MethodWord() == "full") return "";
    Key("lora", "{" + Join(parts, ", ") + "}");
    return " (" + Join(parts, ", ") + ")";
  }

  // "q_proj" and "v_proj" of "q_proj,v_proj" or "['q_proj', 'v_proj']"; nothing for all layers, and
  // for a pattern.
  static std::vector<std::string> TargetModules(const std::string& text) {
    std::vector<std::string> modules(1);
    for (const char c : text) {
      if (IsNamePart(c) || c == '.') {
        modules.back() += c;
      } else if (c == ',' || c == ' ') {
        if (!modules.back().empty()) modules.emplace_back();
      } else if (c != '[' && c != ']' && c != '\'' && c != '"') {
        return {};
      }
    }
    if (modules.back().empty()) modules.pop_back();
    const bool all = std::any_of(modules.begin(), modules.end(), [](const std::string& module) {
      return module.starts_with("all");
    });
    return all ? std::vector<std::string>() : modules;
  }

  bool IsInBits(int64_t bits) const { return flags_.Number("quantized_bits") == bits; }

  std::string MethodWord() const {
    const std::string word = LowerCase(flags_.Text("method"));
    const std::string program = ProgramOf(launch_);
    const bool four_bits = flags_.Switch("load_in_4bit").value_or(false) || IsInBits(4) ||
                           word == "qlora" || program.find("qlora") != std::string::npos;
    if (flags_.Switch("dora").value_or(false)) return "dora";
    if (four_bits) return "qlora";
    if (IsOneOf(word, {"lora", "dora"})) return word;
    if (word.find("lora") != std::string::npos) return "lora";  // networks.lora
    if (IsOneOf(word, {"full", "freeze"})) return word == "full" ? "full" : "";
    if (flags_.Switch("method").value_or(false)) return "lora";
    if (flags_.Switch("method") == false) return "full";
    if (program.find("full_finetune") != std::string::npos) return "full";
    const bool named = program.find("lora") != std::string::npos;
    return named || flags_.Number("lora.r") ? "lora" : "";
  }

  // The quantization if it adds to the method; else "".
  std::string QuantizationWord() const {
    if (flags_.Switch("load_in_8bit").value_or(false) || IsInBits(8)) return "int8";
    const std::string word = LowerCase(flags_.Text("quantization"));
    return IsOneOf(word, {"gptq", "awq"}) ? word : "";
  }

  // From LLaMA-Factory's stage, axolotl's rl, swift's rlhf_type, `trl dpo` or dpo.py.
  void WriteTrainer() {
    std::string said = LowerCase(flags_.Text("trainer"));
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
    const FlagUse* use = flags_.Find("gradient_checkpointing");
    if (use == nullptr) return WriteUsualCheckpointing();
    const std::string word = LowerCase(flags_.Text("gradient_checkpointing"));
    if (word == "selective" || use->spelling == "--recompute-activations") {
      return Take("gradient_checkpointing", "selective");
    }
    if (IsOneOf(word, {"unsloth", "offload"})) return Take("gradient_checkpointing", word);
    const auto on = flags_.Switch("gradient_checkpointing");
    if (!on && word.empty()) return;
    Key("gradient_checkpointing", on.value_or(true) ? "true" : "false");
    report_.taken.push_back(std::string("gradient checkpointing ") +
                            (on.value_or(true) ? "on" : "off"));
  }

  // What the trainer does where nothing is said, if all that is said can be seen.
  void WriteUsualCheckpointing() {
    const auto usual = DefaultsOfTrainer(launch_, flags_);
    const bool unread = !training_.config.path.empty() && !training_.config.is_read;
    if (!usual || unread || !IsWholeCommandKnown(launch_)) return;
    const bool on = usual->gradient_checkpointing;
    Key("gradient_checkpointing",
        fmt::format("{}  # the default of {}", on ? "true" : "false", usual->trainer));
    Assume("checkpointing", on ? "gradient checkpointing" : "no gradient checkpointing",
           usual->trainer);
  }

  // ---- sharding

  void WriteSharding() {
    const FlagUse* switch_use = flags_.Find("fsdp");
    const bool bare = switch_use != nullptr && switch_use->bare;
    const std::string fsdp = bare ? "true" : LowerCase(flags_.Text("fsdp"));
    if (const std::string words = FsdpWords(fsdp); !words.empty()) return Take("fsdp", words);
    if (WriteStrategy()) return;
    const FlagUse* stage_use = flags_.Find("zero_stage");
    if (stage_use != nullptr && !stage_use->value) {
      report_.missing.push_back(
          fmt::format("{} {} has no value in the script: write "
                      "training.deepspeed",
                      stage_use->spelling, stage_use->raw));
      return;
    }
    const std::string file = DeepspeedFile();
    if (const auto stage = ZeroStage(file)) {
      Key("deepspeed",
          fmt::format("{}{}", *stage, file.empty() ? "" : "  # ZeRO stage of " + Comment(file)));
      report_.taken.push_back(fmt::format("DeepSpeed ZeRO stage {}", *stage));
      WriteOffload(file);
    } else if (!file.empty()) {
      report_.missing.push_back(fmt::format(
          "the ZeRO stage of {}, which cannot be read here: write training.deepspeed", file));
    } else if (launch_.launcher == Launcher::kDeepspeed) {
      report_.missing.push_back(
          "no flag gives DeepSpeed's configuration: write training.deepspeed, its ZeRO stage");
    }
    for (const std::string& fixed : FixedByDeepspeed(file, read_)) {
      report_.unclear.push_back(fmt::format(
          "{} fixes {}: write \"auto\" there, or the advice cannot be submitted", file, fixed));
    }
  }

  // As written where it holds variables: its name may tell the stage.
  std::string DeepspeedFile() const {
    const FlagUse* use = flags_.Find("deepspeed");
    if (use == nullptr || use->bare) return "";
    std::string file = use->value.value_or(use->raw);
    std::erase(file, '"');
    for (const char* home : {"${HOME}", "$HOME"}) {
      const char* path = std::getenv("HOME");
      if (path != nullptr && file.starts_with(home)) file.replace(0, std::strlen(home), path);
    }
    return file;
  }

  // Lightning's strategy: fsdp, deepspeed_stage_2_offload, ddp; or a trainer class that shards.
  bool WriteStrategy() {
    const std::string said =
        LowerCase(flags_.Text("strategy")) + " " + LowerCase(flags_.Text("trainer"));
    const bool offload = said.find("offload") != std::string::npos;
    if (said.find("fsdp") != std::string::npos) {
      Take("fsdp", offload ? "full_shard offload" : "full_shard");
      return true;
    }
    const size_t at = said.find("deepspeed");
    if (at == std::string::npos) return false;
    const auto stage = ZeroStageOf(said.substr(at), read_);
    Take("deepspeed", std::to_string(stage.value_or(2)));  // Lightning's own
    if (offload) Take("offload", stage == 3 ? "all" : "optimizer");
    return true;
  }

  // "full_shard offload" from "full_shard auto_wrap offload"; "": none given.
  std::string FsdpWords(const std::string& said) const {
    // Accelerate puts FSDP1's strategy there too.
    const std::string of_reshard = LowerCase(flags_.Text("reshard_after_forward"));
    std::string strategy;
    if (IsOneOf(said, {"true", "1", "full", "fully_shard"})) strategy = "full_shard";
    if (said == "hybrid") strategy = "hybrid_shard";
    if (said == "2") strategy = "shard_grad_op";
    for (const char* each : {"full_shard", "shard_grad_op", "hybrid_shard", "hybrid_shard_zero2"}) {
      if ((said + " " + of_reshard).find(each) != std::string::npos) strategy = each;
    }
    const auto reshard = flags_.Switch("reshard_after_forward");
    const bool second = flags_.Number("fsdp_version") == 2;
    const bool titan = ProgramOf(launch_).find("torchtitan") != std::string::npos;
    // torchtune's recipes for several devices shard.
    const bool tune = launch_.launcher == Launcher::kTune &&
                      ProgramOf(launch_).find("distributed") != std::string::npos;
    if (strategy.empty() && (second || reshard || titan || tune)) strategy = "full_shard";
    if (strategy == "full_shard" && reshard == false) strategy = "shard_grad_op";
    if (strategy.empty() || said == "no_shard") return "";
    const bool offload =
        said.find("offload") != std::string::npos || flags_.Switch("fsdp_offload").value_or(false);
    return strategy + (offload ? " offload" : "");
  }

  void WriteOffload(const std::string& file) {
    const OffloadDevices devices = OffloadOf(file, read_);
    const auto is_away = [&](std::string_view setting) {
      return IsOneOf(LowerCase(flags_.Text(setting)), {"cpu", "nvme"});
    };
    if (devices.parameters || is_away("offload_parameters")) return Take("offload", "all");
    if (devices.optimizer || is_away("offload_optimizer")) Take("offload", "optimizer");
  }

  std::optional<int64_t> ZeroStage(const std::string& file) const {
    if (const FlagUse* use = flags_.Find("zero_stage"); use != nullptr && use->value) {
      const std::string& text = *use->value;
      if (text.size() == 1 && text[0] >= '0' && text[0] <= '3') return text[0] - '0';
    }
    return ZeroStageOf(file, read_);
  }

  void WriteParallelism() {
    for (const char* key : {"tensor_parallel_size", "pipeline_parallel_size",
                            "context_parallel_size", "expert_parallel_size"}) {
      const auto size = flags_.Number(key);
      if (size && *size > 1) Take(key, std::to_string(*size));
    }
  }

  // A file name made safe for a YAML comment.
  static std::string Comment(const std::string& text) {
    std::string plain;
    for (char c : text) plain += static_cast<unsigned char>(c) < 0x20 ? '_' : c;
    return plain;
  }

  // ---- the rest

  void WriteDetails() {
    const std::string optim = LowerCase(flags_.Text("optim"));
    const std::string not_counted = FindUncountedOptimizerPart(optim);
    if (!optim.empty()) Key("optim", YamlText(optim));
    std::string attention = LowerCase(flags_.Text("attn_implementation"));
    const bool flash = flags_.Switch("flash_attention").value_or(false);
    if (flash || attention.starts_with("flash")) attention = "flash_attention_2";
    if (IsOneOf(attention, {"flash_attention_2", "sdpa", "eager"})) {
      Key("attn_implementation", attention);
    }
    if (const auto compile = flags_.Switch("torch_compile")) {
      Key("torch_compile", *compile ? "true" : "false");
    }
    if (const auto workers = flags_.Number("dataloader_num_workers")) {
      Key("dataloader_num_workers", std::to_string(*workers));
    }
    for (const char* key : {"use_liger_kernel", "chunked_cross_entropy", "activation_offloading",
                            "optimizer_in_backward"}) {
      if (flags_.Switch(key).value_or(false)) Take(key, "true");
    }
    if (IsWritten("optimizer_in_backward") && !IsWritten("gradient_accumulation_steps")) {
      Key("gradient_accumulation_steps", "1  # each gradient is used at once");
    }
    if (flags_.Switch("use_ema").value_or(false)) Take("use_ema", "true");
    WriteNumber("resolution");
    if (IsInFp8()) Take("fp8", "true");
    WriteNotCounted(not_counted);
  }

  bool IsInFp8() const {
    const std::string word = LowerCase(flags_.Text("precision") + " " + flags_.Text("fp8"));
    return word.find("fp8") != std::string::npos || word.find("float8") != std::string::npos ||
           IsOneOf(Trim(word), {"hybrid", "e4m3"}) || flags_.Switch("fp8").value_or(false);
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

nlohmann::json SettingsOfCommand(const LaunchCommand& command, const TrainingFlags& flags) {
  ScriptTraining training;
  training.launch = command;
  training.flags = flags;
  ScriptReport report;
  const ReadNamedFile nothing = [](const std::string&) { return std::optional<std::string>(); };
  const auto section = ParseYaml(TrainingSectionOf({}, training, nothing, report), "command");
  if (!section || !section->root["training"].is_object()) return nlohmann::json::object();
  nlohmann::json settings = section->root["training"];
  if (flags.Find("gradient_checkpointing") == nullptr) settings.erase("gradient_checkpointing");
  for (const char* figure :
       {"max_steps", "num_train_epochs", "num_samples", "samples", "effective_batch_size",
        "per_device_train_batch_size", "gradient_accumulation_steps", "per_device_eval_batch_size",
        "dataloader_num_workers", "bf16", "fp16", "tf32"}) {
    settings.erase(figure);
  }
  return settings;
}

}  // namespace gpuadvise::client
