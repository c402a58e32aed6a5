#include "client/terminal/display.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "client/terminal/printable.h"
#include "common/base/words.h"

namespace gpuadvise::client {
namespace {

// Removes joiners and non-joiners at the end, where they join nothing.
std::string WithoutLooseJoiners(std::string text) {
  while (text.ends_with("\u200c") || text.ends_with("\u200d")) text.resize(text.size() - 3);
  return text;
}

// 2 for East Asian wide blocks and emoji; 0 for combining marks, joiners, selectors and tags.
int CharacterWidth(char32_t code) {
  if ((code >= 0x300 && code <= 0x36f) || (code >= 0x20d0 && code <= 0x20ff)) return 0;
  if (code == 0x200c || code == 0x200d || (code >= 0xfe00 && code <= 0xfe0f)) return 0;
  if (code >= 0xe0000 && code <= 0xe0fff) return 0;
  const bool wide = (code >= 0x1100 && code <= 0x115f) || (code >= 0x2e80 && code <= 0xa4cf) ||
                    (code >= 0xac00 && code <= 0xd7a3) || (code >= 0xf900 && code <= 0xfaff) ||
                    (code >= 0xfe30 && code <= 0xfe6f) || (code >= 0xff00 && code <= 0xff60) ||
                    (code >= 0xffe0 && code <= 0xffe6) || (code >= 0x1f300 && code <= 0x1faff) ||
                    (code >= 0x20000 && code <= 0x3fffd);
  return wide ? 2 : 1;
}

// Length in bytes of the longest prefix of `text` that fits `width`.
size_t BytesThatFit(std::string_view text, int width) {
  size_t at = 0;
  int used = 0;
  while (at < text.size()) {
    const Character character = FrontCharacter(text.substr(at));
    used += CharacterWidth(character.code);
    if (used > width) break;
    at += character.bytes;
  }
  return at;
}

std::tm LocalTime(int64_t time) {
  const auto seconds = static_cast<std::time_t>(time);
  std::tm local{};
  ::localtime_r(&seconds, &local);
  return local;
}

// Days since the epoch of the local calendar day.
int64_t LocalDay(const std::tm& local) {
  std::tm noon{};
  noon.tm_year = local.tm_year;
  noon.tm_mon = local.tm_mon;
  noon.tm_mday = local.tm_mday;
  return ::timegm(&noon) / 86400;
}

std::string DayWord(const std::tm& local, const std::tm& now) {
  constexpr const char* kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const int64_t days = LocalDay(local) - LocalDay(now);
  if (days == 0) return "today";
  if (days == 1) return "tomorrow";
  if (days > 1 && days < 7) return kDays[local.tm_wday];
  std::string day = fmt::format("{} {}", local.tm_mday, kMonths[local.tm_mon]);
  if (local.tm_year != now.tm_year) day += fmt::format(" {}", 1900 + local.tm_year);
  return day;
}

std::string HourAndMinute(const std::tm& local) {
  return fmt::format("{:02}:{:02}", local.tm_hour, local.tm_min);
}

}  // namespace

int DisplayWidth(std::string_view text) {
  int width = 0;
  while (!text.empty()) {
    const Character character = FrontCharacter(text);
    width += CharacterWidth(character.code);
    text.remove_prefix(character.bytes);
  }
  return width;
}

std::string Clipped(std::string_view text, int width) {
  if (DisplayWidth(text) <= width) return std::string(text);
  if (width < 1) return {};
  std::string cut = WithoutLooseJoiners(std::string(text.substr(0, BytesThatFit(text, width - 1))));
  while (!cut.empty() && cut.back() == ' ') cut.pop_back();
  return cut + "…";
}

std::vector<std::string> Wrapped(std::string_view text, int width) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    size_t fits = BytesThatFit(text, width);
    if (fits == text.size()) break;
    if (fits == 0) fits = FrontCharacter(text).bytes;
    const size_t blank = text.rfind(' ', fits);
    const bool at_blank = blank != std::string_view::npos && blank > 0;
    lines.emplace_back(text.substr(0, at_blank ? blank : fits));
    text.remove_prefix(at_blank ? blank + 1 : fits);
  }
  if (!text.empty() || lines.empty()) lines.emplace_back(text);
  return lines;
}

std::string Indented(const std::string& text, int indent, int width) {
  constexpr int kTextWidth = 110;  // prose wider than this is hard to read
  std::string out;
  const int wide = std::min(width, kTextWidth);
  for (const std::string& line : Wrapped(text, std::max(20, wide - indent))) {
    out += Clipped(std::string(static_cast<size_t>(indent), ' ') + line, width) + "\n";
  }
  return out;
}

std::string InAscii(std::string_view text) {
  static constexpr std::pair<std::string_view, std::string_view> kPlain[] = {
      {"·", "|"}, {"–", "-"},  {"—", "-"},  {"×", "x"}, {"½", "1/2"}, {"→", "->"},
      {"…", "~"}, {"≤", "<="}, {"≥", ">="}, {"✔", "*"}, {"±", "+-"},  {"’", "'"}};
  std::string out;
  while (!text.empty()) {
    const Character character = FrontCharacter(text);
    const std::string_view bytes = text.substr(0, character.bytes);
    const auto* const known = std::find_if(std::begin(kPlain), std::end(kPlain),
                                           [&](const auto& each) { return each.first == bytes; });
    if (character.code < 0x80) {
      out += bytes;
    } else if (known == std::end(kPlain)) {
      out.append(static_cast<size_t>(DisplayWidth(bytes)), '?');
    } else {
      const size_t more = known->second.size() - 1;
      if (more > 0 && out.ends_with(std::string(more + 1, ' '))) out.resize(out.size() - more);
      out += known->second;
    }
    text.remove_prefix(character.bytes);
  }
  return out;
}

std::string ClockTime(int64_t time, int64_t now) {
  const std::tm local = LocalTime(time);
  return DayWord(local, LocalTime(now)) + " " + HourAndMinute(local);
}

std::string ClockRange(int64_t likely, int64_t late, int64_t now) {
  const std::string first = ClockTime(likely, now);
  const std::string second = ClockTime(late, now);
  if (first == second) return first;
  const std::tm late_local = LocalTime(late);
  const bool same_day = LocalDay(LocalTime(likely)) == LocalDay(late_local);
  return first + " (" + (same_day ? HourAndMinute(late_local) : second) + ")";
}

namespace {

std::string RangeOf(const std::string& likely, const std::string& late) {
  return likely == late ? likely : likely + " (" + late + ")";
}

}  // namespace

std::string DurationRange(double likely_seconds, double late_seconds) {
  return RangeOf(DurationInWords(likely_seconds), DurationInWords(late_seconds));
}

std::string WaitRange(double likely_seconds, double late_seconds) {
  return RangeOf(WaitInWords(likely_seconds), WaitInWords(late_seconds));
}

std::string StartInWords(double likely_seconds, double late_seconds) {
  constexpr double kNow = 30;  // seconds
  if (late_seconds < kNow) return "starts now";
  if (likely_seconds < kNow) return "starts now (p90 in " + DurationInWords(late_seconds) + ")";
  return "starts in " + DurationRange(likely_seconds, late_seconds);
}

std::string AssumedLine(const std::string& assumed) {
  const bool says_so = assumed.starts_with("not included: ");
  return says_so ? "N" + assumed.substr(1) : "Assumed: " + assumed;
}

}  // namespace gpuadvise::client
