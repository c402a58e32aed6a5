#include "client/spec_text.h"

#include <nlohmann/json.hpp>

namespace gpuadvise {

using nlohmann::json;

std::string RawText(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return {};
  return found->is_string() ? found->get<std::string>() : found->dump();
}

std::vector<std::string> RawTexts(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return {};
  if (!found->is_array()) return {RawText(object, key)};
  std::vector<std::string> texts;
  for (const json& item : *found) {
    texts.push_back(item.is_string() ? item.get<std::string>() : item.dump());
  }
  return texts;
}

std::string WithoutTrailingNewlines(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

}  // namespace gpuadvise
