// Reads one section of a train.yaml by the key table, which defines types, ranges and words. So
// every key read is in the table, and no key in the table is refused.
//
// A FieldReader with bounds from the table. REQUIRES for every call: the table has `name` in this
// section, with that kind of value. Finish() checks keys that are not read (those used only by the
// client). Not for concurrent use.
#pragma once

#include <cassert>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/json_fields.h"
#include "common/keys/train_keys.h"

namespace gpuadvise {

// An enum value and its word; tables are in the order used by errors.
template <typename E>
struct NamedValue {
  const char* word;
  E value;
};

// Whether keys of other programs' configurations may stand in `section`: those that change nothing
// here and those that are named as not counted.
bool TakesForeignKeys(std::string_view section);

class KeyReader {
 public:
  // `section`: "" for the whole file, or "training.lora".
  KeyReader(FieldReader fields, std::string section);

  std::optional<int64_t> Int(const std::string& name);
  std::optional<double> Number(const std::string& name);
  std::optional<bool> Bool(const std::string& name);
  std::optional<std::string> Text(const std::string& name);
  std::vector<std::string> Texts(const std::string& name);
  // "true", "false" or one of the key's words.
  std::optional<std::string> Switch(const std::string& name);
  // One of the key's words.
  std::optional<std::string> Word(const std::string& name);
  std::optional<int64_t> Size(const std::string& name);
  std::optional<int64_t> TimeLimit(const std::string& name);
  const nlohmann::json* Any(const std::string& name);
  // Puts the key's value into `place`, which keeps its default where the key is not given. An
  // int64_t is a whole number, a size (bytes) or a time limit (seconds), as the table says.
  // REQUIRES: where the table names a number or a switch as the default, `place` holds it.
  void Into(const std::string& name, std::optional<int64_t>& place);
  void Into(const std::string& name, std::optional<double>& place);
  void Into(const std::string& name, std::optional<bool>& place);
  void Into(const std::string& name, int64_t& place);
  void Into(const std::string& name, double& place);
  void Into(const std::string& name, bool& place);
  void Into(const std::string& name, std::string& place);
  void Into(const std::string& name, std::vector<std::string>& place);
  // A struct that lists its keys: `T::Keys(f)` calls f("gpus", &T::gpus) for each. Reads all of
  // them and refuses others.
  template <typename T>
  T ReadAll() {
    T value;
    T::Keys([&](const char* name, auto member) { Into(name, value.*member); });
    Finish();
    return value;
  }
  std::optional<KeyReader> Map(const std::string& name);
  // The items of a list, each a map.
  std::vector<KeyReader> Items(const std::string& name);

  // REQUIRES: `names` are the key's words.
  template <typename E, size_t N>
  std::optional<E> Choice(const std::string& name, const NamedValue<E> (&names)[N]) {
    const std::optional<std::string> word = Word(name);
    for (const NamedValue<E>& each : names) {
      if (word && *word == each.word) return each.value;
    }
    assert(!word && "the table has a word that its reader does not know");
    return {};
  }

  // Checks the keys of this section that were not read, and refuses those unknown to the table and
  // to other programs (foreign_keys.h), suggesting the name used here, the nearest key, or the
  // right section. Returns what is not counted of other programs' keys, as parts of a sentence.
  std::vector<std::string> Finish();

  FieldReader& fields() { return fields_; }
  const std::string& pointer() const { return fields_.pointer(); }
  std::string PointerOf(const std::string& name) const { return fields_.PointerOf(name); }
  DocumentErrors* errors() { return fields_.errors(); }
  void Refuse(const std::string& name, const std::string& message) {
    fields_.Refuse(name, message);
  }

 private:
  const TrainKey& Key(const std::string& name) const;
  const TrainKey& Key(const std::string& name, ValueKind kind) const;
  void Check(const TrainKey& key);
  void RefuseUnknown(const std::string& name);

  FieldReader fields_;
  std::string section_;
};

}  // namespace gpuadvise
