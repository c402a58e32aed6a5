#include "client/script/training_section.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "client/script/launch_program.h"
#include "client/script/section_writer.h"
#include "client/script/trainer_defaults.h"
#include "client/script/training_length.h"
#include "client/script/training_sharding.h"
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
        layout_(training.layout),
        out_(report) {}

  std::string Write() {
    WriteLengthAndBatch(hints_, training_, out_);
    WriteNumber("per_device_eval_batch_size");
    WriteNumber("max_seq_length");
    WritePrecision();
    WriteMethod();
    WriteCheckpointing();
    WriteSharding(training_, read_, out_);
    AskForMethod();
    WriteParallelism(training_, out_);
    WriteDetails();
    WriteOthers();
    AskForUnknown();
    return "training:\n" + out_.yaml + "\n";
  }

 private:
  void Key(const std::string& name, const std::string& value) { out_.Key(name, value); }
  void Take(const std::string& name, const std::string& value) { out_.Take(name, value); }
  void WriteNumber(const std::string& key) { out_.WriteNumber(key, flags_); }
  bool IsWritten(const std::string& key) const { return out_.IsWritten(key); }

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

  // A setting whose value is a variable that nothing in the script gives.
  void AskForUnknown() {
    for (const auto& [name, use] : flags_.uses) {
      const Setting* setting = FindSetting(name);
      const bool counts = setting != nullptr && setting->here.starts_with("training.");
      if (use.value || use.bare || !counts) continue;
      if (name == "trainer" && !use.spelling.starts_with('-')) continue;  // a group of Hydra's
      if (IsOneOf(name, {"per_device_train_batch_size", "gradient_accumulation_steps",
                         "effective_batch_size", "bf16", "fp16", "lora.lora_alpha", "resume",
                         "max_steps", "num_train_epochs", "zero_stage", "deepspeed"})) {
        continue;  // asked for above, or without effect
      }
      report_.missing.push_back(fmt::format("{} {} has no value in the script: write {}",
                                            use.spelling, use.raw, setting->here));
    }
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
    } else if (IsOneOf(word, {"no", "none", "false", "fp32", "32", "float32", "32-true"}) ||
               flags_.Switch("bf16") == false || flags_.Switch("amp") == false) {
      Key("bf16", "false");
      Key("fp16", "false");
      report_.taken.push_back("fp32");
    } else if (!IsInFp8()) {
      if (!word.empty()) {
        report_.unclear.push_back("precision " + Quoted(word) +
                                  " is not known: give training.bf16, training.fp16 or neither");
      }
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
    const bool unread = training_.config.HidesSettings();
    const bool accelerate = launch_.launcher == Launcher::kAccelerate;
    if (flags_.Find("torch_dtype") != nullptr) return;
    for (const char* key : {"bf16", "fp16"}) {
      const FlagUse* use = flags_.Find(key);
      if (use == nullptr || use->bare || use->value) continue;
      report_.unclear.push_back(fmt::format(
          "{} {} has no value in the script: half precision is counted; write {} into the file",
          use->spelling, use->raw, key));
      return;
    }
    for (const char* key : {"precision", "amp"}) {
      const FlagUse* use = flags_.Find(key);
      if (use == nullptr || (!use->bare && !flags_.Switch(key).value_or(false))) continue;
      report_.unclear.push_back(
          use->spelling + " does not say which: half precision is counted; write bf16 or fp16");
      return;
    }
    if (usual && !usual->fp32 && !accelerate && !unread) return;
    if (!usual || accelerate || unread || !IsWholeCommandKnown(launch_)) {
      report_.unclear.push_back(
          std::string("no flag gives the precision: half precision is counted") +
          (unread ? "; " + training_.config.unread[0] +
                        " may say another; for fp32 write bf16: false and fp16: false"
           : accelerate ? ", accelerate's configuration decides (--mixed_precision)"
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
      const FlagUse* bits = method == "qlora" ? flags_.Find("load_in_4bit") : nullptr;
      report_.taken.push_back("method " + method + LoraText() +
                              (bits == nullptr ? "" : " (" + bits->spelling + ")"));
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
                           IsOneOf(LowerCase(flags_.Text("quantization")),
                                   {"4bit", "int4", "nf4", "fp4", "bnb_4bit", "bnb-4bit"}) ||
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
    if (IsOneOf(word, {"8bit", "int8", "bnb_8bit", "bnb-8bit"})) return "int8";
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
                                        {"rloo", "grpo"},
                                        {"remax", "grpo"},
                                        {"reinforce", "grpo"},
                                        {"gae", "ppo"},
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
    if (!usual || training_.config.HidesSettings() || !IsWholeCommandKnown(launch_)) return;
    const bool on = usual->gradient_checkpointing;
    Key("gradient_checkpointing",
        fmt::format("{}  # the default of {}", on ? "true" : "false", usual->trainer));
    Assume("checkpointing", on ? "gradient checkpointing" : "no gradient checkpointing",
           usual->trainer);
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
                            "optimizer_in_backward", "prepare_model_for_kbit_training"}) {
      if (flags_.Switch(key).value_or(false)) Take(key, "true");
    }
    for (const char* key : {"bnb_4bit_use_double_quant", "use_reentrant"}) {
      if (const auto said = flags_.Switch(key)) Take(key, *said ? "true" : "false");
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
    const bool generates = out_.yaml.find("trainer: grpo") != std::string::npos ||
                           out_.yaml.find("trainer: ppo") != std::string::npos;
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
  SectionWriter out_;
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
