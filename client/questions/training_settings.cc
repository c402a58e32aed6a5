#include "client/questions/training_settings.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "client/terminal/printable.h"
#include "common/base/text.h"
#include "common/keys/train_keys.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

// "120-144" or "120,144" as a list, as in the file.
json ParseRange(const std::string& text) {
  const size_t sign = text.find_first_of("-,", 1);
  if (sign == std::string::npos) return {};
  const json low = json::parse(text.substr(0, sign), nullptr, false);
  const json high = json::parse(text.substr(sign + 1), nullptr, false);
  return low.is_number() && high.is_number() ? json{low, high} : json();
}

// A number, true or false, else text; the reader of the file validates it.
json ParseScalar(const std::string& text) {
  json value = json::parse(text, nullptr, false);
  return value.is_number() || value.is_boolean() ? value : json(text);
}

json SettingValue(const TrainingSetting& setting) {
  const TrainKey* key = FindTrainKey(setting.key);
  if (key == nullptr || key->kind == ValueKind::kText || key->kind == ValueKind::kWord) {
    return setting.text;
  }
  if (key->kind == ValueKind::kTexts) {
    json words = json::array();
    for (const std::string_view word : SplitAt(setting.text, ',')) words.push_back(Trim(word));
    return words;
  }
  if (setting.key == "training.effective_batch_size") {
    const json range = ParseRange(setting.text);
    if (!range.is_null()) return range;
  }
  json value = ParseScalar(setting.text);
  // Relative to the current folder, not to the training file.
  if (setting.key == "training.deepspeed" && value.is_string()) {
    std::error_code error;
    return std::filesystem::absolute(setting.text, error).string();
  }
  return value;
}

}  // namespace

Result<std::vector<std::string>> ApplySettings(const std::vector<TrainingSetting>& settings,
                                               TrainFile& file) {
  std::vector<std::string> notes;
  for (const TrainingSetting& setting : settings) {
    const std::string by = setting.option + " " + Printable(setting.text);
    const auto replaced = file.Override(setting.key, SettingValue(setting), by);
    if (!replaced) return tl::unexpected<Error>(replaced.error());
    const std::string name = setting.key.substr(setting.key.find('.') + 1);
    for (const std::string& value : *replaced) {
      notes.push_back(
          fmt::format("{} instead of {}'s {}: {}", by, file.path(), name, Printable(value)));
    }
  }
  return notes;
}

}  // namespace gpuadvise::client
