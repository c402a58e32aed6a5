#include "common/base/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "common/base/text.h"
#include "common/base/unix_time.h"

namespace gpuadvise {
namespace {

size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({substituted, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

std::string LettersAndDigits(std::string_view text) {
  std::string kept;
  for (const char c : text) {
    if (IsDigit(c) || (c >= 'a' && c <= 'z')) kept += c;
  }
  return kept;
}

}  // namespace

std::string NearestName(std::string_view name, std::span<const std::string> candidates) {
  constexpr size_t kLongestCompared = 100;  // keeps hostile names cheap
  constexpr size_t kShortestPart = 3;
  if (name.size() > kLongestCompared) return {};
  const std::string lower = LowerCase(name);
  const std::string letters = LettersAndDigits(lower);
  std::string best;
  size_t best_distance = SIZE_MAX;
  std::string whole;  // the shortest one that contains `name`
  for (const std::string& candidate : candidates) {
    if (candidate.size() > kLongestCompared) continue;
    const std::string other = LowerCase(candidate);
    size_t distance = EditDistance(lower, other);
    size_t allowed = std::max<size_t>(2, std::max(name.size(), candidate.size()) / 3);
    if (distance <= allowed && distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
    const bool is_part = LettersAndDigits(other).find(letters) != std::string::npos;
    if (is_part && (whole.empty() || candidate.size() < whole.size())) whole = candidate;
  }
  return best.empty() && letters.size() >= kShortestPart ? whole : best;
}

std::string DidYouMean(std::string_view name, std::span<const std::string> candidates) {
  std::string nearest = NearestName(name, candidates);
  return nearest.empty() ? "" : fmt::format(" (did you mean '{}'?)", nearest);
}

std::string JoinNames(std::span<const std::string> names, size_t limit) {
  std::string joined;
  size_t shown = names.size() > limit ? limit : names.size();
  for (size_t i = 0; i < shown; ++i) {
    if (i > 0) joined += i + 1 == names.size() ? " and " : ", ";
    joined += names[i];
  }
  if (shown < names.size()) joined += fmt::format(" and {} more", names.size() - shown);
  return joined;
}

std::string DurationInWords(double seconds) {
  auto whole = static_cast<int64_t>(std::llround(std::clamp(seconds, 0.0, 1e12)));
  if (whole < kMinuteSeconds) return fmt::format("{} s", whole);
  int64_t minutes = (whole + kMinuteSeconds / 2) / kMinuteSeconds;
  if (minutes < 60) return fmt::format("{} m", minutes);
  if (whole < 2 * kDaySeconds) {
    return minutes % 60 == 0 ? fmt::format("{} h", minutes / 60)
                             : fmt::format("{} h {:02}", minutes / 60, minutes % 60);
  }
  int64_t hours = (whole + kHourSeconds / 2) / kHourSeconds;
  return hours % 24 == 0 ? fmt::format("{} d", hours / 24)
                         : fmt::format("{} d {} h", hours / 24, hours % 24);
}

std::string WaitInWords(double seconds) { return seconds < 30 ? "now" : DurationInWords(seconds); }

std::string OthersDelayInWords(double jobs, double seconds) {
  const auto count = std::max<int64_t>(std::llround(jobs), 1);
  return fmt::format("delays {} of others by {}{}", Plural(count, "job"), DurationInWords(seconds),
                     count == 1 ? "" : " together");
}

std::string Shortened(std::string_view text, size_t most) {
  if (text.size() <= most) return std::string(text);
  const auto continues = [&](size_t at) {
    return (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80;
  };
  while (most > 0 && continues(most)) --most;
  return std::string(text.substr(0, most)) + "…";
}

std::string Quoted(std::string_view text) {
  return fmt::format("'{}'", Shortened(text, kMaxQuotedBytes));
}

std::string Grouped(int64_t number) {
  std::string digits = std::to_string(number);
  const size_t first = number < 0 ? 1 : 0;
  for (size_t at = digits.size(); at > first + 3;) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

std::string Plural(int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace gpuadvise
