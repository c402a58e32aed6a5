#include "common/yaml/yaml_document.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <optional>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include "common/yaml/text_check.h"
#include "common/yaml/yaml_scalar.h"

namespace gpuadvise {
namespace {

using nlohmann::json;

int LineOfMark(const YAML::Mark& mark) { return mark.line + 1; }

struct YamlFault {
  int line = 0;  // counted from 1
  std::string sentence;
};

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

// Escapes can produce characters that the file itself may not contain; yaml-cpp's \_ and \N give
// invalid UTF-8.
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

// Builds a YamlDocument from yaml-cpp's events, without its node tree.
//
// Events arrive one by one, so nesting, size and aliases are bounded before copying. The first
// error is thrown as a YamlFault, which ParseYaml catches.
class YamlBuilder : public YAML::EventHandler {
 public:
  // `last_wins`: of equal keys.
  explicit YamlBuilder(bool last_wins) : last_wins_(last_wins) {}

  // The finished document. REQUIRES: all events of one document were received.
  YamlDocument Take() { return std::move(document_); }
  bool saw_value() const { return saw_value_; }

  void OnDocumentStart(const YAML::Mark& mark) override;
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override;
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override;
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override;
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value style) override;
  void OnSequenceEnd() override { CloseFrame(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value style) override;
  void OnMapEnd() override { CloseFrame(); }

 private:
  struct Value {
    nlohmann::json json;
    size_t values = 1;  // including nested values
    size_t bytes = 0;   // bytes of text
    int line = 0;
  };
  // An open map or sequence.
  struct Frame {
    Value value;
    std::string pointer;
    YAML::anchor_t anchor = 0;
    std::optional<std::string> key;  // of a map, when its value comes next
    bool key_is_merge = false;       // the key is a plain `<<`
    std::set<std::string> keys;
    std::vector<nlohmann::json> merged;
  };

  void OpenFrame(const YAML::Mark& mark, YAML::anchor_t anchor, nlohmann::json empty);
  void CloseFrame();
  void Add(Value value, YAML::anchor_t anchor);
  void AddToFrame(Frame& frame, Value value);
  void Merge(Frame& frame, const Value& value);
  bool ExpectsKey() const;
  void SetKey(int line, const std::string& tag, const std::string& text);
  std::string PointerOfNext() const;
  int RecordLine(int line);  // of PointerOfNext(); the line it was first seen on
  void Count(int line, size_t values, size_t bytes);

  const bool last_wins_;
  YamlDocument document_;
  bool saw_document_ = false;
  bool saw_value_ = false;
  std::vector<Frame> frames_;
  std::map<YAML::anchor_t, Value> anchors_;
  size_t values_ = 0;
  size_t bytes_ = 0;
  size_t pointer_bytes_ = 0;
};

void YamlBuilder::OnDocumentStart(const YAML::Mark& mark) {
  if (saw_document_) {
    Refuse(LineOfMark(mark),
           "a second document starts here; use one per file (sections of one document can be "
           "chosen by name)");
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
  if (found == anchors_.end()) Refuse(line, "an alias is inside its own anchor; remove it");
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
  if (value.json.is_null()) return;  // an empty document: left to the caller
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
  if (!frame.keys.insert(text).second && !last_wins_) {
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

// Pointers repeat parent keys, so long keys above many values would multiply.
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

tl::unexpected<Error> At(const std::string& file, int line, const std::string& sentence) {
  const std::string place = line > 0 ? file + ":" + std::to_string(line) : file;
  return BadInput(place + ": " + sentence);
}

std::string_view LineText(std::string_view text, int line) {
  for (int i = 1; i < line; ++i) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  return text.substr(0, text.find('\n'));
}

bool IndentedWithTab(std::string_view line) {
  const size_t first = line.find_first_not_of(" \t");
  return line.substr(0, first).find('\t') != std::string_view::npos;
}

tl::unexpected<Error> SyntaxError(std::string_view text, const std::string& file,
                                  const YAML::Exception& exception) {
  const int line = exception.mark.is_null() ? 0 : exception.mark.line + 1;
  if (line > 0 && IndentedWithTab(LineText(text, line))) {
    return At(file, line, "a tab in the indentation; YAML takes spaces only");
  }
  return At(file, line,
            "not valid YAML (" + exception.msg + "); check the indentation, quotes and colons");
}

// Checks before parsing.
Result<void> CheckText(std::string_view text, const std::string& file) {
  if (text.size() > kMaxYamlBytes) {
    return At(file, 0, "larger than 1 MiB; a settings or training file is a few kilobytes");
  }
  if (const size_t nul = text.find('\0'); nul != std::string_view::npos) {
    return At(file, LineAt(text, nul),
              "a NUL byte; this is not a text file (UTF-16? save as UTF-8)");
  }
  if (const auto bad = FirstInvalidUtf8(text)) {
    return At(file, LineAt(text, *bad), "not UTF-8 text; save the file as UTF-8");
  }
  return {};
}

Result<YamlDocument> Build(std::string_view text, const std::string& file, YamlRules rules) {
  std::istringstream stream{std::string(text)};
  YAML::Parser parser(stream);
  YamlBuilder builder(rules == YamlRules::kOfOthers);
  while (parser.HandleNextDocument(builder)) {
  }
  if (!builder.saw_value() && rules == YamlRules::kStrict) {
    return At(file, 0, "the file is empty; write `key: value` lines");
  }
  return builder.Take();
}

}  // namespace

int YamlDocument::LineOf(std::string_view pointer) const {
  std::string at(pointer);
  while (!at.empty()) {
    if (const auto found = lines.find(at); found != lines.end()) return found->second;
    const size_t slash = at.rfind('/');
    at.resize(slash == std::string::npos ? 0 : slash);
  }
  return 0;
}

Result<YamlDocument> ParseYaml(std::string_view text, const std::string& file, YamlRules rules) {
  if (Result<void> checked = CheckText(text, file); !checked) {
    return tl::unexpected<Error>(checked.error());
  }
  try {
    return Build(text, file, rules);
  } catch (const YamlFault& fault) {
    return At(file, fault.line, fault.sentence);
  } catch (const YAML::Exception& exception) {
    return SyntaxError(text, file, exception);
  }
}

std::string Describe(const Error& error, const std::string& file, const YamlDocument& document) {
  const int line = document.LineOf(error.pointer);
  if (line == 0) return file + ": " + error.message;
  return file + ":" + std::to_string(line) + ": " + error.message;
}

}  // namespace gpuadvise
