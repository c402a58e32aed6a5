#include "client/script/training_config.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <vector>

#include "common/base/text.h"
#include "yaml/yaml_document.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

constexpr int kMostDepth = 6;  // of a config file's sections

std::optional<json> Parsed(const std::string& text, const std::string& path) {
  if (path.ends_with(".json")) {
    json read = json::parse(text, nullptr, false, true);
    return read.is_object() ? std::optional(std::move(read)) : std::nullopt;
  }
  const Result<YamlDocument> document = ParseYaml(text, path);
  return document ? std::optional(document->root) : std::nullopt;
}

std::optional<json> Read(const std::string& path, const ReadNamedFile& read) {
  if (path.empty()) return {};
  const std::optional<std::string> text = read(path);
  return text ? Parsed(*text, path) : std::nullopt;
}

std::string WordOf(const json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// Settings of an evaluation are not the training's.
bool IsOfEvaluation(const std::string& section) {
  return section.find("val") != std::string::npos || section.find("eval") != std::string::npos ||
         section.find("test") != std::string::npos;
}

class ConfigReader {
 public:
  ConfigReader(const FlagMeanings& meanings, TrainingFlags& flags)
      : meanings_(meanings), flags_(flags) {}

  // Outer keys go before those of sections.
  void Add(const json& section, const std::string& prefix, int depth) {
    for (const auto& [key, value] : section.items()) {
      if (!value.is_structured() && !value.is_null()) Keep(prefix + key, value);
    }
    if (depth >= kMostDepth) return;
    for (const auto& [key, value] : section.items()) {
      if (value.is_object() && !IsOfEvaluation(key)) Add(value, prefix + key + ".", depth + 1);
    }
  }

 private:
  void Keep(const std::string& key, const json& value) {
    const auto meaning = meanings_.Of(key);
    if (!meaning) AddNotCounted(key.substr(key.rfind('.') + 1), value, flags_);
    if (!meaning || flags_.uses.contains(*meaning)) return;
    // The command's own batch goes before the file's.
    const bool said = flags_.uses.contains(Meaning::kMicroBatch);
    if (*meaning == Meaning::kPlainBatch && said && !config_has_split_) return;
    config_has_split_ = config_has_split_ || *meaning == Meaning::kMicroBatch;
    FlagUse use;
    use.spelling = key;
    use.raw = WordOf(value);
    use.value = use.raw;
    use.in_config = true;
    flags_.uses[*meaning] = std::move(use);
  }

  const FlagMeanings& meanings_;
  TrainingFlags& flags_;
  bool config_has_split_ = false;  // the file says one GPU's batch
};

bool TakesHuggingFaceConfig(const LaunchCommand& command) {
  const std::string program = ProgramOf(command);
  return program == "trl" || program.find("sft.py") != std::string::npos ||
         program.find("dpo.py") != std::string::npos ||
         program.find("grpo.py") != std::string::npos;
}

// Of accelerate's config file: GPUs and nodes are the advice's, and what belongs to another way of
// sharding than `distributed_type` says does not hold.
void AddAccelerateConfig(const ReadNamedFile& read, TrainingFlags& flags) {
  const std::optional<json> document = Read(flags.accelerate_config, read);
  if (!document) return;
  json kept = json::object();
  for (const char* key : {"mixed_precision", "fp8_config", "parallelism_config"}) {
    if (document->contains(key)) kept[key] = (*document)[key];
  }
  const std::string type = document->value("distributed_type", json("")).dump();
  if (type.find("FSDP") != std::string::npos) {
    kept["fsdp_config"] = document->value("fsdp_config", json::object());
    const json& fsdp = kept["fsdp_config"];
    if (!fsdp.is_object() || !fsdp.contains("fsdp_sharding_strategy")) kept["fsdp"] = true;
  }
  if (type.find("DEEPSPEED") != std::string::npos) {
    kept["deepspeed_config"] = document->value("deepspeed_config", json::object());
    if (kept["deepspeed_config"].is_object()) {
      kept["deepspeed_config"].erase("gradient_accumulation_steps");
    }
  }
  static const LaunchCommand kNoProgram;
  const FlagMeanings meanings(kNoProgram);
  ConfigReader(meanings, flags).Add(kept, "", 0);
}

}  // namespace

TrainingConfig AddConfig(const LaunchCommand& command, const ReadNamedFile& read,
                         TrainingFlags& flags) {
  TrainingConfig config;
  AddAccelerateConfig(read, flags);
  const FlagUse* use = flags.Find(Meaning::kConfig);
  if (use == nullptr) return config;
  config.path = use->value.value_or(use->raw);
  const std::optional<json> document = use->value ? Read(config.path, read) : std::nullopt;
  if (!document) return config;
  config.is_read = true;
  const FlagMeanings meanings(command);
  ConfigReader(meanings, flags).Add(*document, "", 0);
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
  devices.optimizer = is_away("offload_optimizer");
  devices.parameters = is_away("offload_param");
  return devices;
}

std::optional<std::string> OverrideOf(const LaunchCommand& command, const std::string& key,
                                      const std::string& value) {
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
