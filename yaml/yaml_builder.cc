#include "yaml/yaml_builder.h"

#include <utility>

#include "yaml/text_check.h"
#include "yaml/yaml_scalar.h"

namespace gpuadvise {
namespace {

using nlohmann::json;

int LineOfMark(const YAML::Mark& mark) { return mark.line + 1; }

[[noreturn]] void Refuse(int line, std::string sentence) {
  throw YamlFault{line, std::move(sentence)};
}

// A reference token of RFC 6901.
std::string Token(const std::string& key) {
  std::string out;
  for (char c : key) {
    if (c == '~') {
      out += "~0";
    } else if (c == '/') {
      out += "~1";
    } else {
      out += c;
    }
  }
  return out;
}

bool IsPlain(const std::string& tag) { return tag == "?"; }
bool IsQuoted(const std::string& tag) { return tag == "!"; }

constexpr size_t kMaxPointerBytes = 16 << 20;

// Escapes can put into a text what the file itself may not hold; yaml-cpp's \_ and \N give bytes
// that are no UTF-8.
void CheckUnescaped(int line, const std::string& text) {
  if (text.find('\0') != std::string::npos) {
    Refuse(line, "a text contains a NUL character; remove it");
  }
  if (FirstInvalidUtf8(text)) {
    Refuse(line, "an escape (\\_ or \\N) that gives no UTF-8 text; write the character itself");
  }
}

json ScalarValue(int line, const std::string& tag, const std::string& text) {
  if (IsQuoted(tag)) return json(text);
  Result<json> value = IsPlain(tag) || tag.empty() ? PlainScalar(text) : TaggedScalar(tag, text);
  if (!value) Refuse(line, value.error().message);
  return *std::move(value);
}

}  // namespace

void YamlBuilder::OnDocumentStart(const YAML::Mark& mark) {
  if (saw_document_) {
    Refuse(LineOfMark(mark),
           "a second document starts here; keep one per file (sections of one "
           "document can be chosen by name)");
  }
  saw_document_ = true;
}

void YamlBuilder::OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) {
  if (ExpectsKey()) Refuse(LineOfMark(mark), "a key is missing before the colon; write one");
  Count(LineOfMark(mark), 1, 0);
  Add(Value{.json = nullptr, .line = LineOfMark(mark)}, anchor);
}

void YamlBuilder::OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                           const std::string& value) {
  const int line = LineOfMark(mark);
  CheckUnescaped(line, value);
  if (ExpectsKey()) return SetKey(line, tag, value);
  Count(line, 1, value.size());
  json parsed = ScalarValue(line, tag, value);
  Add(Value{.json = std::move(parsed), .bytes = value.size(), .line = line}, anchor);
}

void YamlBuilder::OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) {
  const int line = LineOfMark(mark);
  if (ExpectsKey()) Refuse(line, "an alias cannot be a key; write the key itself");
  const auto found = anchors_.find(anchor);
  if (found == anchors_.end()) Refuse(line, "an alias stands inside its own anchor; remove it");
  Count(line, found->second.values, found->second.bytes);
  Value copy = found->second;
  copy.line = line;
  Add(std::move(copy), 0);
}

void YamlBuilder::OnSequenceStart(const YAML::Mark& mark, const std::string& /*tag*/,
                                  YAML::anchor_t anchor, YAML::EmitterStyle::value /*style*/) {
  OpenFrame(mark, anchor, json::array());
}

void YamlBuilder::OnMapStart(const YAML::Mark& mark, const std::string& /*tag*/,
                             YAML::anchor_t anchor, YAML::EmitterStyle::value /*style*/) {
  OpenFrame(mark, anchor, json::object());
}

void YamlBuilder::OpenFrame(const YAML::Mark& mark, YAML::anchor_t anchor, json empty) {
  const int line = LineOfMark(mark);
  if (ExpectsKey()) Refuse(line, "a key must be a word; this one is a list or a map");
  if (frames_.empty() && !empty.is_object()) {
    Refuse(line, "the file must be a map of `key: value` lines, but a list starts here");
  }
  if (frames_.size() >= static_cast<size_t>(kMaxYamlDepth)) {
    Refuse(line, "nested more than " + std::to_string(kMaxYamlDepth) + " deep; flatten it");
  }
  Count(line, 1, 0);
  Frame frame;
  frame.value.json = std::move(empty);
  frame.value.line = line;
  frame.pointer = PointerOfNext();
  frame.anchor = anchor;
  frames_.push_back(std::move(frame));
}

void YamlBuilder::CloseFrame() {
  Frame frame = std::move(frames_.back());
  frames_.pop_back();
  for (const json& merged : frame.merged) {
    for (const auto& [key, value] : merged.items()) {
      if (!frame.value.json.contains(key)) frame.value.json[key] = value;
    }
  }
  Add(std::move(frame.value), frame.anchor);
}

void YamlBuilder::Add(Value value, YAML::anchor_t anchor) {
  if (anchor != 0) anchors_[anchor] = value;
  saw_value_ = saw_value_ || !value.json.is_null();
  if (!frames_.empty()) return AddToFrame(frames_.back(), std::move(value));
  if (value.json.is_null()) return;  // an empty document: the caller decides
  if (!value.json.is_object()) {
    Refuse(value.line, "the file must be a map of `key: value` lines");
  }
  document_.root = std::move(value.json);
}

void YamlBuilder::AddToFrame(Frame& frame, Value value) {
  frame.value.values += value.values;
  frame.value.bytes += value.bytes;
  if (frame.value.json.is_array()) {
    RecordLine(value.line);
    frame.value.json.push_back(std::move(value.json));
    return;
  }
  if (frame.key_is_merge) {
    Merge(frame, value);
  } else {
    frame.value.json[*frame.key] = std::move(value.json);
  }
  frame.key.reset();
}

void YamlBuilder::Merge(Frame& frame, const Value& value) {
  const json maps = value.json.is_array() ? value.json : json::array({value.json});
  for (const json& map : maps) {
    if (!map.is_object()) Refuse(value.line, "`<<` takes an alias of a map, or a list of them");
    frame.merged.push_back(map);
  }
}

bool YamlBuilder::ExpectsKey() const {
  return !frames_.empty() && frames_.back().value.json.is_object() && !frames_.back().key;
}

void YamlBuilder::SetKey(int line, const std::string& tag, const std::string& text) {
  Frame& frame = frames_.back();
  frame.key_is_merge = text == "<<" && !IsQuoted(tag);
  frame.key = text;
  if (frame.key_is_merge) return;
  Count(line, 0, text.size());
  frame.value.bytes += text.size();
  if (!frame.keys.insert(text).second) {
    Refuse(line, "the key `" + text.substr(0, 60) + "` is already on line " +
                     std::to_string(RecordLine(line)) + "; keep one of them");
  }
  RecordLine(line);
}

std::string YamlBuilder::PointerOfNext() const {
  if (frames_.empty()) return {};
  const Frame& frame = frames_.back();
  if (frame.key) return frame.pointer + "/" + Token(*frame.key);
  return frame.pointer + "/" + std::to_string(frame.value.json.size());
}

// Pointers repeat their parents' keys, so long keys above many values would multiply.
int YamlBuilder::RecordLine(int line) {
  std::string pointer = PointerOfNext();
  pointer_bytes_ += pointer.size();
  if (pointer_bytes_ > kMaxPointerBytes) Refuse(line, "too many long keys; make it smaller");
  return document_.lines.emplace(std::move(pointer), line).first->second;
}

void YamlBuilder::Count(int line, size_t values, size_t bytes) {
  values_ += values;
  bytes_ += bytes;
  if (values_ > kMaxYamlValues || bytes_ > kMaxYamlExpandedBytes) {
    Refuse(line, "more than " + std::to_string(kMaxYamlValues) +
                     " values, or aliases that expand to too much text; make it smaller");
  }
}

}  // namespace gpuadvise
