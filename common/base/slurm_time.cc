#include "common/base/slurm_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>
#include <chrono>
#include <vector>

#include "common/base/text.h"
#include "common/base/unix_time.h"

namespace gpuadvise {
namespace {

template <size_t N>
bool IsOneOfIgnoringCase(std::string_view text, const std::array<std::string_view, N>& words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return EqualIgnoringCase(text, word); });
}

constexpr std::array<std::string_view, 7> kAbsentWords = {
    "", "NOT_SET", "INVALID", "Partition_Limit", "N/A", "NONE", "(null)"};
constexpr std::array<std::string_view, 3> kInfiniteWords = {"UNLIMITED", "INFINITE", "-1"};
constexpr std::array<std::string_view, 5> kNoTime = {"", "Unknown", "N/A", "None", "(null)"};

// All of `text` as 1..9 digits.
std::optional<int64_t> ParseDigits(std::string_view text, size_t max_digits = 9) {
  const bool digits = std::all_of(text.begin(), text.end(), IsDigit);
  if (text.empty() || text.size() > max_digits || !digits) return std::nullopt;
  int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// "10:00:00" as {10, 0, 0}; nullopt unless it is one to three numbers.
std::optional<std::vector<int64_t>> ParseColonFields(std::string_view text) {
  std::vector<int64_t> fields;
  while (true) {
    const size_t colon = std::min(text.find(':'), text.size());
    const auto value = ParseDigits(text.substr(0, colon));
    if (!value || fields.size() == 3) return std::nullopt;
    fields.push_back(*value);
    if (colon == text.size()) return fields;
    text.remove_prefix(colon + 1);
  }
}

// What each number after the days means depends on whether there are days.
int64_t FieldSeconds(const std::vector<int64_t>& fields, bool after_days) {
  static constexpr std::array kAfterDays = {kHourSeconds, kMinuteSeconds, int64_t{1}};
  int64_t seconds = 0;
  // Alone, the last of three is seconds (HH:MM:SS), of two too (MM:SS), and one is minutes.
  const size_t first = after_days || fields.size() == 3 ? 0 : 1;
  for (size_t i = 0; i < fields.size(); ++i) seconds += fields[i] * kAfterDays[first + i];
  return seconds;
}

std::optional<int64_t> DurationSeconds(std::string_view text) {
  const size_t dash = text.find('-');
  const bool has_days = dash != std::string_view::npos;
  const auto days = has_days ? ParseDigits(text.substr(0, dash)) : 0;
  const auto fields = ParseColonFields(has_days ? text.substr(dash + 1) : text);
  if (!days || !fields) return std::nullopt;
  return *days * kDaySeconds + FieldSeconds(*fields, has_days);
}

// "2026-11-20T10:00:00" or with a blank for the T, as if in UTC.
std::optional<UnixSeconds> ReadDateTimeInUtc(std::string_view text) {
  if (text.size() != 19 || text[4] != '-' || text[7] != '-' || text[13] != ':' || text[16] != ':') {
    return std::nullopt;
  }
  if (text[10] != 'T' && text[10] != ' ') return std::nullopt;
  const auto year = ParseDigits(text.substr(0, 4)), month = ParseDigits(text.substr(5, 2)),
             day = ParseDigits(text.substr(8, 2)), hour = ParseDigits(text.substr(11, 2)),
             minute = ParseDigits(text.substr(14, 2)), second = ParseDigits(text.substr(17, 2));
  if (!year || !month || !day || !hour || !minute || !second) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(*year)),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok() || *hour > 23 || *minute > 59 || *second > 60) return std::nullopt;
  const int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  return days * kDaySeconds + *hour * kHourSeconds + *minute * kMinuteSeconds + *second;
}

}  // namespace

Result<SlurmNumber> ParseSlurmDuration(std::string_view text) {
  if (IsOneOfIgnoringCase(text, kAbsentWords)) return SlurmNumber::Absent();
  if (IsOneOfIgnoringCase(text, kInfiniteWords)) return SlurmNumber::Infinite();
  if (const auto seconds = DurationSeconds(text)) return SlurmNumber(*seconds);
  return BadInput(
      fmt::format("\"{}\" is not a Slurm time; write minutes (90), HH:MM:SS (12:00:00), D-HH "
                  "(2-12), D-HH:MM:SS or UNLIMITED.",
                  text.substr(0, 40)));
}

Result<SlurmNumber> ParseTimeLimit(std::string_view text) {
  Result<SlurmNumber> limit = ParseSlurmDuration(text);
  if (limit && limit->has_value() && limit->value() == 0) return SlurmNumber::Infinite();
  return limit;
}

std::string FormatDuration(int64_t seconds) {
  assert(seconds >= 0);
  const std::string clock =
      fmt::format("{:02}:{:02}:{:02}", seconds % kDaySeconds / kHourSeconds,
                  seconds % kHourSeconds / kMinuteSeconds, seconds % kMinuteSeconds);
  return seconds < kDaySeconds ? clock : fmt::format("{}-{}", seconds / kDaySeconds, clock);
}

Result<std::optional<UnixSeconds>> ParseTimestamp(std::string_view text) {
  if (IsOneOfIgnoringCase(text, kNoTime)) return std::optional<UnixSeconds>();
  if (const auto unix_seconds = ParseDigits(text, 12))
    return std::optional<UnixSeconds>(*unix_seconds);
  if (const auto date_time = ReadDateTimeInUtc(text)) return date_time;
  return BadInput(fmt::format(
      "The time \"{}\" is not a moment of Slurm's; it must look like 2026-11-20T10:00:00.",
      text.substr(0, 40)));
}

std::string FormatTimestamp(UnixSeconds time) {
  const std::chrono::sys_seconds moment{std::chrono::seconds(time)};
  const auto day = std::chrono::floor<std::chrono::days>(moment);
  const std::chrono::year_month_day date(day);
  const int64_t seconds = (moment - day).count();
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     seconds / kHourSeconds, seconds % kHourSeconds / kMinuteSeconds,
                     seconds % kMinuteSeconds);
}

}  // namespace gpuadvise
