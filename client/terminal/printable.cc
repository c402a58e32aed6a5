#include "client/terminal/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace gpuadvise::client {
namespace {

struct Range {
  char32_t first;
  char32_t last;
};

// What is not shown, in order. Sources: Default_Ignorable_Code_Point of Unicode 15.0
// (DerivedCoreProperties.txt, "Derived Property: Default_Ignorable_Code_Point"), general categories
// Cc, Zl and Zp (UnicodeData.txt), Bidi_Control (PropList.txt; all but U+061C lie in the ranges of
// the first), and the format controls (Cf) that have no glyph of their own: interlinear annotation,
// Egyptian joiners, shorthand and musical ones. U+2800 is a letter without ink.
constexpr std::array kHidden = std::to_array<Range>({
    {0x0000, 0x001f},    // C0
    {0x007f, 0x009f},    // DEL, C1
    {0x00ad, 0x00ad},    // soft hyphen
    {0x034f, 0x034f},    // combining grapheme joiner
    {0x061c, 0x061c},    // Arabic letter mark
    {0x115f, 0x1160},    // Hangul fillers
    {0x17b4, 0x17b5},    // Khmer inherent vowels
    {0x180b, 0x180f},    // Mongolian selectors and vowel separator
    {0x200b, 0x200f},    // zero-width space and joiners, directional marks
    {0x2028, 0x202e},    // line and paragraph separators, embeddings and overrides
    {0x2060, 0x206f},    // word joiner, invisible operators, isolates
    {0x2800, 0x2800},    // blank braille pattern
    {0x3164, 0x3164},    // Hangul filler
    {0xfdd0, 0xfdef},    // noncharacters
    {0xfe00, 0xfe0f},    // variation selectors
    {0xfeff, 0xfeff},    // byte order mark
    {0xffa0, 0xffa0},    // halfwidth Hangul filler
    {0xfff0, 0xfffb},    // unassigned, interlinear annotation
    {0x13430, 0x1343f},  // Egyptian format controls
    {0x1bca0, 0x1bca3},  // shorthand format controls
    {0x1d173, 0x1d17a},  // musical format controls
    {0xe0000, 0xe0fff},  // tags, further variation selectors
});
static_assert(std::is_sorted(kHidden.begin(), kHidden.end(),
                             [](Range a, Range b) { return a.last < b.first; }));

constexpr char32_t kJoiner = 0x200d;
constexpr char32_t kEmojiSelector = 0xfe0f;

bool IsHidden(char32_t code) {
  if (code >= 0x20 && code < 0x7f) return false;
  if (code == kNotText || (code & 0xfffe) == 0xfffe) return true;  // the last two of each plane
  const auto* const at = std::lower_bound(kHidden.begin(), kHidden.end(), code,
                                          [](Range range, char32_t c) { return range.last < c; });
  return at != kHidden.end() && code >= at->first;
}

// Pictographs, and signs of the older blocks that are also drawn as such.
bool IsEmoji(char32_t code) {
  return (code >= 0x1f000 && code <= 0x1faff) || (code >= 0x2190 && code <= 0x27ff) ||
         (code >= 0x2900 && code <= 0x2bff);
}

// Whether a hidden `code` is part of an emoji: "❤" + selector, "👩" + joiner + "💻".
bool JoinsEmoji(char32_t before, char32_t code, std::string_view after) {
  if (code == kEmojiSelector) return IsEmoji(before);
  if (code != kJoiner || after.empty()) return false;
  return (IsEmoji(before) || before == kEmojiSelector) && IsEmoji(FrontCharacter(after).code);
}

// The bytes of a sequence like "\033[31m" at the front of `text`, 0 where there is none.
size_t ColourBytes(std::string_view text) {
  if (!text.starts_with("\033[")) return 0;
  size_t at = 2;
  while (at < text.size() && at < 4 && text[at] >= '0' && text[at] <= '9') ++at;
  return at > 2 && at < text.size() && text[at] == 'm' ? at + 1 : 0;
}

// `text` with '?' for what is hidden, but for what `kept` says: the bytes to keep at its front.
template <typename Kept>
std::string Cleaned(std::string_view text, const Kept& kept) {
  std::string out;
  out.reserve(text.size());
  char32_t before = 0;  // what stands in `out`
  while (!text.empty()) {
    const Character character = FrontCharacter(text);
    size_t bytes = character.bytes;
    if (!IsHidden(character.code) ||
        JoinsEmoji(before, character.code, text.substr(character.bytes))) {
      out += text.substr(0, bytes);
      before = character.code;
    } else if (const size_t as_is = kept(text); as_is > 0) {
      bytes = as_is;
      out += text.substr(0, bytes);
      before = 0;
    } else {
      out += '?';
      before = U'?';
    }
    text.remove_prefix(bytes);
  }
  return out;
}

size_t LineBytes(std::string_view text) { return text[0] == '\n' || text[0] == '\t' ? 1 : 0; }

// The bytes after `lead` of a character of UTF-8.
size_t ContinuationBytes(unsigned char lead) {
  if (lead >= 0xc2 && lead <= 0xdf) return 1;
  if (lead >= 0xe0 && lead <= 0xef) return 2;
  if (lead >= 0xf0 && lead <= 0xf4) return 3;
  return 0;
}

}  // namespace

Character FrontCharacter(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return {lead, 1};
  const size_t more = ContinuationBytes(lead);
  if (more == 0 || text.size() <= more) return {};
  char32_t code = lead & (0x3fu >> more);
  for (size_t i = 1; i <= more; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xc0) != 0x80) return {};
    code = (code << 6) | (byte & 0x3fu);
  }
  constexpr char32_t kMinimum[] = {0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  if (code < kMinimum[more] || surrogate || code > 0x10ffff) return {};
  return {code, more + 1};
}

std::string Printable(std::string_view text) {
  return Cleaned(text, [](std::string_view) { return size_t{0}; });
}

std::string PrintableLines(std::string_view text) { return Cleaned(text, LineBytes); }

std::string PrintableOutput(std::string_view text, bool colour) {
  return Cleaned(text, [colour](std::string_view rest) {
    if (rest.starts_with("\r\n")) return size_t{2};
    const size_t line = LineBytes(rest);
    return line == 0 && colour ? ColourBytes(rest) : line;
  });
}

std::string Shortened(std::string_view text, size_t most_bytes) {
  if (text.size() <= most_bytes) return std::string(text);
  size_t end = most_bytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return std::string(text.substr(0, end)) + "…";
}

std::string PrintableJson(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  while (!json.empty()) {
    const Character character = FrontCharacter(json);
    const char32_t code = character.code;
    if (json[0] == '\n' || !IsHidden(code)) {
      out += json.substr(0, character.bytes);
    } else if (code > 0xffff && code != kNotText) {
      const char32_t rest = code - 0x10000;
      out += fmt::format("\\u{:04x}\\u{:04x}", 0xd800 + static_cast<unsigned>(rest >> 10),
                         0xdc00 + static_cast<unsigned>(rest & 0x3ff));
    } else {
      out += fmt::format("\\u{:04x}", code == kNotText ? 0xfffdu : static_cast<unsigned>(code));
    }
    json.remove_prefix(character.bytes);
  }
  return out;
}

}  // namespace gpuadvise::client
