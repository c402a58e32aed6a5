#include "common/keys/key_reader.h"

#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/base/words.h"
#include "common/keys/foreign_keys.h"

namespace gpuadvise {
namespace {

using nlohmann::json;

std::string PathOf(std::string_view section, std::string_view name) {
  return section.empty() ? std::string(name) : fmt::format("{}.{}", section, name);
}

// "; it belongs under training" for a key of another section; "" if there is none.
std::string Elsewhere(const std::string& name, std::string_view here) {
  std::vector<std::string> sections;
  for (const TrainKey& key : TrainKeys()) {
    if (key.name() != name || key.section() == here) continue;
    sections.push_back(key.section().empty() ? "the file itself, without indentation"
                                             : std::string(key.section()));
  }
  if (sections.empty() || sections.size() > 2) return {};
  return fmt::format("; it belongs under {}", JoinNames(sections));
}

// Whether `value` is the default that the table names, where that is a number or a switch.
[[maybe_unused]] bool IsUsual(const TrainKey& key, double value) {
  if (key.usual == "true" || key.usual == "false") return value == (key.usual == "true" ? 1 : 0);
  double usual = 0;
  const char* const end = key.usual.data() + key.usual.size();
  const auto read = std::from_chars(key.usual.data(), end, usual);
  return read.ec != std::errc() || read.ptr != end || usual == value;
}

}  // namespace

KeyReader::KeyReader(FieldReader fields, std::string section)
    : fields_(std::move(fields)), section_(std::move(section)) {}

const TrainKey& KeyReader::Key(const std::string& name) const {
  const TrainKey* key = FindTrainKey(PathOf(section_, name));
  assert(key != nullptr && "the table of keys has no such key");
  return *key;
}

const TrainKey& KeyReader::Key(const std::string& name, ValueKind kind) const {
  const TrainKey& key = Key(name);
  assert(key.kind == kind && "the table of keys has another kind of value there");
  static_cast<void>(kind);
  return key;
}

void KeyReader::Into(const std::string& name, std::optional<int64_t>& place) {
  const ValueKind kind = Key(name).kind;
  if (kind == ValueKind::kSize) {
    place = Size(name);
  } else {
    place = kind == ValueKind::kTimeLimit ? TimeLimit(name) : Int(name);
  }
}

void KeyReader::Into(const std::string& name, std::optional<double>& place) {
  place = Number(name);
}

void KeyReader::Into(const std::string& name, std::optional<bool>& place) { place = Bool(name); }

void KeyReader::Into(const std::string& name, int64_t& place) {
  assert(IsUsual(Key(name), static_cast<double>(place)));
  std::optional<int64_t> value;
  Into(name, value);
  place = value.value_or(place);
}

void KeyReader::Into(const std::string& name, double& place) {
  assert(IsUsual(Key(name), place));
  place = Number(name).value_or(place);
}

void KeyReader::Into(const std::string& name, bool& place) {
  assert(IsUsual(Key(name), place));
  place = Bool(name).value_or(place);
}

void KeyReader::Into(const std::string& name, std::string& place) {
  if (std::optional<std::string> text = Text(name)) place = *std::move(text);
}

void KeyReader::Into(const std::string& name, std::vector<std::string>& place) {
  place = Texts(name);
}

std::optional<int64_t> KeyReader::Int(const std::string& name) {
  const TrainKey& key = Key(name, ValueKind::kWhole);
  return fields_.Int(name, static_cast<int64_t>(key.low), static_cast<int64_t>(key.high));
}

std::optional<double> KeyReader::Number(const std::string& name) {
  const TrainKey& key = Key(name, ValueKind::kNumber);
  return fields_.Number(name, key.low, key.high);
}

std::optional<bool> KeyReader::Bool(const std::string& name) {
  Key(name, ValueKind::kBool);
  return fields_.Bool(name);
}

std::optional<std::string> KeyReader::Text(const std::string& name) {
  const TrainKey& key = Key(name, ValueKind::kText);
  return fields_.Text(name, key.most == 0 ? kMaxTextBytes : key.most);
}

std::vector<std::string> KeyReader::Texts(const std::string& name) {
  const TrainKey& key = Key(name, ValueKind::kTexts);
  return fields_.Texts(name, key.most == 0 ? kMaxListItems : key.most);
}

std::optional<std::string> KeyReader::Switch(const std::string& name) {
  return fields_.Switch(name, Key(name, ValueKind::kSwitch).words);
}

std::optional<int64_t> KeyReader::Size(const std::string& name) {
  Key(name, ValueKind::kSize);
  return fields_.Size(name);
}

std::optional<int64_t> KeyReader::TimeLimit(const std::string& name) {
  Key(name, ValueKind::kTimeLimit);
  return fields_.TimeLimit(name);
}

const json* KeyReader::Any(const std::string& name) {
  Key(name, ValueKind::kOther);
  return fields_.Any(name);
}

std::optional<KeyReader> KeyReader::Map(const std::string& name) {
  Key(name, ValueKind::kMap);
  std::optional<FieldReader> map = fields_.Object(name);
  if (!map) return {};
  return KeyReader(*std::move(map), PathOf(section_, name));
}

std::vector<KeyReader> KeyReader::Items(const std::string& name) {
  const TrainKey& key = Key(name, ValueKind::kList);
  const std::vector<const json*> items =
      fields_.List(name, key.most == 0 ? kMaxListItems : key.most);
  std::vector<KeyReader> readers;
  for (size_t i = 0; i < items.size(); ++i) {
    const std::string pointer = PointerTo(fields_.PointerOf(name), std::to_string(i));
    readers.emplace_back(FieldReader(*items[i], pointer, fields_.errors()), PathOf(section_, name));
  }
  return readers;
}

std::optional<std::string> KeyReader::Word(const std::string& name) {
  return fields_.Choice(name, Key(name, ValueKind::kWord).words);
}

void KeyReader::Check(const TrainKey& key) {
  const std::string name(key.name());
  switch (key.kind) {
    case ValueKind::kWhole:
      Int(name);
      return;
    case ValueKind::kNumber:
      Number(name);
      return;
    case ValueKind::kBool:
      Bool(name);
      return;
    case ValueKind::kText:
      Text(name);
      return;
    case ValueKind::kWord:
      Word(name);
      return;
    case ValueKind::kSwitch:
      Switch(name);
      return;
    case ValueKind::kTexts:
      Texts(name);
      return;
    case ValueKind::kSize:
      Size(name);
      return;
    case ValueKind::kTimeLimit:
      TimeLimit(name);
      return;
    case ValueKind::kMap:
      if (std::optional<KeyReader> map = Map(name)) map->Finish();
      return;
    case ValueKind::kList:
      for (KeyReader& item : Items(name)) item.Finish();
      return;
    case ValueKind::kOther:
      Any(name);
      return;
  }
}

void KeyReader::RefuseUnknown(const std::string& name) {
  std::string hint = Elsewhere(name, section_);
  const std::optional<ForeignKey> foreign = FindForeignKey(name, json(true));
  const bool renamed = foreign && foreign->effect == ForeignKey::Effect::kOtherName;
  // Keys of inference are for the user's own program: the name of a training's key says more.
  if (renamed && hint.ends_with(" inference")) hint.clear();
  if (hint.empty() && foreign) {
    hint = renamed ? "; here it is " + foreign->text : "; it belongs under training";
  }
  std::vector<std::string> names;
  for (const TrainKey* key : TrainKeysIn(section_)) names.emplace_back(key->name());
  if (hint.empty()) hint = DidYouMean(name, names);
  if (hint.empty()) {
    hint = fmt::format("; `gpuadvise reference{}` lists the keys",
                       section_.empty() ? "" : " " + section_);
  }
  fields_.Refuse(Shortened(name, kMaxQuotedBytes),
                 fmt::format("unknown key {}{}", Quoted(name), hint));
}

bool TakesForeignKeys(std::string_view section) {
  return section == "training" || section == "training.lora" || section == "model";
}

std::vector<std::string> KeyReader::Finish() {
  for (const TrainKey* key : TrainKeysIn(section_)) {
    if (!fields_.WasAsked(std::string(key->name()))) Check(*key);
  }
  const bool takes_foreign = TakesForeignKeys(section_);
  std::vector<std::string> not_counted;
  for (const auto& [name, value] : fields_.Unasked()) {
    const std::optional<ForeignKey> foreign = FindForeignKey(name, *value);
    const bool taken =
        takes_foreign && foreign && foreign->effect != ForeignKey::Effect::kOtherName;
    if (!taken) {
      RefuseUnknown(name);
    } else if (foreign->effect == ForeignKey::Effect::kNotCounted) {
      not_counted.push_back(foreign->text);
    }
  }
  return not_counted;
}

}  // namespace gpuadvise
