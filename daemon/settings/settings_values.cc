#include "daemon/settings/settings_values.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "common/base/bytes.h"
#include "common/base/words.h"

namespace gpuadvise::daemon::settings_values {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;

// "/simulation/seed" as people write it: "simulation.seed".
std::string KeyName(const std::string& pointer) {
  std::string name = pointer.substr(pointer.empty() ? 0 : 1);
  std::replace(name.begin(), name.end(), '/', '.');
  return name;
}

std::string Shown(const json& value) {
  std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
  return text.size() <= 60 ? text : text.substr(0, 57) + "...";
}

tl::unexpected<Error> Wrong(const json& value, const std::string& pointer,
                            std::string_view remedy) {
  return BadInput(fmt::format("{} is {}; write {}", KeyName(pointer), Shown(value), remedy),
                  pointer);
}

std::optional<double> SecondsOf(std::string_view unit) {
  if (unit == "ms") return 0.001;
  if (unit.empty() || unit == "s") return 1;
  if (unit == "m" || unit == "min") return 60;
  if (unit == "h") return 3600;
  if (unit == "d") return 86400;
  return std::nullopt;
}

std::optional<double> ParseSeconds(const json& value) {
  if (value.is_number()) return value.get<double>();
  if (!value.is_string()) return std::nullopt;
  const auto& text = value.get_ref<const std::string&>();
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, status] = std::from_chars(text.data(), end, number);
  if (status != std::errc()) return std::nullopt;
  std::string_view unit(rest, static_cast<size_t>(end - rest));
  while (!unit.empty() && unit.front() == ' ') unit.remove_prefix(1);
  const std::optional<double> scale = SecondsOf(unit);
  if (!scale) return std::nullopt;
  return number * *scale;
}

}  // namespace

Result<std::string> Text(const json& value, const std::string& pointer) {
  if (value.is_null()) return std::string();
  if (!value.is_string()) return Wrong(value, pointer, "a text");
  return value.get<std::string>();
}

Result<std::string> Path(const json& value, const std::string& pointer) {
  Result<std::string> text = Text(value, pointer);
  if (text && !text->empty() && text->front() != '/') {
    return Wrong(value, pointer, "an absolute path (it starts with /)");
  }
  return text;
}

Result<milliseconds> Duration(const json& value, const std::string& pointer, milliseconds low,
                              milliseconds high) {
  const std::optional<double> seconds = ParseSeconds(value);
  if (!seconds || !std::isfinite(*seconds)) {
    return Wrong(value, pointer, "a duration such as 30s, 5m, 1h or 7d");
  }
  const double count = *seconds * 1000;
  if (count < static_cast<double>(low.count()) || count > static_cast<double>(high.count())) {
    return Wrong(value, pointer,
                 fmt::format("a duration from {} to {}", DurationText(low), DurationText(high)));
  }
  return milliseconds(std::llround(count));
}

std::string DurationText(milliseconds duration) {
  const int64_t count = duration.count();
  constexpr int64_t kDay = 86'400'000;
  if (count % kDay == 0 && count >= 2 * kDay) return fmt::format("{}d", count / kDay);
  if (count % 3'600'000 == 0 && count != 0) return fmt::format("{}h", count / 3'600'000);
  if (count % 60'000 == 0 && count != 0) return fmt::format("{}m", count / 60'000);
  if (count % 1000 == 0) return fmt::format("{}s", count / 1000);
  return fmt::format("{}ms", count);
}

Result<int64_t> Count(const json& value, const std::string& pointer, int64_t low, int64_t high) {
  const std::string remedy = fmt::format("a whole number from {} to {}", low, high);
  if (!value.is_number_integer()) return Wrong(value, pointer, remedy);
  if (value.is_number_unsigned() && value.get<uint64_t>() > static_cast<uint64_t>(high)) {
    return Wrong(value, pointer, remedy);
  }
  const auto count = value.get<int64_t>();
  if (count < low || count > high) return Wrong(value, pointer, remedy);
  return count;
}

Result<int64_t> Size(const json& value, const std::string& pointer, int64_t low, int64_t high) {
  const std::string remedy =
      fmt::format("a size from {} to {}, such as 1 GB", SizeText(low), SizeText(high));
  int64_t bytes = 0;
  if (value.is_string()) {
    const Result<Bytes> read = ParseBytes(value.get_ref<const std::string&>());
    if (!read) return Wrong(value, pointer, remedy);
    bytes = read->count;
  } else if (!value.is_number_integer() || (bytes = value.get<int64_t>()) < 0) {
    return Wrong(value, pointer, remedy);
  }
  if (bytes < low || bytes > high) return Wrong(value, pointer, remedy);
  return bytes;
}

std::string SizeText(int64_t bytes) {
  constexpr std::pair<const char*, int64_t> kUnits[] = {
      {"TB", 1'000'000'000'000}, {"GB", 1'000'000'000}, {"MB", 1'000'000}};
  for (const auto& [unit, size] : kUnits) {
    if (bytes >= size && bytes % size == 0) return fmt::format("{} {}", bytes / size, unit);
  }
  return fmt::format("{} B", bytes);
}

Result<double> Number(const json& value, const std::string& pointer, double low, double high) {
  const std::string remedy = fmt::format("a number from {} to {}", low, high);
  if (!value.is_number()) return Wrong(value, pointer, remedy);
  const auto number = value.get<double>();
  if (!(number >= low && number <= high)) return Wrong(value, pointer, remedy);
  return number;
}

Result<uint32_t> FileMode(const json& value, const std::string& pointer) {
  const std::string digits = value.is_string() ? value.get<std::string>() : value.dump();
  uint32_t mode = 0;
  const char* end = digits.data() + digits.size();
  const auto [rest, status] = std::from_chars(digits.data(), end, mode, 8);
  if (status != std::errc() || rest != end || mode > 0777) {
    return Wrong(value, pointer, R"(octal permissions such as "0660")");
  }
  return mode;
}

Result<std::string> OneOf(const json& value, const std::string& pointer,
                          const std::vector<std::string>& allowed) {
  if (!value.is_string() ||
      std::find(allowed.begin(), allowed.end(), value.get<std::string>()) == allowed.end()) {
    return Wrong(value, pointer, fmt::format("one of {}", fmt::join(allowed, ", ")));
  }
  return value.get<std::string>();
}

Result<std::string> Listen(const json& value, const std::string& pointer) {
  Result<std::string> text = Text(value, pointer);
  if (!text || text->empty()) return text;
  const size_t colon = text->rfind(':');
  const std::string port = colon == std::string::npos ? "" : text->substr(colon + 1);
  const bool digits =
      !port.empty() && port.size() <= 5 &&
      std::all_of(port.begin(), port.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (digits && colon > 0 && std::stoi(port) <= 65535) return text;
  return BadInput(fmt::format("{} is \"{}\"; write HOST:PORT such as 127.0.0.1:6828, or nothing",
                              KeyName(pointer), *text),
                  pointer);
}

Result<std::vector<std::string>> HostNames(const json& value, const std::string& pointer) {
  const char* remedy = "host names without scheme and path, such as [gpu.example.org], or []";
  std::vector<std::string> names;
  const json list = value.is_array() ? value : value.is_null() ? json::array() : json{value};
  for (const json& item : list) {
    const std::string name = item.is_string() ? item.get<std::string>() : "";
    const bool plain = !name.empty() && name.find_first_of("/ \t*@") == std::string::npos;
    if (!plain) return Wrong(value, pointer, remedy);
    names.push_back(name);
  }
  return names;
}

Error UnknownKey(std::string_view key, const std::string& pointer,
                 const std::vector<std::string>& known) {
  const std::string nearest = NearestName(key, known);
  const std::string prefix = pointer.empty() ? "" : KeyName(pointer) + ".";
  std::string message =
      nearest.empty() ? fmt::format("unknown key {}{}; known are {}", prefix, key,
                                    JoinNames(known, known.size()))
                      : fmt::format("unknown key {}{}; did you mean {}?", prefix, key, nearest);
  return Error{ErrorCode::kBadInput, std::move(message),
               (json::json_pointer(pointer) / std::string(key)).to_string()};
}

}  // namespace gpuadvise::daemon::settings_values
