#include "common/base/text.h"

#include <charconv>

namespace gpuadvise {
namespace {

bool IsSameLetter(char a, char b) { return LowerCase(a) == LowerCase(b); }

}  // namespace

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = LowerCase(c);
  return lower;
}

bool EqualIgnoringCase(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), IsSameLetter);
}

bool ContainsIgnoringCase(std::string_view text, std::string_view part) {
  return part.empty() || std::search(text.begin(), text.end(), part.begin(), part.end(),
                                     IsSameLetter) != text.end();
}

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

std::vector<std::string_view> SplitAt(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
    if (text.empty()) parts.emplace_back();
  }
  return parts;
}

std::string Join(std::span<const std::string> parts, std::string_view separator) {
  std::string joined;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) joined += separator;
    joined += parts[i];
  }
  return joined;
}

std::string ReplaceAll(std::string text, std::string_view what, std::string_view by) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
  return text;
}

std::string OneLine(std::string_view text, size_t most_bytes) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  size_t end = std::min(text.size(), most_bytes);
  while (end < text.size() && end > 0 && (byte(end) & 0xc0) == 0x80) --end;
  std::string line;
  for (size_t i = 0; i < end; ++i) {
    const bool is_c1 = byte(i) == 0xc2 && i + 1 < end && byte(i + 1) >= 0x80 && byte(i + 1) < 0xa0;
    if (is_c1) ++i;
    line += is_c1 || byte(i) < 0x20 || byte(i) == 0x7f ? '?' : text[i];
  }
  if (end < text.size()) line += "…";
  return line;
}

std::optional<int64_t> WholeNumber(std::string_view text) {
  constexpr size_t kMostDigits = 18;
  if (text.empty() || text.size() > kMostDigits || !IsDigit(text.front())) return std::nullopt;
  int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, status] = std::from_chars(text.data(), end, value);
  return status == std::errc() && rest == end ? std::optional(value) : std::nullopt;
}

std::string_view TakeLine(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

}  // namespace gpuadvise
