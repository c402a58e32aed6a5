#include "common/base/date_time.h"

#include <cstdio>
#include <ctime>
#include <optional>

#include "common/base/text.h"
#include "common/base/unix_time.h"

namespace gpuadvise {
namespace {

struct TimeOfDay {
  int hour = 0;
  int minute = 0;
  int second = 0;
};

std::tm ToLocalTime(int64_t time) {
  const auto seconds = static_cast<std::time_t>(time);
  std::tm local{};
  ::localtime_r(&seconds, &local);
  return local;
}

int64_t TimeOn(std::tm day, TimeOfDay time) {
  day.tm_hour = time.hour;
  day.tm_min = time.minute;
  day.tm_sec = time.second;
  day.tm_isdst = -1;
  return ::mktime(&day);
}

std::optional<int64_t> ParseWholeNumber(const std::string& text) {
  if (text.empty() || text.size() > 12) return std::nullopt;
  if (text.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
  return std::stoll(text);
}

// "2hours", "30m", "1d", "90" (seconds, as Slurm).
std::optional<int64_t> ParseOffset(const std::string& text) {
  const size_t digits = text.find_first_not_of("0123456789");
  const auto count = ParseWholeNumber(text.substr(0, digits));
  if (!count) return std::nullopt;
  std::string unit = digits == std::string::npos ? "s" : text.substr(digits);
  while (unit.starts_with(' ')) unit.erase(0, 1);
  struct OffsetUnit {
    std::string_view name;
    int64_t seconds;
  };
  for (const OffsetUnit& known : {OffsetUnit{"seconds", 1},
                                  {"minutes", 60},
                                  {"hours", 3600},
                                  {"days", 86400},
                                  {"weeks", 604800}}) {
    if (known.name.starts_with(unit)) return *count * known.seconds;
  }
  return std::nullopt;
}

std::optional<TimeOfDay> FindNamedTime(const std::string& word) {
  if (word == "midnight") return TimeOfDay{};
  if (word == "noon") return TimeOfDay{12, 0, 0};
  if (word == "teatime") return TimeOfDay{16, 0, 0};
  return std::nullopt;
}

// "18:00", "18:00:30", "6:30pm".
std::optional<TimeOfDay> ParseTimeOfDay(std::string word) {
  if (auto named = FindNamedTime(word)) return named;
  int add = 0;
  const bool pm = word.ends_with("pm");
  const bool twelve_hours = pm || word.ends_with("am");
  if (twelve_hours) word.resize(word.size() - 2);
  TimeOfDay time;
  int used = 0;
  const int fields = std::sscanf(word.c_str(), "%2d:%2d%n:%2d%n", &time.hour, &time.minute, &used,
                                 &time.second, &used);
  if (fields < 2 || static_cast<size_t>(used) != word.size()) return std::nullopt;
  if (twelve_hours && (time.hour < 1 || time.hour > 12)) return std::nullopt;
  if (twelve_hours && time.hour == 12) add -= 12;
  if (pm) add += 12;
  time.hour += add;
  if (time.hour < 0 || time.hour > 23 || time.minute < 0 || time.minute > 59) return std::nullopt;
  if (time.second < 0 || time.second > 59) return std::nullopt;
  return time;
}

// "2026-11-27".
std::optional<std::tm> ParseDate(const std::string& word) {
  std::tm day{};
  int used = 0;
  const int fields =
      std::sscanf(word.c_str(), "%4d-%2d-%2d%n", &day.tm_year, &day.tm_mon, &day.tm_mday, &used);
  if (fields != 3 || static_cast<size_t>(used) != word.size()) return std::nullopt;
  const std::tm as_written = day;
  if (day.tm_year < 1970 || day.tm_mon < 1 || day.tm_mon > 12 || day.tm_mday < 1)
    return std::nullopt;
  day.tm_year -= 1900;
  day.tm_mon -= 1;
  day.tm_isdst = -1;
  if (::mktime(&day) == -1 || day.tm_mday != as_written.tm_mday)
    return std::nullopt;  // 31 February
  return day;
}

// "today", "tomorrow", "fri", "friday", a date.
std::optional<std::tm> ParseDay(const std::string& word, int64_t now) {
  constexpr std::string_view kDays[] = {"sunday",   "monday", "tuesday", "wednesday",
                                        "thursday", "friday", "saturday"};
  std::tm day = ToLocalTime(now);
  if (word == "today") return day;
  int ahead = word == "tomorrow" ? 1 : 0;
  for (int i = 0; i < 7 && ahead == 0; ++i) {
    if (word.size() >= 3 && kDays[i].starts_with(word)) ahead = (i - day.tm_wday + 7) % 7;
    if (word.size() >= 3 && kDays[i].starts_with(word) && ahead == 0) ahead = 7;
  }
  if (ahead == 0) return ParseDate(word);
  day.tm_mday += ahead;
  day.tm_isdst = -1;
  ::mktime(&day);
  return day;
}

// Start of the time in "friday 18:00" or "2026-11-27t18:00"; npos if there is none.
size_t FindEndOfDay(const std::string& text) {
  const size_t blank = text.find(' ');
  if (blank != std::string::npos) return blank;
  constexpr size_t kDateSize = 10;
  return text.size() > kDateSize && text[kDateSize] == 't' ? kDateSize : std::string::npos;
}

std::optional<int64_t> ReadDateTime(const std::string& text, int64_t now, DayMeans means) {
  if (text == "now") return now;
  for (const char* prefix : {"now+", "+"}) {
    if (!text.starts_with(prefix)) continue;
    const auto offset = ParseOffset(text.substr(std::string_view(prefix).size()));
    if (!offset) return std::nullopt;
    return now + *offset;
  }
  if (text.size() >= 9) {
    if (auto seconds = ParseWholeNumber(text)) return seconds;
  }
  if (auto time = ParseTimeOfDay(text)) {
    const int64_t today = TimeOn(ToLocalTime(now), *time);
    if (today >= now) return today;
    std::tm tomorrow = ToLocalTime(now);
    ++tomorrow.tm_mday;
    return TimeOn(tomorrow, *time);
  }
  const size_t blank = FindEndOfDay(text);
  const bool two_words = blank != std::string::npos;
  const auto day = ParseDay(two_words ? text.substr(0, blank) : text, now);
  if (!day) return std::nullopt;
  if (!two_words) {
    return TimeOn(*day, means == DayMeans::kItsStart ? TimeOfDay{} : TimeOfDay{23, 59, 59});
  }
  const auto time = ParseTimeOfDay(text.substr(blank + 1));
  if (!time) return std::nullopt;
  return TimeOn(*day, *time);
}

}  // namespace

Result<int64_t> ParseDateTime(std::string_view text, int64_t now, DayMeans day) {
  const std::string lower = LowerCase(text.substr(0, 64));
  if (const auto time = text.size() > 64 ? std::nullopt : ReadDateTime(lower, now, day))
    return *time;
  return BadInput("\"" + std::string(text.substr(0, 64)) +
                  "\" is not a time; write it like 18:00, fri, tomorrow 18:00, 2026-11-27T18:00 or "
                  "now+12hours");
}

namespace {

Result<int64_t> NotPast(std::string_view text) {
  return BadInput("\"" + std::string(text.substr(0, 64)) +
                  "\" is not a time in the past; write it like 7d, 12h, yesterday, fri, 18:00 or "
                  "2026-11-27T18:00");
}

bool IsAge(std::string_view text) {
  return !text.empty() && text.size() < 12 && IsDigit(text.front()) &&
         text.find_first_of(":-") == std::string_view::npos &&
         text.find_first_not_of("0123456789") != std::string_view::npos;
}

}  // namespace

Result<int64_t> ParsePastDateTime(std::string_view text, int64_t now) {
  if (text.find('+') != std::string_view::npos || text.starts_with("tomorrow"))
    return NotPast(text);
  if (text == "yesterday") {
    const Result<int64_t> today = ParseDateTime("today", now);
    return today ? ParseDateTime("today", *today - kDaySeconds / 2) : today;
  }
  if (IsAge(text)) {
    const Result<int64_t> ahead = ParseDateTime("+" + std::string(text), now);
    if (ahead && *ahead - now <= now) return now - (*ahead - now);
  }
  // Interpreted as of a day or a week ago, the same words mean the past time.
  for (const int64_t ago : {int64_t{0}, kDaySeconds, kWeekSeconds}) {
    const Result<int64_t> date_time = ParseDateTime(text, now - ago);
    if (!date_time) return NotPast(text);
    if (*date_time <= now) return date_time;
  }
  return NotPast(text);
}

}  // namespace gpuadvise
