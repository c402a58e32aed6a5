#include "common/yaml/yaml_scalar.h"

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "common/base/text.h"

namespace gpuadvise {
namespace {

using nlohmann::json;

constexpr std::string_view kCoreTagPrefix = "tag:yaml.org,2002:";

bool AllDigits(std::string_view text, std::string_view digits) {
  return !text.empty() && text.find_first_not_of(digits) == std::string_view::npos;
}

std::string_view WithoutSign(std::string_view text) {
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  return text;
}

// from_chars takes '-' but not '+'.
std::string_view WithoutPlus(std::string_view text) {
  if (!text.empty() && text[0] == '+') text.remove_prefix(1);
  return text;
}

template <typename Int>
std::optional<json> Parsed(std::string_view text, int base) {
  Int value{};
  auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return json(value);
}

// Non-negative integers are unsigned, as in nlohmann::json's parser: equal values from YAML and
// over the socket.
std::optional<json> Integer(std::string_view text) {
  if (text.starts_with("0o") && AllDigits(text.substr(2), "01234567")) {
    return Parsed<uint64_t>(text.substr(2), 8);
  }
  if (text.starts_with("0x") && AllDigits(text.substr(2), "0123456789abcdefABCDEF")) {
    return Parsed<uint64_t>(text.substr(2), 16);
  }
  if (!AllDigits(WithoutSign(text), "0123456789")) return std::nullopt;
  if (text[0] == '-') return Parsed<int64_t>(text, 10);
  return Parsed<uint64_t>(WithoutPlus(text), 10);
}

// [-+]? ( . [0-9]+ | [0-9]+ ( . [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?
bool LooksLikeFloat(std::string_view text) {
  text = WithoutSign(text);
  const size_t exponent = text.find_first_of("eE");
  if (exponent != std::string_view::npos) {
    if (!AllDigits(WithoutSign(text.substr(exponent + 1)), "0123456789")) return false;
    text = text.substr(0, exponent);
  }
  const size_t dot = text.find('.');
  if (dot == std::string_view::npos) return AllDigits(text, "0123456789");
  const std::string_view whole = text.substr(0, dot);
  const std::string_view fraction = text.substr(dot + 1);
  if (whole.empty()) return AllDigits(fraction, "0123456789");
  return AllDigits(whole, "0123456789") && (fraction.empty() || AllDigits(fraction, "0123456789"));
}

bool IsInfinityOrNan(std::string_view text) {
  return IsOneOf(WithoutSign(text), {".inf", ".Inf", ".INF"}) ||
         IsOneOf(text, {".nan", ".NaN", ".NAN"});
}

Result<json> Float(const std::string& text) {
  const std::string_view digits = WithoutPlus(text);
  double value = 0;
  const auto code = std::from_chars(digits.data(), digits.data() + digits.size(), value).ec;
  if (code != std::errc() || !std::isfinite(value)) {
    return BadInput(text.substr(0, 40) + " is outside the range of numbers; write a smaller one");
  }
  return json(value);
}

}  // namespace

Result<json> PlainScalar(const std::string& text) {
  if (IsOneOf(text, {"", "~", "null", "Null", "NULL"})) return json(nullptr);
  if (IsOneOf(text, {"true", "True", "TRUE"})) return json(true);
  if (IsOneOf(text, {"false", "False", "FALSE"})) return json(false);
  if (IsInfinityOrNan(text)) return BadInput(text + " cannot be used here; write a finite number");
  if (std::optional<json> integer = Integer(text)) return *integer;
  if (LooksLikeFloat(text)) return Float(text);
  return json(text);
}

Result<json> TaggedScalar(const std::string& tag, const std::string& text) {
  if (!tag.starts_with(kCoreTagPrefix)) {
    return BadInput("the tag " + tag.substr(0, 60) + " is not known; remove it");
  }
  const std::string_view type = std::string_view(tag).substr(kCoreTagPrefix.size());
  if (type == "str") return json(text);
  Result<json> value = PlainScalar(text);
  if (!value) return value;
  const bool fits = (type == "int" && value->is_number_integer()) ||
                    (type == "float" && value->is_number()) ||
                    (type == "bool" && value->is_boolean()) || (type == "null" && value->is_null());
  if (fits) return value;
  return BadInput("\"" + text.substr(0, 40) + "\" is not a !!" + std::string(type) +
                  "; remove the tag");
}

namespace {

bool IsSafePlain(std::string_view text) {
  if (text.empty() || text.front() == ' ' || text.back() == ' ') return false;
  if (std::string_view("-?:,[]{}#&*!|>'\"%@` ").find(text.front()) != std::string_view::npos) {
    return false;
  }
  for (char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return false;
  }
  return text.find(": ") == std::string_view::npos && text.find(" #") == std::string_view::npos &&
         text.back() != ':' && text.find_first_of(",[]{}") == std::string_view::npos;
}

}  // namespace

std::string YamlText(std::string_view text) {
  const std::string plain(text);
  const Result<nlohmann::json> read = PlainScalar(plain);
  if (IsSafePlain(text) && read && read->is_string()) return plain;
  return nlohmann::json(plain).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace gpuadvise
