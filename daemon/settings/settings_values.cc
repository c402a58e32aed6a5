#include "daemon/settings/settings_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "common/base/json_fields.h"
#include "common/base/text.h"
#include "common/base/words.h"

namespace gpuadvise::daemon {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;

std::string Shown(const json& value) {
  std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
  return text.size() <= 60 ? text : text.substr(0, 57) + "...";
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

bool HasPort(std::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  const std::string_view port = text.substr(colon + 1);
  constexpr size_t kMostDigits = 5;
  return !port.empty() && port.size() <= kMostDigits &&
         std::all_of(port.begin(), port.end(), IsDigit) && std::stoi(std::string(port)) <= 65535;
}

// One of "auto, sim, replay:FILE", where FILE is an absolute path.
Result<void> CheckWord(const GivenSetting& given, const std::string& text) {
  for (const std::string_view each : SplitAt(given.form.words, ',')) {
    const std::string_view word = Trim(each);
    const std::string_view start = word.substr(0, word.find(':') + 1);
    if (start.empty() && text == word) return {};
    if (start.empty() || !text.starts_with(start)) continue;
    if (text.substr(start.size()).starts_with('/')) return {};
    return given.Expected(fmt::format("{} and an absolute path", start));
  }
  return given.Expected(fmt::format("one of {}", given.form.words));
}

Result<void> CheckText(const GivenSetting& given, const std::string& text) {
  const std::string_view form = given.form.words;
  if (form == "path, not empty" && text.empty()) {
    return given.Refused("is empty; write an absolute path");
  }
  if (form.starts_with("path") && !text.empty() && text.front() != '/') {
    return given.Expected("an absolute path (it starts with /)");
  }
  if (form == "HOST:PORT" && !text.empty() && !HasPort(text)) {
    return given.Expected("HOST:PORT such as 127.0.0.1:6828, or nothing");
  }
  return {};
}

}  // namespace

std::string GivenSetting::Name() const {
  return ReplaceAll(at.substr(at.empty() ? 0 : 1), "/", ".");
}

tl::unexpected<Error> GivenSetting::Expected(std::string_view remedy) const {
  return Refused(fmt::format("is {}; write {}", Shown(value), remedy));
}

tl::unexpected<Error> GivenSetting::Refused(std::string_view sentence) const {
  return BadInput(fmt::format("{} {}", Name(), sentence), at);
}

Error UnknownKey(std::string_view key, const std::string& pointer,
                 const std::vector<std::string>& known) {
  const std::string nearest = NearestName(key, known);
  const std::string prefix = pointer.empty() ? "" : ReplaceAll(pointer.substr(1), "/", ".") + ".";
  std::string message =
      nearest.empty() ? fmt::format("unknown key {}{}; known are {}", prefix, key,
                                    JoinNames(known, known.size()))
                      : fmt::format("unknown key {}{}; did you mean {}?", prefix, key, nearest);
  return Error{ErrorCode::kBadInput, std::move(message), PointerTo(pointer, std::string(key))};
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

std::string SizeText(Bytes size) {
  constexpr std::pair<const char*, int64_t> kUnits[] = {
      {"TB", 1'000'000'000'000}, {"GB", 1'000'000'000}, {"MB", 1'000'000}};
  for (const auto& [unit, bytes] : kUnits) {
    if (size.count >= bytes && size.count % bytes == 0) {
      return fmt::format("{} {}", size.count / bytes, unit);
    }
  }
  return fmt::format("{} B", size.count);
}

Result<void> ReadSetting(const GivenSetting& given, std::string& into) {
  const bool is_text = IsOneOf(given.form.words, {"text", "path", "path, not empty", "HOST:PORT"});
  const bool is_given = given.value.is_string();
  if (is_text && !is_given && !given.value.is_null()) return given.Expected("a text");
  const std::string text = is_given ? given.value.get<std::string>() : "";
  Result<void> good = is_text ? CheckText(given, text) : CheckWord(given, text);
  if (good) into = text;
  return good;
}

Result<void> ReadSetting(const GivenSetting& given, bool& into) {
  if (!given.value.is_boolean()) return given.Refused("is neither true nor false");
  into = given.value.get<bool>();
  return {};
}

Result<void> ReadSetting(const GivenSetting& given, int64_t& into) {
  const auto low = static_cast<int64_t>(given.form.low);
  const auto high = static_cast<int64_t>(given.form.high);
  const bool is_huge = given.value.is_number_unsigned() && given.value.get<uint64_t>() > INT64_MAX;
  const bool is_whole = given.value.is_number_integer() && !is_huge;
  if (!is_whole || given.value.get<int64_t>() < low || given.value.get<int64_t>() > high) {
    return given.Expected(fmt::format("a whole number from {} to {}", low, high));
  }
  into = given.value.get<int64_t>();
  return {};
}

Result<void> ReadSetting(const GivenSetting& given, double& into) {
  const double number = given.value.is_number() ? given.value.get<double>() : std::nan("");
  if (!(number >= given.form.low && number <= given.form.high)) {
    return given.Expected(fmt::format("a number from {} to {}", given.form.low, given.form.high));
  }
  into = number;
  return {};
}

Result<void> ReadSetting(const GivenSetting& given, uint32_t& into) {
  const std::string digits =
      given.value.is_string() ? given.value.get<std::string>() : given.value.dump();
  uint32_t mode = 0;
  const char* end = digits.data() + digits.size();
  const auto [rest, status] = std::from_chars(digits.data(), end, mode, 8);
  if (status != std::errc() || rest != end || mode > 0777) {
    return given.Expected(R"(octal permissions such as "0660")");
  }
  into = mode;
  return {};
}

Result<void> ReadSetting(const GivenSetting& given, milliseconds& into) {
  const std::optional<double> seconds = ParseSeconds(given.value);
  if (!seconds || !std::isfinite(*seconds)) {
    return given.Expected("a duration such as 30s, 5m, 1h or 7d");
  }
  const double count = *seconds * 1000;
  if (count < given.form.low || count > given.form.high) {
    const milliseconds low(static_cast<int64_t>(given.form.low));
    const milliseconds high(static_cast<int64_t>(given.form.high));
    return given.Expected(
        fmt::format("a duration from {} to {}", DurationText(low), DurationText(high)));
  }
  into = milliseconds(std::llround(count));
  return {};
}

Result<void> ReadSetting(const GivenSetting& given, Bytes& into) {
  const Bytes low{static_cast<int64_t>(given.form.low)};
  const Bytes high{static_cast<int64_t>(given.form.high)};
  Result<Bytes> size = Bytes{-1};
  if (given.value.is_string()) size = ParseBytes(given.value.get_ref<const std::string&>());
  if (given.value.is_number_integer()) size = Bytes{given.value.get<int64_t>()};
  if (!size || *size < low || *size > high) {
    return given.Expected(
        fmt::format("a size from {} to {}, such as 1 GB", SizeText(low), SizeText(high)));
  }
  into = *size;
  return {};
}

Result<void> ReadSetting(const GivenSetting& given, std::vector<std::string>& into) {
  into.clear();
  if (given.value.is_null()) return {};
  for (const json& item : given.value.is_array() ? given.value : json{given.value}) {
    into.push_back(item.is_string() ? item.get<std::string>() : "");
    if (into.back().empty() || into.back().find_first_of("/ \t*@") != std::string::npos) {
      return given.Expected("host names without scheme and path, such as [gpu.example.org], or []");
    }
  }
  return {};
}

json ShowSetting(uint32_t file_mode) { return fmt::format("{:04o}", file_mode); }

json ShowSetting(milliseconds duration) { return DurationText(duration); }

json ShowSetting(Bytes size) { return SizeText(size); }

}  // namespace gpuadvise::daemon
