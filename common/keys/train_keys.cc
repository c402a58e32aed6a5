#include "common/keys/train_keys.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <unordered_map>

#include "common/base/json_fields.h"
#include "common/keys/train_key_table.h"

namespace gpuadvise {
namespace {

// "1000", "10^12", "10^-6".
std::string Bound(double number) {
  if (number < 0) return "-" + Bound(-number);
  if (number == 0 || (number > 1e-4 && number < 1e7)) return fmt::format("{:.10g}", number);
  return fmt::format("10^{:.0f}", std::log10(number));
}

}  // namespace

std::span<const TrainKey> TrainKeys() {
  static const std::vector<TrainKey> kKeys = train_key_table::Keys();
  return kKeys;
}

const TrainKey* FindTrainKey(std::string_view path) {
  static const std::unordered_map<std::string_view, const TrainKey*> kByPath = [] {
    std::unordered_map<std::string_view, const TrainKey*> by_path;
    for (const TrainKey& key : TrainKeys()) by_path.emplace(key.path, &key);
    return by_path;
  }();
  const auto found = kByPath.find(path);
  return found == kByPath.end() ? nullptr : found->second;
}

std::vector<const TrainKey*> TrainKeysIn(std::string_view section) {
  std::vector<const TrainKey*> keys;
  for (const TrainKey& key : TrainKeys()) {
    if (key.section() == section) keys.push_back(&key);
  }
  return keys;
}

std::string ValueInWords(const TrainKey& key) {
  switch (key.kind) {
    case ValueKind::kWhole:
      return fmt::format("a whole number from {} to {}", Bound(key.low), Bound(key.high));
    case ValueKind::kNumber:
      return fmt::format("a number from {} to {}", Bound(key.low), Bound(key.high));
    case ValueKind::kBool:
      return "true or false";
    case ValueKind::kText:
      if (!key.form.empty()) return std::string(key.form);
      return key.most == 0 ? "text" : fmt::format("text of {} bytes at most", key.most);
    case ValueKind::kWord:
      return fmt::format("{}", fmt::join(key.words, ", "));
    case ValueKind::kSwitch:
      return fmt::format("true, false, {}", fmt::join(key.words, ", "));
    case ValueKind::kTexts:
      return "text, or a list of texts";
    case ValueKind::kSize:
      return "a size with its unit: 5 GB (10^9 bytes), 21.3 GiB or 30G (2^30)";
    case ValueKind::kTimeLimit:
      return "a time limit";
    case ValueKind::kMap:
      return "a map of the keys below";
    case ValueKind::kList:
      return fmt::format("a list of {} maps at most, with the keys below",
                         key.most == 0 ? kMaxListItems : key.most);
    case ValueKind::kOther:
      return std::string(key.form);
  }
  return {};
}

}  // namespace gpuadvise
