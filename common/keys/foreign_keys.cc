#include "common/keys/foreign_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "common/base/text.h"

namespace gpuadvise {
namespace {

using nlohmann::json;

constexpr ForeignName kOptimizers[] = {
    {"dion", "states of low rank, and products of matrices"},
    {"shampoo", "preconditioners for each matrix"},
    {"soap", "preconditioners for each matrix"},
};

bool IsOff(const json& value) {
  if (value.is_null() || value == false || value == 0) return true;
  if (value.is_string()) {
    return IsOneOf(LowerCase(value.get_ref<const std::string&>()),
                   {"", "none", "no", "false", "null", "off", "0"});
  }
  return value.is_structured() && value.empty();
}

// Whether it distributes the layers of one model over several devices.
bool SpreadsLayers(const json& device_map) {
  if (device_map.is_string()) {
    const auto& word = device_map.get_ref<const std::string&>();
    return word == "auto" || word.starts_with("balanced") || word == "sequential";
  }
  if (!device_map.is_object() || device_map.empty()) return false;
  const json& first = *device_map.begin();
  for (const json& device : device_map) {
    if (device != first) return true;
  }
  return false;
}

// Whether `program` is a part of `command`; "<verl" begins a word of it.
bool Runs(std::string_view command, std::string_view program) {
  if (!program.starts_with('<')) return command.find(program) != std::string_view::npos;
  program.remove_prefix(1);
  for (size_t at = command.find(program); at != std::string_view::npos;
       at = command.find(program, at + 1)) {
    if (at == 0 || command[at - 1] < 'a' || command[at - 1] > 'z') return true;
  }
  return false;
}

// "" if `names` lacks `name`.
std::string_view TextOf(std::span<const ForeignName> names, std::string_view name) {
  const auto found = std::find_if(names.begin(), names.end(),
                                  [&](const ForeignName& each) { return each.name == name; });
  return found == names.end() ? std::string_view() : found->text;
}

}  // namespace

const Setting* FindSetting(std::string_view name) {
  static const std::unordered_map<std::string_view, const Setting*> kByName = [] {
    std::unordered_map<std::string_view, const Setting*> by_name;
    for (const Setting& each : train_key_table::Settings()) by_name.emplace(each.name, &each);
    return by_name;
  }();
  const auto found = kByName.find(name);
  return found == kByName.end() ? nullptr : found->second;
}

const Setting* FindSettingBySpelling(std::string_view command, std::string_view name) {
  static const std::unordered_map<std::string_view, std::string_view> kBySpelling = [] {
    std::unordered_map<std::string_view, std::string_view> by_spelling;
    for (const ForeignName& each : train_key_table::Spellings()) {
      by_spelling.emplace(each.name, each.text);
    }
    return by_spelling;
  }();
  for (const ProgramsName& own : train_key_table::ProgramsNames()) {
    if (own.name != name || !Runs(command, own.program)) continue;
    return own.setting.empty() ? nullptr : FindSetting(own.setting);
  }
  const auto found = kBySpelling.find(name);
  return found == kBySpelling.end() ? nullptr : FindSetting(found->second);
}

std::optional<ForeignKey> FindForeignKey(std::string_view name, const json& value) {
  using Effect = ForeignKey::Effect;
  if (name == "device_map") {
    if (!SpreadsLayers(value)) return ForeignKey{};
    return ForeignKey{
        Effect::kNotCounted,
        "device_map (one model's layers over the GPUs, which work one after another)"};
  }
  const auto ignored = train_key_table::Ignored();
  if (std::find(ignored.begin(), ignored.end(), name) != ignored.end()) return ForeignKey{};
  if (const std::string_view why = TextOf(train_key_table::NotCounted(), name); !why.empty()) {
    if (IsOff(value)) return ForeignKey{};
    return ForeignKey{Effect::kNotCounted, fmt::format("{} ({})", name, why)};
  }
  std::string_view here = TextOf(train_key_table::Refused(), name);
  const Setting* setting = FindSettingBySpelling("", name);
  if (here.empty() && setting != nullptr) here = setting->here;
  if (here.empty()) return {};
  return ForeignKey{Effect::kOtherName, std::string(here)};
}

std::string FindUncountedOptimizerPart(std::string_view optim) {
  for (const ForeignName& each : kOptimizers) {
    if (!optim.starts_with(each.name)) continue;
    return fmt::format("optim {} ({}; it counts as AdamW)", optim, each.text);
  }
  return "";
}

}  // namespace gpuadvise
