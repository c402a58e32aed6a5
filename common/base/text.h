// Text utilities: split, join, compare, search. Any bytes; only ASCII letters have case. Pure and
// locale-free; safe from any thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpuadvise {

constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }
constexpr char LowerCase(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
std::string LowerCase(std::string_view text);

bool EqualIgnoringCase(std::string_view a, std::string_view b);

// Whether `text` contains `part`, ignoring case; always true for "".
bool ContainsIgnoringCase(std::string_view text, std::string_view part);

// Whether `word` is one of `words` (a range of texts).
template <typename Words>
bool IsOneOf(std::string_view word, const Words& words) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}
inline bool IsOneOf(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// A whole number of 0 or more in decimal digits alone, at most 18; nullopt: none.
std::optional<int64_t> WholeNumber(std::string_view text);

// Without blanks, tabs and carriage returns at either end.
std::string_view Trim(std::string_view text);

// Parts between separators, including empty ones; none for "".
std::vector<std::string_view> SplitAt(std::string_view text, char separator);

// The parts one after another, `separator` between two.
std::string Join(std::span<const std::string> parts, std::string_view separator);

// Replaces every `what` by `by`, in one pass. REQUIRES: `what` is not "".
std::string ReplaceAll(std::string text, std::string_view what, std::string_view by);

// `text` for one log line: control characters (C0, DEL, C1) become '?'; text beyond `most_bytes` is
// cut at a character boundary and marked with "…".
std::string OneLine(std::string_view text, size_t most_bytes);

// Removes the first line from `text` and returns it, without its end ("\n" or "\r\n").
std::string_view TakeLine(std::string_view& text);

}  // namespace gpuadvise
