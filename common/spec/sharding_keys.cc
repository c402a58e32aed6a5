#include "common/spec/sharding_keys.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "common/base/text.h"
#include "common/base/words.h"

namespace gpuadvise {
namespace {

using nlohmann::json;

constexpr NamedValue<Offload> kOffloads[] = {
    {"none", Offload::kNone}, {"optimizer", Offload::kOptimizer}, {"all", Offload::kAll}};

// What one of the ways of writing it says; nullopt, false: nothing.
struct Sharding {
  std::optional<Fsdp> fsdp;
  bool none = false;  // no_shard: data parallelism
  bool hybrid = false;
  Offload offload = Offload::kNone;
  bool checkpointing = false;
};

const json& MemberOf(const json& object, const char* name) {
  static const json kNull;
  if (!object.is_object()) return kNull;
  const auto found = object.find(name);
  return found == object.end() ? kNull : *found;
}

bool IsTrue(const json& value) {
  return value == true || (value.is_string() && LowerCase(value.get<std::string>()) == "true");
}

// "full_shard", "FULL_SHARD", "1": a strategy by PyTorch's name or accelerate's number. Whether it
// is one.
bool TakeStrategy(std::string_view word, Sharding& sharding) {
  if (IsOneOf(word, {"full_shard", "1"})) {
    sharding.fsdp = Fsdp::kFullShard;
  } else if (IsOneOf(word, {"shard_grad_op", "2"})) {
    sharding.fsdp = Fsdp::kShardGradOp;
  } else if (IsOneOf(word, {"no_shard", "3"})) {
    sharding.none = true;
  } else if (IsOneOf(word, {"hybrid_shard", "4"})) {
    sharding.fsdp = Fsdp::kFullShard;
    sharding.hybrid = true;
  } else if (IsOneOf(word, {"hybrid_shard_zero2", "5"})) {
    sharding.fsdp = Fsdp::kShardGradOp;
    sharding.hybrid = true;
  } else {
    return false;
  }
  return true;
}

// The words of `fsdp`, in one text or a list.
std::vector<std::string> WordsOf(const json& value) {
  std::vector<std::string> words;
  for (const json& item : value.is_array() ? value : json::array({value})) {
    const std::string text = item.is_string()
                                 ? item.get<std::string>()
                                 : item.dump(-1, ' ', false, json::error_handler_t::replace);
    std::string word;
    for (const char c : LowerCase(text) + " ") {
      if (c != ' ' && c != ',') {
        word += c;
      } else if (!word.empty()) {
        words.push_back(std::exchange(word, ""));
      }
    }
  }
  return words;
}

void ReadFsdpWords(KeyReader& reader, Sharding& sharding) {
  const json* value = reader.Any("fsdp");
  if (value == nullptr || *value == false) return;
  if (*value == true) {
    sharding.fsdp = Fsdp::kFullShard;
    return;
  }
  const std::vector<std::string> known = {
      "full_shard", "shard_grad_op", "hybrid_shard", "hybrid_shard_zero2",
      "no_shard",   "auto_wrap",     "offload"};
  int strategies = 0;
  for (const std::string& word : WordsOf(*value)) {
    if (word == "offload") {
      sharding.offload = Offload::kAll;
    } else if (TakeStrategy(word, sharding)) {
      ++strategies;
    } else if (word != "auto_wrap") {
      reader.Refuse("fsdp", fmt::format("fsdp has {}, which is none of {}{}", Quoted(word),
                                        JoinNames(known), DidYouMean(word, known)));
      return;
    }
  }
  if (strategies > 1) reader.Refuse("fsdp", "fsdp names more than one way of sharding: keep one");
  // Transformers shards everything where only auto_wrap or offload is said.
  if (strategies == 0 && !WordsOf(*value).empty()) sharding.fsdp = Fsdp::kFullShard;
}

void ReadFsdpConfig(KeyReader& reader, Sharding& sharding, std::optional<int64_t>& version,
                    std::optional<bool>& reshard) {
  const json* config = reader.Any("fsdp_config");
  if (config == nullptr) return;
  if (!config->is_object()) {
    reader.Refuse("fsdp_config", "fsdp_config must be a map, as Transformers has it");
    return;
  }
  const auto either = [&](const char* name) -> const json& {
    const json& plain = MemberOf(*config, name);
    return plain.is_null() ? MemberOf(*config, ("fsdp_" + std::string(name)).c_str()) : plain;
  };
  if (const json& strategy = either("sharding_strategy"); !strategy.is_null()) {
    for (const std::string& word : WordsOf(strategy)) TakeStrategy(word, sharding);
  }
  if (IsTrue(either("offload_params"))) sharding.offload = Offload::kAll;
  if (IsTrue(either("activation_checkpointing"))) sharding.checkpointing = true;
  if (const json& number = either("version"); number.is_number_integer()) {
    version = number.get<int64_t>();
  }
  const json& after = either("reshard_after_forward");
  if (after.is_boolean()) reshard = after.get<bool>();
  // FSDP1's name of the strategy stands there too in accelerate's files.
  if (after.is_string() && !TakeStrategy(LowerCase(after.get<std::string>()), sharding)) {
    reshard = IsTrue(after);
  }
}

void ReadFsdp(KeyReader& reader, Sharding& sharding) {
  std::optional<int64_t> version = reader.Int("fsdp_version");
  std::optional<bool> reshard = reader.Bool("reshard_after_forward");
  const bool said_reshard = reshard.has_value();
  ReadFsdpWords(reader, sharding);
  ReadFsdpConfig(reader, sharding, version, reshard);
  if (version == 2 && !sharding.fsdp && !sharding.none) sharding.fsdp = Fsdp::kFullShard;
  if (reshard && sharding.fsdp) {
    sharding.fsdp = *reshard ? Fsdp::kFullShard : Fsdp::kShardGradOp;
  } else if (said_reshard && !sharding.none) {
    reader.Refuse("reshard_after_forward",
                  "reshard_after_forward is FSDP2's: add fsdp_version: 2, or take it out");
  }
}

bool OffloadsTo(const json& zero, const char* name) {
  const json& device = MemberOf(MemberOf(zero, name), "device");
  return device == "cpu" || device == "nvme";
}

// DeepSpeed's own JSON: its stage, and what it offloads.
std::optional<int64_t> ReadDeepspeedFile(KeyReader& reader, const json& file, Sharding& sharding,
                                         TrainingSpec& training) {
  const json& zero = MemberOf(file, "zero_optimization");
  if (OffloadsTo(zero, "offload_optimizer") || IsTrue(MemberOf(zero, "cpu_offload"))) {
    sharding.offload = Offload::kOptimizer;
  }
  if (OffloadsTo(zero, "offload_param")) sharding.offload = Offload::kAll;
  const json& type = MemberOf(MemberOf(file, "optimizer"), "type");
  if (type.is_string() && !training.optim_is_said) {
    training.optim = LowerCase(type.get<std::string>());
  }
  const json& stage = MemberOf(zero, "stage");
  if (stage.is_null()) return 0;
  if (stage.is_number_integer() && stage.get<int64_t>() >= 0 && stage.get<int64_t>() <= 3) {
    return stage.get<int64_t>();
  }
  reader.Refuse("deepspeed", "the DeepSpeed file's zero_optimization.stage must be from 0 to 3");
  return {};
}

std::optional<int64_t> ReadDeepspeed(KeyReader& reader, Sharding& sharding,
                                     TrainingSpec& training) {
  const json* value = reader.Any("deepspeed");
  if (value == nullptr) return {};
  if (value->is_object()) return ReadDeepspeedFile(reader, *value, sharding, training);
  if (value->is_number_integer() && value->get<int64_t>() >= 0 && value->get<int64_t>() <= 3) {
    return value->get<int64_t>();
  }
  if (value->is_string()) return {};  // a path that the client did not read: nothing is known of it
  reader.Refuse("deepspeed",
                "deepspeed must be a ZeRO stage from 0 to 3, or a DeepSpeed JSON file");
  return {};
}

}  // namespace

void ReadSharding(KeyReader& reader, TrainingSpec& training) {
  Sharding sharding;
  training.zero_stage = ReadDeepspeed(reader, sharding, training);
  ReadFsdp(reader, sharding);
  training.fsdp = sharding.fsdp;
  training.hybrid_shard = sharding.hybrid;
  if (sharding.checkpointing && !training.gradient_checkpointing) {
    training.gradient_checkpointing = Checkpointing::kFull;
  }
  const std::optional<Offload> said = reader.Choice("offload", kOffloads);
  if (said && sharding.offload != Offload::kNone && *said != sharding.offload) {
    reader.Refuse("offload", fmt::format("offload contradicts {}: keep one",
                                         training.zero_stage ? "the DeepSpeed file" : "fsdp"));
  }
  training.offload = said.value_or(sharding.offload);
  if (training.zero_stage && training.fsdp) {
    reader.Refuse("fsdp", "deepspeed and fsdp both shard the model: keep one");
  }
}

}  // namespace gpuadvise
