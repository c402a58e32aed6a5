#include "common/yaml/yaml_edit.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/yaml/yaml_document.h"

namespace gpuadvise {
namespace {

using nlohmann::json;

// Lines of the text, for positions given as line and column.
class Lines {
 public:
  explicit Lines(std::string_view text) : text_(text) {
    for (size_t at = 0; at != std::string_view::npos && at < text.size();) {
      starts_.push_back(at);
      const size_t end = text.find('\n', at);
      at = end == std::string_view::npos ? end : end + 1;
    }
  }

  // npos if the position is outside the text.
  size_t OffsetOf(const YAML::Mark& mark) const {
    const auto line = static_cast<size_t>(mark.line);
    if (mark.line < 0 || line >= starts_.size()) return std::string_view::npos;
    return std::min(starts_[line] + static_cast<size_t>(mark.column), text_.size());
  }
  size_t count() const { return starts_.size(); }
  std::string_view Line(size_t line) const {
    return text_.substr(starts_[line], StartOf(line + 1) - starts_[line]);
  }
  size_t StartOf(size_t line) const { return line < starts_.size() ? starts_[line] : text_.size(); }

  // End of the block that starts at line `first` with lines indented by at least `column`: the line
  // after its last non-comment line.
  size_t EndOfBlock(size_t first, size_t column) const {
    size_t end = first + 1;
    for (size_t line = first + 1; line < count(); ++line) {
      const size_t indent = Line(line).find_first_not_of(" \t\r\n");
      if (indent == std::string_view::npos || Line(line)[indent] == '#') continue;
      if (indent < column) break;
      end = line + 1;
    }
    return StartOf(end);
  }

 private:
  std::string_view text_;
  std::vector<size_t> starts_;
};

// Position after the bracket that closes the one at `open`; npos if none.
size_t EndOfFlow(std::string_view text, size_t open) {
  int depth = 0;
  for (size_t i = open; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\'') {
      i = text.find('\'', i + 1);
    } else if (c == '"') {
      for (++i; i < text.size() && text[i] != '"'; ++i) i += text[i] == '\\' ? 1 : 0;
    } else if (c == '#' && (text[i - 1] == ' ' || text[i - 1] == '\n')) {
      i = text.find('\n', i);
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if ((c == '}' || c == ']') && --depth == 0) {
      return i + 1;
    }
    if (i == std::string_view::npos) return i;
  }
  return std::string_view::npos;
}

// `{memory: {…}}` for the keys from `first` on; `value` itself if there are none.
std::string Nested(const YamlPath& path, size_t first, const std::string& value) {
  std::string text = value;
  for (size_t i = path.size(); i > first; --i) text = "{" + path[i - 1] + ": " + text + "}";
  return text;
}

// A new value at a path, or the first item of a new list.
struct NewValue {
  std::string text;
  bool is_item = false;

  std::string AsFlow() const { return is_item ? "[" + text + "]" : text; }
};

// The keys of `path` from `first` on, one per line, indented by `indent`; then the value.
std::string AsBlock(const YamlPath& path, size_t first, const NewValue& value, size_t indent) {
  std::string text;
  for (size_t i = first; i < path.size(); ++i, indent += 2) {
    text += std::string(indent, ' ') + path[i] + ":";
    if (i + 1 < path.size() || value.is_item) text += "\n";
  }
  return text + (value.is_item ? std::string(indent, ' ') + "- " : " ") + value.text + "\n";
}

struct Entry {
  YAML::Node key, value;
};

std::optional<Entry> EntryOf(const YAML::Node& map, const std::string& key) {
  for (const auto& entry : map) {
    if (entry.first.IsScalar() && entry.first.Scalar() == key)
      return Entry{entry.first, entry.second};
  }
  return {};
}

bool IsBlock(const YAML::Node& node) { return node.Style() != YAML::EmitterStyle::Flow; }

// Text changes, each in one place. "" means that the place was not found.
class Editor {
 public:
  explicit Editor(std::string_view text) : text_(text), lines_(text) {}

  std::string Set(const YAML::Node& root, const YamlPath& path, const NewValue& value) const {
    YAML::Node node = root;
    for (size_t i = 0; i < path.size(); ++i) {
      const std::optional<Entry> entry = EntryOf(node, path[i]);
      const std::string rest = Nested(path, i + 1, value.AsFlow());
      if (!entry) return Insert(node, path, i, value);
      if (i + 1 == path.size() || entry->value.IsNull()) return Replace(*entry, rest);
      if (!entry->value.IsMap()) return "";
      node.reset(entry->value);
    }
    return "";
  }

  std::string PutFirst(const YAML::Node& list, const std::string& item) const {
    const size_t at = lines_.OffsetOf(list.Mark());
    if (at >= text_.size()) return "";
    if (!IsBlock(list)) return With(at + 1, at + 1, item + (list.size() > 0 ? ", " : ""));
    const auto line = static_cast<size_t>(list.begin()->Mark().line);
    if (line >= lines_.count()) return "";
    const std::string indent(lines_.Line(line).find_first_not_of(' '), ' ');
    return With(lines_.StartOf(line), lines_.StartOf(line), indent + "- " + item + "\n");
  }

  // Replaces the flow value at `node`.
  std::string ReplaceFlow(const YAML::Node& node, const std::string& value) const {
    const size_t at = lines_.OffsetOf(node.Mark());
    if (at >= text_.size() || (text_[at] != '{' && text_[at] != '[')) return "";
    const size_t end = EndOfFlow(text_, at);
    return end == std::string_view::npos ? "" : With(at, end, value);
  }

 private:
  std::string With(size_t from, size_t to, const std::string& between) const {
    return std::string(text_.substr(0, from)) + between + std::string(text_.substr(to));
  }

  // Inserts the keys from `first` on, missing in `map`: as its last lines, or first in a flow map.
  std::string Insert(const YAML::Node& map, const YamlPath& path, size_t first,
                     const NewValue& value) const {
    const size_t at = lines_.OffsetOf(map.Mark());
    if (at >= text_.size()) return "";
    if (!IsBlock(map)) {
      const std::string entry = path[first] + ": " + Nested(path, first + 1, value.AsFlow());
      return With(at + 1, at + 1, entry + (map.size() > 0 ? ", " : ""));
    }
    const YAML::Mark key = map.begin()->first.Mark();
    const auto column = static_cast<size_t>(key.column);
    const size_t end = lines_.EndOfBlock(static_cast<size_t>(key.line), column);
    const bool open_end = end > 0 && text_[end - 1] != '\n';
    return With(end, end, (open_end ? "\n" : "") + AsBlock(path, first, value, column));
  }

  std::string Replace(const Entry& entry, const std::string& value) const {
    const YAML::Node& old = entry.value;
    if (!IsBlock(old) && (old.IsMap() || old.IsSequence())) return ReplaceFlow(old, value);
    const YAML::Mark key = entry.key.Mark();
    const size_t at = lines_.OffsetOf(key);
    if (at >= text_.size()) return "";
    const size_t colon = text_.find(':', at + entry.key.Scalar().size());
    const size_t line_end = std::min(text_.find('\n', at), text_.size());
    if (colon >= line_end) return "";
    size_t end_of_value = std::min(text_.find(" #", colon), line_end);
    while (end_of_value > colon + 1 &&
           (text_[end_of_value - 1] == ' ' || text_[end_of_value - 1] == '\r')) {
      --end_of_value;
    }
    const size_t block_end = old.IsNull() || old.IsScalar()
                                 ? lines_.StartOf(static_cast<size_t>(key.line) + 1)
                                 : EndOfOldBlock(old, key);
    const size_t next_line = lines_.StartOf(static_cast<size_t>(key.line) + 1);
    std::string changed(text_.substr(0, colon + 1));
    changed += " " + value;
    changed += text_.substr(end_of_value, next_line - end_of_value);
    return changed + std::string(text_.substr(block_end));
  }

  // List items may have the same indent as their key.
  size_t EndOfOldBlock(const YAML::Node& old, const YAML::Mark& key) const {
    const auto column = static_cast<size_t>(key.column);
    size_t line = static_cast<size_t>(key.line);
    if (!old.IsSequence()) return lines_.EndOfBlock(line, column + 1);
    size_t end = lines_.EndOfBlock(line, column + 1);
    for (++line; line < lines_.count(); ++line) {
      const std::string_view text = lines_.Line(line);
      const bool item =
          text.size() > column && text.find_first_not_of(' ') == column && text[column] == '-';
      if (!item) continue;
      if (lines_.StartOf(line) > end) break;
      end = lines_.EndOfBlock(line, column + 1);
    }
    return end;
  }

  std::string_view text_;
  Lines lines_;
};

tl::unexpected<Error> CannotBeChanged(const YamlPath& path) {
  std::string name;
  for (const std::string& key : path) name += (name.empty() ? "" : ".") + key;
  return BadInput(name + " cannot be changed in place, because of how the file is written there");
}

// `value` as parsed by ParseYaml.
Result<json> Meaning(const std::string& value) {
  const Result<YamlDocument> document = ParseYaml("value: " + value + "\n", "value");
  if (!document) return tl::unexpected<Error>(document.error());
  return document->root.at("value");
}

Result<json> RootOf(std::string_view text) {
  Result<YamlDocument> document = ParseYaml(text, "file");
  if (!document) return tl::unexpected<Error>(document.error());
  return std::move(document->root);
}

json::json_pointer PointerOf(const YamlPath& path) {
  json::json_pointer pointer;
  for (const std::string& key : path) pointer.push_back(key);
  return pointer;
}

// Applies `make` (editor, yaml-cpp's tree) and checks that the result equals `expected`.
template <typename Make>
Result<std::string> Changed(std::string_view text, const YamlPath& path, const json& expected,
                            Make make) {
  std::string changed;
  try {
    changed = make(Editor(text), YAML::Load(std::string(text)));
  } catch (const YAML::Exception&) {
    return CannotBeChanged(path);
  }
  const Result<json> meaning = RootOf(changed);
  if (!meaning || *meaning != expected) return CannotBeChanged(path);
  return changed;
}

Result<std::string> WithNewValue(std::string_view text, const YamlPath& path,
                                 const NewValue& value) {
  Result<json> expected = RootOf(text);
  if (!expected) return tl::unexpected<Error>(expected.error());
  const Result<json> meaning = Meaning(value.AsFlow());
  if (!meaning) return tl::unexpected<Error>(meaning.error());
  try {
    (*expected)[PointerOf(path)] = *meaning;
  } catch (const json::exception&) {  // e.g. a number instead of a map
    return CannotBeChanged(path);
  }
  return Changed(text, path, *expected, [&](const Editor& editor, const YAML::Node& root) {
    return editor.Set(root, path, value);
  });
}

}  // namespace

Result<std::string> WithYamlValue(std::string_view text, const YamlPath& path,
                                  const std::string& value) {
  return WithNewValue(text, path, {value, false});
}

Result<std::string> WithYamlItem(std::string_view text, const YamlPath& path,
                                 const std::string& item, std::optional<size_t> replaced) {
  Result<json> expected = RootOf(text);
  if (!expected) return tl::unexpected<Error>(expected.error());
  const auto pointer = PointerOf(path);
  const bool is_list = expected->contains(pointer) && expected->at(pointer).is_array();
  if (!is_list) return WithNewValue(text, path, {item, true});
  const Result<json> meaning = Meaning(item);
  if (!meaning) return tl::unexpected<Error>(meaning.error());
  json& list = expected->at(pointer);
  if (replaced && *replaced < list.size()) {
    list[*replaced] = *meaning;
  } else {
    list.insert(list.begin(), *meaning);
    replaced.reset();
  }
  return Changed(text, path, *expected, [&](const Editor& editor, YAML::Node node) {
    for (const std::string& key : path) node.reset(EntryOf(node, key).value_or(Entry{}).value);
    return replaced ? editor.ReplaceFlow(node[*replaced], item) : editor.PutFirst(node, item);
  });
}

}  // namespace gpuadvise
