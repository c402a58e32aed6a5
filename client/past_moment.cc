#include "client/past_moment.h"

#include <string>

#include "common/moment.h"

namespace gpuadvise {
namespace {

constexpr int64_t kDay = 86400;
constexpr int64_t kWeek = 7 * kDay;

Result<int64_t> NotPast(std::string_view text) {
  return BadInput("\"" + std::string(text.substr(0, 64)) +
                  "\" is no time in the past; write it like 7d, 12h, yesterday, fri, 18:00 or "
                  "2026-11-27T18:00");
}

bool IsAge(std::string_view text) {
  return !text.empty() && text.size() < 12 && text.front() >= '0' && text.front() <= '9' &&
         text.find_first_of(":-") == std::string_view::npos &&
         text.find_first_not_of("0123456789") != std::string_view::npos;
}

}  // namespace

Result<int64_t> ParsePastMoment(std::string_view text, int64_t now) {
  if (text.find('+') != std::string_view::npos || text.starts_with("tomorrow"))
    return NotPast(text);
  if (text == "yesterday") {
    const Result<int64_t> today = ParseMoment("today", now);
    return today ? ParseMoment("today", *today - kDay / 2) : today;
  }
  if (IsAge(text)) {
    const Result<int64_t> ahead = ParseMoment("+" + std::string(text), now);
    if (ahead && *ahead - now <= now) return now - (*ahead - now);
  }
  // The same words, seen from a day or a week ago, mean the one that has passed.
  for (const int64_t ago : {int64_t{0}, kDay, kWeek}) {
    const Result<int64_t> moment = ParseMoment(text, now - ago);
    if (!moment) return NotPast(text);
    if (*moment <= now) return moment;
  }
  return NotPast(text);
}

}  // namespace gpuadvise
