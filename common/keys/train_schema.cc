#include "common/keys/train_schema.h"

#include <string>
#include <string_view>

#include "common/base/json_fields.h"
#include "common/keys/key_reader.h"
#include "common/keys/train_key_table.h"
#include "common/keys/train_keys.h"

namespace gpuadvise {
namespace {

using nlohmann::json;

json Section(std::string_view section);

json Value(const TrainKey& key) {
  switch (key.kind) {
    case ValueKind::kWhole:
    case ValueKind::kNumber:
      return {{"type", key.kind == ValueKind::kWhole ? "integer" : "number"},
              {"minimum", key.low},
              {"maximum", key.high}};
    case ValueKind::kBool:
      return {{"type", "boolean"}};
    case ValueKind::kText:
    case ValueKind::kTimeLimit:
      return {{"type", {"string", "number"}}};
    case ValueKind::kSize:
      return {{"type", "string"}};
    case ValueKind::kWord:
      return {{"enum", key.words}};
    case ValueKind::kSwitch: {
      json words = {true, false};
      for (const std::string& word : key.words) words.push_back(word);
      return {{"enum", std::move(words)}};
    }
    case ValueKind::kTexts: {
      const json text = {{"type", {"string", "number"}}};
      return {{"anyOf", {text, {{"type", "array"}, {"items", text}}}}};
    }
    case ValueKind::kMap:
      return Section(key.path);
    case ValueKind::kList:
      return {{"type", "array"},
              {"items", Section(key.path)},
              {"maxItems", key.most == 0 ? kMaxListItems : key.most}};
    case ValueKind::kOther:
      break;
  }
  return json::object();
}

json Property(const TrainKey& key) {
  json property = Value(key);
  std::string description(key.meaning);
  if (!key.form.empty()) description += " Value: " + std::string(key.form) + ".";
  if (!key.unit.empty()) description += " Unit: " + std::string(key.unit) + ".";
  if (!key.usual.empty()) description += " Default: " + std::string(key.usual) + ".";
  property["description"] = std::move(description);
  return property;
}

json Section(std::string_view section) {
  json properties = json::object();
  for (const TrainKey* key : TrainKeysIn(section)) {
    properties[std::string(key->name())] = Property(*key);
  }
  json schema = {{"type", "object"}};
  if (TakesForeignKeys(section)) {
    json names = json::array();
    for (const auto& [name, value] : properties.items()) names.push_back(name);
    schema["propertyNames"] = {{"anyOf", {{{"enum", names}}, {{"$ref", "#/$defs/others"}}}}};
  } else {
    schema["additionalProperties"] = false;
  }
  schema["properties"] = std::move(properties);
  return schema;
}

// What other programs' configurations hold and the reader passes over.
json OtherNames() {
  json names = json::array();
  for (const std::string_view name : train_key_table::Ignored()) names.push_back(name);
  for (const ForeignName& row : train_key_table::NotCounted()) names.push_back(row.name);
  return {{"enum", std::move(names)}};
}

}  // namespace

json TrainSchema() {
  json schema = Section("");
  schema["$schema"] = "https://json-schema.org/draft/2020-12/schema";
  schema["title"] = "Training file of gpuadvise (train.yaml)";
  schema["additionalProperties"] = {{"$ref", "#"}};  // named sections
  schema["$defs"] = {{"others", OtherNames()}};
  return schema;
}

}  // namespace gpuadvise
