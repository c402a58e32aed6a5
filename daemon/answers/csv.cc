#include "daemon/answers/csv.h"

#include <algorithm>
#include <array>

namespace gpuadvise::daemon {
namespace {

// What spreadsheets begin a formula with: also the wide forms, and what some older ones take.
constexpr std::array<std::string_view, 10> kFormula = {"=", "+",      "-",      "@",      "|",
                                                       "%", "\uFF1D", "\uFF0B", "\uFF0D", "\uFF20"};

// Blanks beyond ASCII, which may stand before one.
constexpr std::array<std::string_view, 18> kBlanks = {
    "\u00A0", "\u1680", "\u2000", "\u2001", "\u2002", "\u2003", "\u2004", "\u2005", "\u2006",
    "\u2007", "\u2008", "\u2009", "\u200A", "\u202F", "\u205F", "\u3000", "\uFEFF", "\u0085"};

constexpr std::array<std::string_view, 2> kLineEnds = {"\u2028", "\u2029"};

template <size_t N>
size_t BytesOfOneOf(const std::array<std::string_view, N>& signs, std::string_view text) {
  const auto found = std::find_if(signs.begin(), signs.end(),
                                  [&](std::string_view sign) { return text.starts_with(sign); });
  return found == signs.end() ? 0 : found->size();
}

bool IsControl(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

bool IsFormula(std::string_view line) {
  while (!line.empty()) {
    const size_t blank = line.front() == ' ' ? 1 : BytesOfOneOf(kBlanks, line);
    if (blank == 0) return BytesOfOneOf(kFormula, line) > 0;
    line.remove_prefix(blank);
  }
  return false;
}

// `text` with each run of what would end a line, or is no text, as one blank.
std::string OnOneLine(std::string_view text) {
  std::string line;
  bool blank = false;
  while (!text.empty()) {
    const size_t gone = IsControl(text.front()) ? 1 : BytesOfOneOf(kLineEnds, text);
    if (gone == 0) line += text.front();
    if (gone > 0 && !blank) line += ' ';
    blank = gone > 0;
    text.remove_prefix(std::max<size_t>(gone, 1));
  }
  return line;
}

}  // namespace

void CsvText::Begin() {
  if (in_line_) text_ += ',';
  in_line_ = true;
}

void CsvText::Add(std::string_view text) {
  Begin();
  const std::string line = OnOneLine(text);
  text_ += '"';
  if (IsFormula(line)) text_ += '\'';
  for (const char c : line) text_.append(c == '"' ? 2 : 1, c);
  text_ += '"';
}

void CsvText::Add(int64_t number) {
  Begin();
  text_ += std::to_string(number);
}

void CsvText::EndLine() {
  text_ += "\r\n";
  in_line_ = false;
}

}  // namespace gpuadvise::daemon
