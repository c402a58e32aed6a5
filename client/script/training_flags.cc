#include "client/script/training_flags.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

#include "client/script/launch_program.h"
#include "client/script/script_text.h"
#include "common/base/text.h"
#include "common/keys/train_keys.h"

namespace gpuadvise::client {
namespace {

// Parts of names that sound like a figure of the advice, and of names that sound like them.
constexpr std::array<std::string_view, 19> kHints = {
    "batch",   "accum",     "nproc", "num_gpu",       "n_gpu", "epoch", "max_step",
    "seq_len", "precision", "fp16",  "checkpointing", "bf16",  "lora",  "rank",
    "quant",   "model_len", "shard", "fsdp",          "zero"};
// Parts of names that set how well a program learns, what it reads and what it writes, but neither
// its memory nor its run time.
constexpr std::array<std::string_view, 50> kNeutral = {
    "lr",     "learning", "warmup",   "decay",  "momentum", "beta",    "eps",     "clip",
    "seed",   "log",      "save",     "eval",   "valid",    "test",    "out",     "dir",
    "path",   "file",     "data",     "name",   "tag",      "project", "wandb",   "tensorboard",
    "report", "resume",   "restart",  "ckpt",   "host",     "port",    "token",   "cache",
    "worker", "schedule", "verbose",  "print",  "user",     "entity",  "split",   "fold",
    "metric", "monitor",  "patience", "weight", "loss",     "alpha",   "shuffle", "device",
    "config", "exp"};
constexpr std::array<std::string_view, 8> kOtherHints = {"warmup",       "save", "log",   "eval",
                                                         "sample_every", "seed", "alpha", "port"};

std::string Normalized(std::string_view name) {
  std::string plain;
  while (name.starts_with('-') || name.starts_with('+')) name.remove_prefix(1);
  for (char c : name) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    plain += c == '-' ? '_' : c;
  }
  return plain;
}

std::string LowerText(const LaunchCommand& command) {
  std::string text;
  for (const auto& [name, value] : command.env) text += name + " ";
  for (const LaunchWord& word : command.words) {
    text += word.value.value_or(word.raw) + " ";
  }
  for (char& c : text) c = LowerCase(c);
  return text;
}

// Whether `word` is a value of the key, as in --gradient_checkpointing selective.
bool IsValueWord(const Setting& setting, std::string_view word) {
  const TrainKey* key = FindTrainKey(setting.here);
  return key != nullptr &&
         std::find(key->words.begin(), key->words.end(), word) != key->words.end();
}

// Short options in the table; other one-letter options are specific to their program.
bool IsKnownShort(std::string_view word) { return IsOneOf(word, {"-b", "-j", "-d"}); }

// Reads the words in order.
class Reader {
 public:
  explicit Reader(const LaunchCommand& command) : command_(command), names_(command) {}

  TrainingFlags Read() {
    ReadEnvironment();
    for (at_ = command_.launcher_at + 1; at_ < command_.words.size(); ++at_) ReadWord();
    ReadPositions();
    SettlePlainBatch(flags_);
    return std::move(flags_);
  }

 private:
  const LaunchWord& word() const { return command_.words[at_]; }

  void ReadWord() {
    const std::string& raw = word().raw;
    const std::string value = word().value.value_or(raw);
    const bool is_flag = value.starts_with('-') && value.size() > 1 && !IsDigit(value[1]);
    const size_t equals = value.find('=');
    if (equals != std::string::npos && equals > 0 && (is_flag || IsOverride(value, equals))) {
      return ReadJoined(value, equals);
    }
    if (is_flag && value.starts_with("--") && value.size() == 3) return;  // no name of a setting
    if (is_flag && (value.starts_with("--") || IsKnownShort(value) || IsLongWithOneDash(value))) {
      return ReadSeparate(value);
    }
    if (is_flag && value.size() == 2 && at_ > command_.program_at &&
        at_ + 1 < command_.words.size() && IsDigit(ValueAt(at_ + 1)[0])) {
      flags_.others.push_back(value + " " + ValueAt(at_ + 1));
    }
    if (value == "-c" && at_ > command_.program_at && NamesAConfig())
      return ReadSeparate("--config");
    // detectron2: SOLVER.IMS_PER_BATCH 16
    if (value.starts_with("SOLVER.") || value == "MODEL.WEIGHTS") ReadSeparate(value);
  }

  std::string ValueAt(size_t at) const {
    return command_.words[at].value.value_or(command_.words[at].raw);
  }

  static bool IsSettingsFile(std::string_view word) {
    if (word.ends_with('"')) word.remove_suffix(1);
    return word.ends_with(".yaml") || word.ends_with(".yml") || word.ends_with(".json") ||
           word.ends_with(".toml");
  }

  bool NamesAConfig() const {
    return at_ + 1 < command_.words.size() && IsSettingsFile(ValueAt(at_ + 1));
  }

  // NPROC_PER_NODE=4 swift sft …
  void ReadEnvironment() {
    for (size_t i = 0; i < command_.env.size(); ++i) {
      const auto& [name, raw] = command_.env[i];
      if (!IsOneOf(name, {"NPROC_PER_NODE", "NNODES", "NODE_RANK"})) continue;
      FlagUse use;
      use.spelling = name;
      use.raw = raw;
      use.value = i < command_.env_values.size() ? command_.env_values[i] : std::nullopt;
      use.in_env = true;
      use.word = i;
      Keep(std::move(use));
    }
  }

  // Whether it is "trainer.devices=4" or "batch_size=2", not a path or URL.
  static bool IsOverride(std::string_view value, size_t equals) {
    const std::string_view name = value.substr(0, equals);
    return std::all_of(name.begin(), name.end(), [](char c) {
      return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
             c == '.' || c == '+' || c == '-';
    });
  }

  static bool IsLongWithOneDash(std::string_view value) {
    return value.size() > 2 && value[1] != '-' &&
           FindSettingBySpelling("", Normalized(value)) != nullptr;
  }

  void ReadJoined(const std::string& value, size_t equals) {
    const std::string name = value.substr(0, equals);
    const size_t raw_equals = word().raw.find('=');
    if (raw_equals == std::string::npos) return;
    FlagUse use;
    use.spelling = name;
    use.word = at_;
    use.value_at = raw_equals + 1;
    use.raw = word().raw.substr(use.value_at);
    if (word().raw.starts_with('"') || word().raw.starts_with('\'')) {
      use.value_at = std::string::npos;  // the whole word is quoted: rewrite all of it
      use.raw = value.substr(equals + 1);
    }
    if (word().value) use.value = value.substr(equals + 1);
    Keep(std::move(use));
  }

  // One value that the script does not give; "$@" is what follows all options.
  static bool IsVariable(const LaunchWord& word) {
    return !word.value && word.raw.find('$') != std::string::npos &&
           word.raw.find("[@]") == std::string::npos && ScriptArgumentIn(word.raw).empty();
  }

  void ReadSeparate(const std::string& name) {
    FlagUse use;
    use.spelling = name;
    use.word = at_ + 1;
    const Setting* setting = names_.Find(name);
    const bool has_next = at_ + 1 < command_.words.size();
    const std::string next =
        has_next ? command_.words[at_ + 1].value.value_or(command_.words[at_ + 1].raw) : "";
    const bool next_is_flag =
        next.starts_with("--") || (next.starts_with('-') && next.size() > 1 && !IsDigit(next[1]));
    const bool next_is_program = at_ + 1 == command_.program_at;
    const bool takes_next = has_next && !next_is_flag && !next_is_program &&
                            (setting == nullptr || !setting->may_be_bare ||
                             setting->takes_any_word || SwitchFrom(next).has_value() ||
                             IsValueWord(*setting, next) || IsVariable(command_.words[at_ + 1]));
    if (takes_next) {
      use.value = command_.words[at_ + 1].value;
      use.raw = command_.words[at_ + 1].raw;
      ++at_;
    } else {
      use.bare = true;
      use.value = "";
      use.word = at_;
    }
    Keep(std::move(use));
  }

  void Keep(FlagUse use) {
    // The launcher's own --config_file is accelerate's, not the training's.
    const bool of_launcher = use.in_env || use.word < command_.program_at;
    const Setting* setting = names_.Find(use.spelling);
    if (setting == nullptr) return Doubt(use);
    const std::string_view name = setting->name;
    if (name == "fsdp_config" && IsSettingsFile(use.raw)) flags_.unread.push_back(use.raw);
    // Hydra's is a folder.
    if (Normalized(use.spelling) == "config_path" && !IsSettingsFile(use.raw)) return;
    if (name == "config" && of_launcher && command_.launcher == Launcher::kAccelerate) {
      flags_.accelerate_config = use.value.value_or("");
      return;
    }
    if (name == "gpus_per_node" && IsList(use)) {
      flags_.uses["gpu_list"] = std::move(use);
      return;
    }
    // If torchrun and the program both set it, the launcher's value wins.
    const bool twice = flags_.uses.contains(name);
    if (twice && IsProcessCount(name) && !of_launcher) {
      flags_.also.emplace_back(name, std::move(use));
      return;
    }
    flags_.uses[name] = std::move(use);
  }

  static bool IsProcessCount(std::string_view setting) {
    return IsOneOf(setting, {"gpus_per_node", "gpus", "nodes", "per_device_train_batch_size"});
  }

  static bool IsList(const FlagUse& use) {
    return use.value && use.value->find(',') != std::string::npos;
  }

  void Doubt(const FlagUse& use) {
    const std::string name = Normalized(use.spelling);
    const nlohmann::json value = use.bare ? nlohmann::json(true) : nlohmann::json(use.raw);
    const std::string last = name.substr(name.rfind('.') + 1);
    AddNotCounted(last, value, flags_);
    const auto has = [&](std::string_view hint) { return name.find(hint) != std::string::npos; };
    const bool sounds = std::none_of(kOtherHints.begin(), kOtherHints.end(), has) &&
                        std::any_of(kHints.begin(), kHints.end(), has);
    const bool settings = has("config") || has("cfg") || has("recipe") || has("settings");
    const std::string file = use.value.value_or(use.raw);
    if (settings && IsSettingsFile(file)) flags_.unread.push_back(file);
    const bool figure = use.value && !use.value->empty() && IsDigit((*use.value)[0]);
    if (sounds && figure) return flags_.unclear.push_back(use.spelling + " " + use.raw);
    const bool of_program = !use.in_env && use.word > command_.program_at;
    const bool neutral = std::any_of(kNeutral.begin(), kNeutral.end(), [&](std::string_view part) {
      return last.find(part) != std::string::npos && last.find("expert") == std::string::npos;
    });
    const bool names_model = use.raw.find('/') != std::string::npos && has("model");
    if (!of_program || FindForeignKey(last, value) || (neutral && !names_model)) return;
    flags_.others.push_back(use.spelling + (use.bare ? "" : " " + use.raw));
  }

  // tools/dist_train.sh CONFIG GPUS; tune run RECIPE; axolotl and LLaMA-Factory: CONFIG.
  void ReadPositions() {
    size_t at = command_.program_at + 1;
    if (command_.launcher == Launcher::kTrainScript) {
      const bool first = ProgramOf(command_).ends_with("distributed_train.sh");
      if (at + (first ? 0 : 1) < command_.words.size())
        Position("gpus_per_node", at + (first ? 0 : 1));
    }
    if (command_.launcher == Launcher::kLlamaFactory) ++at;
    const bool module = command_.is_module || command_.program_at > command_.launcher_at;
    if (command_.launcher == Launcher::kAxolotl && !module) ++at;
    const bool takes_config =
        command_.launcher == Launcher::kLlamaFactory || command_.launcher == Launcher::kAxolotl;
    if (!takes_config) ReadLoneFiles(at);
    if (takes_config && at < command_.words.size()) {
      const std::string file = ValueAt(at);
      if (!file.starts_with('-')) Position("config", at);
    }
  }

  // Whether a flag is no switch, as far as the table knows it: --bf16 conf.yaml has two words.
  bool TakesTheNextWord(const std::string& flag) const {
    if (!flag.starts_with('-') || flag.find('=') != std::string::npos) return false;
    const Setting* setting = names_.Find(flag);
    const TrainKey* key = setting == nullptr ? nullptr : FindTrainKey(setting->here);
    return key == nullptr || (key->kind != ValueKind::kBool && key->kind != ValueKind::kSwitch);
  }

  // python train.py settings.yaml, composer train.py settings.yaml: the first is the program's file
  // of settings, more of them are named.
  void ReadLoneFiles(size_t first) {
    for (size_t at = first; at < command_.words.size(); ++at) {
      const std::string text = ValueAt(at);
      const bool data = at > first && text.ends_with(".json");
      const bool is_value = at > first && TakesTheNextWord(command_.words[at - 1].raw);
      if (text.starts_with('-') || text.find('=') != std::string::npos) continue;
      // OpenMMLab: python tools/train.py configs/a.py
      const bool python = at > command_.program_at && text.ends_with(".py") &&
                          text.find("conf") != std::string::npos;
      if (python && !is_value) flags_.unread.push_back(text);
      if (data || is_value || !IsSettingsFile(text)) continue;
      if (!flags_.uses.contains("config")) {
        Position("config", at);
      } else {
        flags_.unread.push_back(text);
      }
    }
  }

  void Position(std::string_view setting, size_t at) {
    FlagUse use;
    use.word = at;
    use.value = command_.words[at].value;
    use.raw = command_.words[at].raw;
    use.spelling = use.raw;
    flags_.uses[setting] = std::move(use);
  }

  const LaunchCommand& command_;
  SettingNames names_;
  size_t at_ = 0;
  TrainingFlags flags_;
};

}  // namespace

const FlagUse* TrainingFlags::Find(std::string_view setting) const {
  assert(FindSetting(setting) != nullptr && "there is no such setting");
  const auto found = uses.find(setting);
  return found == uses.end() ? nullptr : &found->second;
}

std::optional<int64_t> TrainingFlags::Number(std::string_view setting) const {
  const FlagUse* use = Find(setting);
  if (use == nullptr || !use->value) return {};
  std::string text = *use->value;
  if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
  std::erase(text, '_');  // Python's 10_000
  int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code == std::errc() && end == text.data() + text.size() && value > 0) return value;
  double real = 0;  // 1e5, 3.0
  const auto [last, error] = std::from_chars(text.data(), text.data() + text.size(), real);
  const bool whole = error == std::errc() && last == text.data() + text.size() && real >= 1 &&
                     real < 1e15 && real == static_cast<double>(static_cast<int64_t>(real));
  return whole ? std::optional(static_cast<int64_t>(real)) : std::nullopt;
}

bool TrainingFlags::BatchIsInTokens() const {
  constexpr int64_t kMostSamples = 100'000;
  return Number("effective_batch_size").value_or(0) > kMostSamples;
}

std::optional<bool> TrainingFlags::Switch(std::string_view setting) const {
  const FlagUse* use = Find(setting);
  if (use == nullptr) return {};
  if (use->bare) return true;
  return use->value ? SwitchFrom(*use->value) : std::nullopt;
}

std::string TrainingFlags::Text(std::string_view setting) const {
  const FlagUse* use = Find(setting);
  return use == nullptr ? "" : use->value.value_or("");
}

void AddNotCounted(std::string_view name, const nlohmann::json& value, TrainingFlags& flags) {
  const std::optional<ForeignKey> foreign = FindForeignKey(name, value);
  if (!foreign || foreign->effect != ForeignKey::Effect::kNotCounted) return;
  if (std::find(flags.not_counted.begin(), flags.not_counted.end(), foreign->text) ==
      flags.not_counted.end()) {
    flags.not_counted.push_back(foreign->text);
  }
}

void SettlePlainBatch(TrainingFlags& flags) {
  const auto plain = flags.uses.find("batch");
  if (plain == flags.uses.end()) return;
  const bool split = flags.uses.contains("per_device_train_batch_size");
  flags.uses.emplace(split ? "effective_batch_size" : "per_device_train_batch_size", plain->second);
  flags.uses.erase(plain);
}

// Takes out counts that are the numbers of GPUs: 0, and one of several ("--gpus 0 1").
void TakeOutIds(const LaunchCommand& command, TrainingFlags& flags) {
  const auto is_id = [&](const FlagUse& use) {
    if (use.in_config || use.in_env || use.bare) return false;
    const auto is_number = [](const std::string& text) {
      return !text.empty() && std::all_of(text.begin(), text.end(), IsDigit);
    };
    if (!is_number(use.value.value_or(""))) return false;
    const bool goes_on = use.value_at == 0 && use.word + 1 < command.words.size() &&
                         is_number(command.words[use.word + 1].value.value_or(""));
    return *use.value == "0" || goes_on;
  };
  for (const std::string_view setting : {"gpus_per_node", "gpus", "gpu_list"}) {
    const auto use = flags.uses.find(setting);
    if (use == flags.uses.end() || !is_id(use->second)) continue;
    flags.unclear.push_back(use->second.spelling + " " + use->second.raw);
    flags.uses.erase(use);
  }
}

TrainingFlags ReadTrainingFlags(const LaunchCommand& command) {
  TrainingFlags flags = Reader(command).Read();
  TakeOutIds(command, flags);
  return flags;
}

SettingNames::SettingNames(const LaunchCommand& command) : command_(LowerText(command)) {}

// Whether a dotted name is below a section that is not the training's, "eval.batch_size".
bool IsOfOtherSection(std::string_view name) {
  constexpr std::array<std::string_view, 14> kOthers = {
      "eval",      "evaluation", "evaluator", "val",   "valid",   "validation", "test",
      "inference", "generation", "rollout",   "infer", "predict", "sampling",   "evaluators"};
  for (size_t dot = name.find('.'); dot != std::string_view::npos; dot = name.find('.')) {
    if (IsOneOf(name.substr(0, dot), kOthers)) return true;
    name.remove_prefix(dot + 1);
  }
  return false;
}

const Setting* SettingNames::Find(std::string_view name) const {
  const std::string whole = Normalized(name);
  if (IsOfOtherSection(whole)) return nullptr;
  const size_t dot = whole.rfind('.');
  const std::string last = whole.substr(dot + 1);
  const size_t before = dot == std::string::npos || dot == 0 ? dot : whole.rfind('.', dot - 1);
  const std::string two = before == std::string::npos ? whole : whole.substr(before + 1);
  for (const std::string& each : {whole, two, last}) {
    if (const Setting* setting = FindSettingBySpelling(command_, each)) return setting;
  }
  return nullptr;
}

void Replace(LaunchCommand& command, const FlagUse& use, const std::string& text) {
  if (use.in_env) {
    command.env[use.word].second = text;
    return;
  }
  if (use.in_config || use.bare || use.word >= command.words.size()) return;
  LaunchWord& word = command.words[use.word];
  if (use.value_at == std::string::npos) {
    word.raw = use.spelling + "=" + text;
  } else {
    word.raw = word.raw.substr(0, use.value_at) + text;
  }
  word.value = word.raw;
}

std::optional<bool> SwitchFrom(std::string_view word) {
  const std::string lower = Normalized(word);
  if (IsOneOf(lower, {"true", "1", "yes", "on"})) return true;
  if (IsOneOf(lower, {"false", "0", "no", "off", "none"})) return false;
  return {};
}

std::string HalfPrecisionOf(const TrainingFlags& flags) {
  const std::string word = flags.Text("precision");
  if (flags.Switch("bf16").value_or(word.find("bf") != std::string::npos)) return "bf16";
  const bool half = word.find("16") != std::string::npos && word.find("bf") == std::string::npos;
  return flags.Switch("fp16").value_or(half) ? "fp16" : "";
}

}  // namespace gpuadvise::client
