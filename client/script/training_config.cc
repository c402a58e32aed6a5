#include "client/script/training_config.h"

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "client/script/launch_program.h"
#include "common/base/text.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

constexpr int kMostDepth = 6;  // of nested sections in a config file

std::optional<json> Read(const std::string& path, const ReadNamedFile& read) {
  if (path.empty()) return {};
  const std::optional<std::string> text = read(path);
  return text ? ParseConfig(*text, path) : std::nullopt;
}

std::string ScalarText(const json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// Settings of evaluation and inference are not the training's; a schedule's and a callback's
// lengths are their own.
bool IsOfAnotherTask(const std::string& section) {
  constexpr std::array<std::string_view, 10> kTasks = {"val",      "test",    "infer", "serve",
                                                       "generate", "predict", "sched", "callback",
                                                       "logger",   "hydra"};
  const std::string name = LowerCase(section);
  return std::any_of(kTasks.begin(), kTasks.end(),
                     [&](std::string_view task) { return name.find(task) != std::string::npos; });
}

bool HasPart(const std::string& key, std::initializer_list<std::string_view> parts) {
  const std::string name = LowerCase(key);
  return std::any_of(parts.begin(), parts.end(),
                     [&](std::string_view part) { return name.find(part) != std::string::npos; });
}

// Whether an unknown key sounds like a number of GPUs or an accumulation.
bool SoundsLikeSplit(const std::string& key) {
  return HasPart(key, {"accum", "n_gpu", "num_gpu", "nproc", "devices"});
}

// Whether an unknown key sounds like something that memory or time rests on.
bool SoundsLikeAFigure(const std::string& key) {
  return HasPart(key,
                 {"parallel",    "offload",    "checkpointing", "recompute",  "max_len",
                  "_len",        "max_length", "max_size",      "max_tokens", "grad_checkpoint",
                  "precision",   "dtype",      "freeze",        "quantiz",    "microbatch",
                  "micro_batch", "batch_size", "shard",         "amp_",       "use_amp"}) &&
         !HasPart(key, {"eval", "val_", "test", "infer", "warmup", "log_", "save", "worker", "seed",
                        "unfreeze"});
}

bool SaysSomething(const json& value) {
  const bool no_text = value.is_string() && value.get_ref<const std::string&>().empty();
  return !(value == false || value == 0 || no_text || value.is_null());
}

class ConfigReader {
 public:
  using Files = std::map<std::string, std::string>;  // by key

  ConfigReader(const LaunchCommand& command, TrainingFlags& flags, const Files& files = {})
      : names_(command), flags_(flags), files_(files) {}

  // Adds outer keys before those of sections, so that they win.
  void Add(const json& section, const std::string& prefix, int depth) {
    for (const auto& [key, value] : section.items()) {
      if (!value.is_structured() && !value.is_null()) Keep(prefix + key, value);
      if (value.is_array()) KeepNames(prefix + key, value);
    }
    if (depth >= kMostDepth) return;
    for (const auto& [key, value] : section.items()) {
      if (value.is_object() && !IsOfAnotherTask(key)) Add(value, prefix + key + ".", depth + 1);
    }
  }

 private:
  // target_modules: [q_proj, v_proj]
  void KeepNames(const std::string& key, const json& list) {
    const Setting* setting = names_.Find(key);
    if (setting == nullptr || setting->name != "lora.target_modules") return;
    std::string names;
    for (const json& each : list) {
      if (each.is_string()) names += (names.empty() ? "" : ",") + each.get<std::string>();
    }
    if (!names.empty()) Keep(key, names);
  }

  void Keep(const std::string& key, const json& value) {
    const Setting* setting = names_.Find(key);
    const auto file = files_.find(key);
    if (setting == nullptr) {
      const std::string name = key.substr(key.rfind('.') + 1);
      const size_t counted = flags_.not_counted.size();
      AddNotCounted(name, value, flags_);
      if (SoundsLikeSplit(name) && value.is_number_integer() && value > 1) {
        flags_.unclear.push_back(key + " " + value.dump() +
                                 (file == files_.end() ? "" : " in " + file->second));
      } else if (SoundsLikeAFigure(name) && SaysSomething(value) &&
                 counted == flags_.not_counted.size()) {
        flags_.others.push_back(key + ": " + ScalarText(value) +
                                (file == files_.end() ? "" : " in " + file->second));
      }
    }
    if (setting == nullptr || flags_.uses.contains(setting->name)) return;
    // The command's own batch overrides the file's.
    const bool said = flags_.uses.contains("per_device_train_batch_size");
    if (setting->name == "batch" && said && !config_has_split_) return;
    config_has_split_ = config_has_split_ || setting->name == "per_device_train_batch_size";
    FlagUse use;
    use.spelling = key;
    use.raw = ScalarText(value);
    use.value = use.raw;
    use.in_config = true;
    use.file = file == files_.end() ? "" : file->second;
    flags_.uses[setting->name] = std::move(use);
  }

  const SettingNames names_;
  TrainingFlags& flags_;
  const Files files_;
  bool config_has_split_ = false;  // the file gives the batch of one GPU
};

bool TakesHuggingFaceConfig(const LaunchCommand& command) {
  const std::string program = ProgramOf(command);
  return program == "trl" || program.find("sft.py") != std::string::npos ||
         program.find("dpo.py") != std::string::npos ||
         program.find("grpo.py") != std::string::npos;
}

// How a file that cannot be read shards the model, as its name says: "configs/zero3.yaml".
void GuessSharding(const std::string& path, TrainingFlags& flags) {
  if (path.empty()) return;
  FlagUse use;
  use.spelling = use.raw = path;
  use.in_config = true;
  if (ZeroStageOf(path, [](const std::string&) { return std::nullopt; })) {
    use.value = path;
    flags.uses.emplace("deepspeed", use);
  } else if (LowerCase(path.substr(path.rfind('/') + 1)).find("fsdp") != std::string::npos) {
    use.value = "full_shard";
    flags.uses.emplace("fsdp", use);
  }
}

// Reads accelerate's config file without GPUs and nodes, which the advice decides, and without
// settings of a sharding other than `distributed_type`.
void AddAccelerateConfig(const ReadNamedFile& read, TrainingFlags& flags) {
  const std::optional<json> document = Read(flags.accelerate_config, read);
  if (!document) return GuessSharding(flags.accelerate_config, flags);
  json kept = json::object();
  for (const char* key : {"mixed_precision", "fp8_config", "parallelism_config"}) {
    if (document->contains(key)) kept[key] = (*document)[key];
  }
  const json& processes = document->value("num_processes", json());
  if (processes.is_number_integer()) flags.accelerate_processes = processes.get<int64_t>();
  const std::string type = document->value("distributed_type", json("")).dump();
  if (type.find("FSDP") != std::string::npos) {
    kept["fsdp_config"] = document->value("fsdp_config", json::object());
    const json& fsdp = kept["fsdp_config"];
    if (!fsdp.is_object() || !fsdp.contains("fsdp_sharding_strategy")) kept["fsdp"] = true;
  }
  if (type.find("DEEPSPEED") != std::string::npos) {
    kept["deepspeed_config"] = document->value("deepspeed_config", json::object());
    json& deepspeed = kept["deepspeed_config"];
    if (deepspeed.is_object()) {
      // It wins over what the program says itself.
      const json& fixed = deepspeed.value("gradient_accumulation_steps", json());
      if (fixed.is_number_integer()) flags.accelerate_accumulation = fixed.get<int64_t>();
      deepspeed.erase("gradient_accumulation_steps");
    }
  }
  static const LaunchCommand kNoProgram;
  ConfigReader(kNoProgram, flags).Add(kept, "", 0);
}

// The section of a config file that `--config-section NAME` takes, else all of the file.
const json& SectionOfCommand(const LaunchCommand& command, const json& document) {
  for (size_t i = 1; i < command.words.size(); ++i) {
    const std::string& option = command.words[i - 1].raw;
    if (option != "--config-section" && option != "--config_section") continue;
    const auto found = document.find(command.words[i].value.value_or(command.words[i].raw));
    if (found != document.end() && found->is_object()) return *found;
  }
  return document;
}

}  // namespace

TrainingConfig AddConfig(const LaunchCommand& command, const ReadNamedFile& read,
                         TrainingFlags& flags) {
  TrainingConfig config;
  config.unread = flags.unread;
  AddAccelerateConfig(read, flags);
  if (!flags.accelerate_config.empty() && !Read(flags.accelerate_config, read)) {
    config.unread.push_back(flags.accelerate_config);
  }
  const FlagUse* use = flags.Find("config");
  const std::string named = use == nullptr ? "" : use->value.value_or(use->raw);
  const ConfigFiles files = ReadConfigFiles(command, named, read);
  config.path = files.path;
  config.is_read = files.is_read;
  config.takes_overrides = files.takes_overrides;
  config.unread.insert(config.unread.end(), files.unread.begin(), files.unread.end());
  std::erase_if(flags.uses, [&](const auto& item) {
    const FlagUse& each = item.second;
    return !each.in_config && !each.in_env && files.choices.contains(each.word);
  });
  if (files.merged.empty()) return config;
  const json& section = SectionOfCommand(command, files.merged);
  const bool whole = &section == &files.merged;
  ConfigReader(command, flags, whole ? files.file_of : std::map<std::string, std::string>())
      .Add(section, "", 0);
  SettlePlainBatch(flags);
  return config;
}

OffloadDevices OffloadOf(const std::string& path, const ReadNamedFile& read) {
  const std::optional<json> document = Read(path, read);
  OffloadDevices devices;
  if (!document) return devices;
  const json zero = document->value("zero_optimization", json::object());
  const auto is_away = [&](const char* key) {
    const auto found = zero.is_object() ? zero.find(key) : zero.end();
    if (!zero.is_object() || found == zero.end() || !found->is_object()) return false;
    const auto device = found->find("device");
    return device != found->end() && (*device == "cpu" || *device == "nvme");
  };
  const auto is_on = [&](const char* key) {  // DeepSpeed's names before 0.4
    return zero.is_object() && zero.value(key, json()) == true;
  };
  devices.optimizer = is_away("offload_optimizer") || is_on("cpu_offload");
  devices.parameters = is_away("offload_param") || is_on("cpu_offload_params");
  return devices;
}

std::optional<std::string> OverrideOf(const LaunchCommand& command, const TrainingConfig& config,
                                      const std::string& key, const std::string& value) {
  if (config.takes_overrides) return " " + key + "=" + value;
  switch (command.launcher) {
    case Launcher::kTune:
    case Launcher::kLlamaFactory:
      return " " + key + "=" + value;
    case Launcher::kAxolotl: {
      std::string name = key;
      const bool module = ProgramOf(command).find('.') != std::string::npos;
      if (!module) std::replace(name.begin(), name.end(), '_', '-');
      return " --" + name + "=" + value;
    }
    default:
      if (TakesHuggingFaceConfig(command)) return " --" + key + " " + value;
      return {};
  }
}

std::optional<int64_t> ZeroStageOf(const std::string& path, const ReadNamedFile& read) {
  if (const std::optional<json> document = Read(path, read)) {
    const auto zero = document->find("zero_optimization");
    if (zero == document->end() || !zero->is_object() || !zero->contains("stage")) return 0;
    const json& stage = (*zero)["stage"];
    if (stage.is_number_integer() && stage >= 0 && stage <= 3) return stage.get<int64_t>();
    return {};
  }
  std::string name = path.substr(path.rfind('/') + 1);
  for (char& c : name) c = LowerCase(c);
  for (std::string_view lead : {"zero", "stage", "z"}) {
    for (size_t at = name.find(lead); at != std::string::npos; at = name.find(lead, at + 1)) {
      size_t digit = at + lead.size();
      if (digit < name.size() && (name[digit] == '_' || name[digit] == '-')) ++digit;
      const bool alone = digit + 1 >= name.size() || !IsDigit(name[digit + 1]);
      if (digit < name.size() && name[digit] >= '0' && name[digit] <= '3' && alone) {
        return name[digit] - '0';
      }
    }
  }
  return {};
}

std::vector<std::string> FixedByDeepspeed(const std::string& path, const ReadNamedFile& read) {
  std::vector<std::string> fixed;
  const std::optional<json> document = Read(path, read);
  if (!document) return fixed;
  for (const char* key :
       {"train_batch_size", "train_micro_batch_size_per_gpu", "gradient_accumulation_steps"}) {
    const auto found = document->find(key);
    if (found != document->end() && found->is_number()) {
      fixed.push_back(std::string(key) + " " + found->dump());
    }
  }
  return fixed;
}

}  // namespace gpuadvise::client
