#include "common/base/json_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "common/base/bytes.h"
#include "common/base/slurm_time.h"
#include "common/base/words.h"

namespace gpuadvise {

using nlohmann::json;

namespace {

constexpr size_t kMostFurther = 7;

bool IsWithin(const std::string& pointer, const std::string& whole) {
  return pointer.starts_with(whole) &&
         (pointer.size() == whole.size() || pointer[whole.size()] == '/');
}

}  // namespace

void DocumentErrors::Note(std::string message, std::string pointer) {
  Error error{ErrorCode::kBadInput, std::move(message), std::move(pointer)};
  if (!error_) {
    error_ = std::move(error);
    return;
  }
  const auto same = [&](const Error& other) {
    return IsWithin(other.pointer, error.pointer) || IsWithin(error.pointer, other.pointer);
  };
  std::vector<Error>& further = error_->further;
  if (same(*error_) || std::any_of(further.begin(), further.end(), same)) return;
  if (further.size() < kMostFurther) further.push_back(std::move(error));
}

std::string PointerTo(const std::string& pointer, const std::string& key) {
  std::string escaped;
  for (char c : key) {
    if (c == '~') {
      escaped += "~0";
    } else if (c == '/') {
      escaped += "~1";
    } else {
      escaped += c;
    }
  }
  return pointer + "/" + escaped;
}

std::string KindOf(const json& value) {
  switch (value.type()) {
    case json::value_t::null:
      return "nothing";
    case json::value_t::object:
      return "a mapping";
    case json::value_t::array:
      return "a list";
    case json::value_t::boolean:
      return value.get<bool>() ? "true" : "false";
    case json::value_t::string:
      return Quoted(value.get_ref<const std::string&>());
    default:
      return value.dump();
  }
}

Result<json> ParseJsonObject(std::string_view text) {
  constexpr int kDeepest = 64;
  bool too_deep = false;
  const auto watch = [&too_deep](int depth, json::parse_event_t, json&) {
    too_deep = too_deep || depth > kDeepest;
    return !too_deep;
  };
  json document = json::parse(text, watch, false);
  if (too_deep) return BadInput(fmt::format("is nested more than {} deep", kDeepest));
  if (!document.is_object()) return BadInput("is not a JSON object");
  return document;
}

FieldReader::FieldReader(const json& value, std::string pointer, DocumentErrors* errors)
    : object_(value.is_object() ? &value : nullptr), pointer_(std::move(pointer)), errors_(errors) {
  if (object_ == nullptr && !value.is_null()) {
    errors_->Note(
        fmt::format("{} must be a mapping of keys to values, not {}",
                    pointer_.empty() ? "the document" : pointer_.substr(pointer_.rfind('/') + 1),
                    KindOf(value)),
        pointer_);
  }
}

const json* FieldReader::Member(const std::string& key) {
  asked_.push_back(key);
  if (object_ == nullptr) return nullptr;
  auto found = object_->find(key);
  return found == object_->end() || found->is_null() ? nullptr : &*found;
}

void FieldReader::Refuse(const std::string& key, const std::string& message) {
  errors_->Note(message, PointerOf(key));
}

void FieldReader::Expected(const std::string& key, const json& found, const std::string& what) {
  Refuse(key, fmt::format("{} must be {}, not {}", key, what, KindOf(found)));
}

bool FieldReader::IsShort(const std::string& key, const std::string& text, size_t most_bytes) {
  if (text.size() <= most_bytes) return true;
  Refuse(key, fmt::format("{} has {} bytes; the limit is {}: shorten it", key,
                          Grouped(static_cast<int64_t>(text.size())),
                          Grouped(static_cast<int64_t>(most_bytes))));
  return false;
}

bool FieldReader::IsShort(const std::string& key, const json& list, size_t most_items) {
  if (list.size() <= most_items) return true;
  Refuse(key, fmt::format("{} has {} entries; the limit is {}: remove some", key,
                          Grouped(static_cast<int64_t>(list.size())),
                          Grouped(static_cast<int64_t>(most_items))));
  return false;
}

const json* FieldReader::Any(const std::string& key) { return Member(key); }

std::optional<int64_t> FieldReader::Int(const std::string& key, int64_t low, int64_t high) {
  const json* value = Member(key);
  if (value == nullptr) return {};
  std::string what = fmt::format("a whole number from {} to {}", low, high);
  if (value->is_number_float()) {
    double number = value->get<double>();
    bool whole = std::isfinite(number) && std::floor(number) == number;
    if (whole && number >= static_cast<double>(low) && number <= static_cast<double>(high)) {
      return static_cast<int64_t>(number);
    }
  } else if (value->is_number_unsigned()) {
    auto number = value->get<uint64_t>();
    if (number <= static_cast<uint64_t>(INT64_MAX)) {
      auto signed_number = static_cast<int64_t>(number);
      if (signed_number >= low && signed_number <= high) return signed_number;
    }
  } else if (value->is_number_integer()) {
    auto number = value->get<int64_t>();
    if (number >= low && number <= high) return number;
  }
  Expected(key, *value, what);
  return {};
}

std::optional<double> FieldReader::Number(const std::string& key, double low, double high) {
  const json* value = Member(key);
  if (value == nullptr) return {};
  if (value->is_number()) {
    auto number = value->get<double>();
    if (std::isfinite(number) && number >= low && number <= high) return number;
  }
  Expected(key, *value, fmt::format("a number from {} to {}", low, high));
  return {};
}

std::optional<bool> FieldReader::Bool(const std::string& key) {
  const json* value = Member(key);
  if (value == nullptr) return {};
  if (value->is_boolean()) return value->get<bool>();
  Expected(key, *value, "true or false");
  return {};
}

std::optional<std::string> FieldReader::Text(const std::string& key, size_t most_bytes) {
  const json* value = Member(key);
  if (value == nullptr) return {};
  if (value->is_string()) {
    const auto& text = value->get_ref<const std::string&>();
    return IsShort(key, text, most_bytes) ? std::optional(text) : std::nullopt;
  }
  if (value->is_number()) return value->dump();
  Expected(key, *value, "text");
  return {};
}

std::optional<std::string> FieldReader::Choice(const std::string& key,
                                               const std::vector<std::string>& allowed) {
  std::optional<std::string> text = Text(key);
  if (!text || std::find(allowed.begin(), allowed.end(), *text) != allowed.end()) return text;
  Refuse(key, fmt::format("{} must be one of {}, not {}{}", key, JoinNames(allowed), Quoted(*text),
                          DidYouMean(*text, allowed)));
  return {};
}

std::vector<std::string> FieldReader::Texts(const std::string& key, size_t most_items) {
  const json* value = Member(key);
  if (value == nullptr) return {};
  std::vector<std::string> texts;
  const bool is_list = value->is_array();
  if (is_list && !IsShort(key, *value, most_items)) return {};
  for (size_t i = 0; i < (is_list ? value->size() : 1); ++i) {
    const json& item = is_list ? (*value)[i] : *value;
    if (item.is_string()) {
      if (!IsShort(key, item.get_ref<const std::string&>(), kMaxTextBytes)) return {};
      texts.push_back(item.get<std::string>());
    } else if (item.is_number()) {
      texts.push_back(item.dump());
    } else {
      Expected(key, item, "text or a list of texts");
      return {};
    }
  }
  return texts;
}

std::optional<std::string> FieldReader::Switch(const std::string& key,
                                               const std::vector<std::string>& words) {
  const json* value = Member(key);
  if (value == nullptr) return {};
  if (value->is_boolean()) return value->get<bool>() ? "true" : "false";
  if (value->is_string()) {
    auto text = value->get<std::string>();
    if (std::find(words.begin(), words.end(), text) != words.end()) return text;
  }
  std::vector<std::string> all = {"true", "false"};
  all.insert(all.end(), words.begin(), words.end());
  Expected(key, *value, "one of " + JoinNames(all));
  return {};
}

std::optional<int64_t> FieldReader::Size(const std::string& key) {
  const json* value = Member(key);
  if (value == nullptr) return {};
  if (!value->is_string()) {
    Expected(key, *value, "a size with its unit, such as 5 GB or 30 GiB");
    return {};
  }
  Result<Bytes> bytes = ParseBytes(value->get<std::string>());
  if (!bytes) {
    Refuse(key, fmt::format("{}: {}", key, bytes.error().message));
    return {};
  }
  if (bytes->count <= 0) {
    Expected(key, *value, "a size above zero");
    return {};
  }
  return bytes->count;
}

std::optional<int64_t> FieldReader::TimeLimit(const std::string& key) {
  const json* value = Member(key);
  if (value == nullptr) return {};
  const std::string text = value->is_string() ? value->get<std::string>() : value->dump();
  Result<SlurmNumber> seconds = ParseTimeLimit(text);
  if (seconds && seconds->has_value() && seconds->value() > 0) return seconds->value();
  Expected(key, *value,
           "a time limit above zero as Slurm writes it (12:00:00, 2-00:00:00, minutes)");
  return {};
}

std::vector<const json*> FieldReader::List(const std::string& key, size_t most_items) {
  const json* value = Member(key);
  if (value == nullptr) return {};
  if (!value->is_array()) {
    Expected(key, *value, "a list");
    return {};
  }
  if (!IsShort(key, *value, most_items)) return {};
  std::vector<const json*> items;
  for (const json& item : *value) items.push_back(&item);
  return items;
}

std::optional<FieldReader> FieldReader::Object(const std::string& key) {
  const json* value = Member(key);
  if (value == nullptr) return {};
  return FieldReader(*value, PointerOf(key), errors_);
}

bool FieldReader::WasAsked(const std::string& key) const {
  return std::find(asked_.begin(), asked_.end(), key) != asked_.end();
}

std::vector<std::pair<std::string, const json*>> FieldReader::Unasked() const {
  std::vector<std::pair<std::string, const json*>> unasked;
  if (object_ == nullptr) return unasked;
  for (const auto& [key, value] : object_->items()) {
    if (!WasAsked(key)) unasked.emplace_back(key, &value);
  }
  return unasked;
}

void FieldReader::RefuseUnknown() {
  for (const auto& [key, value] : Unasked()) {
    std::string hint = DidYouMean(key, asked_);
    if (hint.empty()) hint = "; known are " + JoinNames(asked_, 60);
    Refuse(Shortened(key, kMaxQuotedBytes), fmt::format("unknown key {}{}", Quoted(key), hint));
    return;
  }
}

}  // namespace gpuadvise
