// Reading one section of a train.yaml by the table of its keys: types, ranges and words are the
// table's, so that a key cannot be read that the table lacks, and none of the table is refused.
//
// A FieldReader whose questions need no bounds. REQUIRES of every question: the table has `name` in
// this section, with that kind of value. Keys that nobody asks for (those that only the client
// uses) are checked by Finish(). Not for concurrent use.
#pragma once

#include <cassert>
#include <optional>
#include <string>
#include <vector>

#include "common/base/json_fields.h"
#include "common/training/train_keys.h"

namespace gpuadvise {

// The word of an enum's value; a table of them is in the order in which errors list them.
template <typename E>
struct NamedValue {
  const char* word;
  E value;
};

class KeyReader {
 public:
  // `section`: "" the whole file, "training.lora".
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
  std::optional<KeyReader> Map(const std::string& name);
  // The items of a list, each to be read as a map.
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

  // Checks the keys of this section that nobody has asked for, and refuses those that neither the
  // table nor another program has (foreign_keys.h): with the name that they have here, the nearest
  // of the section, or the section that has a key of that name. Returns what is not counted of
  // other programs' keys, as parts of a sentence.
  std::vector<std::string> Finish();

  FieldReader& fields() { return fields_; }
  const std::string& pointer() const { return fields_.pointer(); }
  std::string PointerOf(const std::string& name) const { return fields_.PointerOf(name); }
  FirstError* errors() { return fields_.errors(); }
  void Refuse(const std::string& name, const std::string& message) {
    fields_.Refuse(name, message);
  }

 private:
  const TrainKey& Key(const std::string& name, ValueKind kind) const;
  void Check(const TrainKey& key);
  void RefuseUnknown(const std::string& name);

  FieldReader fields_;
  std::string section_;
};

}  // namespace gpuadvise
