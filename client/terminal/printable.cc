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

// Hidden characters, in order. Sources: Default_Ignorable_Code_Point of Unicode 15.0
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

constexpr char32_t kNonJoiner = 0x200c;
constexpr char32_t kJoiner = 0x200d;
constexpr char32_t kTextSelector = 0xfe0e;
constexpr char32_t kEmojiSelector = 0xfe0f;
constexpr char32_t kKeycap = 0x20e3;
constexpr char32_t kBlackFlag = 0x1f3f4;

// Scripts whose letters change shape next to a joiner or non-joiner (Unicode 15.0, sections
// 9.2 and 12): Persian and Indic words are spelt with them. Blocks with their marks and digits.
constexpr std::array kJoiningScripts = std::to_array<Range>({
    {0x0620, 0x077f},    // Arabic, Syriac
    {0x07ca, 0x07f5},    // NKo
    {0x0840, 0x08ff},    // Mandaic, Syriac and Arabic extensions
    {0x0900, 0x0dff},    // Devanagari to Sinhala
    {0x1000, 0x109f},    // Myanmar
    {0x1780, 0x17b3},    // Khmer, except two invisible vowels
    {0x17b6, 0x17d3},    // Khmer
    {0x1820, 0x18aa},    // Mongolian
    {0x1b00, 0x1b4c},    // Balinese
    {0xa840, 0xa8ff},    // Phags-pa, Saurashtra, Devanagari extended
    {0xa980, 0xa9fe},    // Javanese, Myanmar extended
    {0x11000, 0x11dff},  // Brahmi to Gunjala Gondi
    {0x1e900, 0x1e943},  // Adlam
});

// Characters with variation selectors: Chinese ideographs.
constexpr std::array kIdeographs = std::to_array<Range>({
    {0x3400, 0x4dbf},
    {0x4e00, 0x9fff},
    {0xf900, 0xfaff},
    {0x20000, 0x3ffff},
});

// Pictographs, and older signs that also have an emoji form (emoji-data.txt).
constexpr std::array kEmoji = std::to_array<Range>({
    {0x00a9, 0x00a9},    // ©
    {0x00ae, 0x00ae},    // ®
    {0x203c, 0x203c},    // ‼
    {0x2049, 0x2049},    // ⁉
    {0x2122, 0x2122},    // ™
    {0x2139, 0x2139},    // ℹ
    {0x2190, 0x27ff},    // arrows to dingbats
    {0x2900, 0x2bff},    // further arrows and signs
    {0x3030, 0x3030},    // 〰
    {0x303d, 0x303d},    // 〽
    {0x3297, 0x3297},    // ㊗
    {0x3299, 0x3299},    // ㊙
    {0x1f000, 0x1faff},  // pictographs
});

// Tags after the black flag in the flags of England, Scotland and Wales, the only ones in Unicode
// with tags (emoji-sequences.txt). Other tags could carry invisible text.
constexpr std::string_view kFlagTags[] = {
    "\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
    "\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
    "\U000e0067\U000e0062\U000e0077\U000e006c\U000e0073\U000e007f",
};

template <size_t kCount>
constexpr bool IsInOrder(const std::array<Range, kCount>& ranges) {
  return std::is_sorted(ranges.begin(), ranges.end(),
                        [](Range a, Range b) { return a.last < b.first; });
}
static_assert(IsInOrder(kHidden) && IsInOrder(kJoiningScripts) && IsInOrder(kIdeographs) &&
              IsInOrder(kEmoji));

template <size_t kCount>
bool Contains(const std::array<Range, kCount>& ranges, char32_t code) {
  const auto* const at = std::lower_bound(ranges.begin(), ranges.end(), code,
                                          [](Range range, char32_t c) { return range.last < c; });
  return at != ranges.end() && code >= at->first;
}

bool IsHidden(char32_t code) {
  if (code >= 0x20 && code < 0x7f) return false;
  if (code == kNotText || (code & 0xfffe) == 0xfffe) return true;  // the last two of each plane
  return Contains(kHidden, code);
}

// Whether `code` may precede an enclosing keycap: "1" + selector + keycap.
bool IsKeycapBase(char32_t code) {
  return (code >= '0' && code <= '9') || code == '#' || code == '*';
}

// Number of bytes at the front of `text` that are hidden by themselves but belong to a visible
// sequence after `before`; 0: none.
size_t SequenceBytes(char32_t before, Character front, std::string_view text) {
  const std::string_view rest = text.substr(front.bytes);
  const char32_t after = rest.empty() ? 0 : FrontCharacter(rest).code;
  bool belongs = false;
  if (front.code == kJoiner || front.code == kNonJoiner) {
    belongs = Contains(kJoiningScripts, before) && Contains(kJoiningScripts, after);
    if (front.code == kJoiner && (Contains(kEmoji, before) || before == kEmojiSelector)) {
      belongs = Contains(kEmoji, after);
    }
  } else if (front.code == kEmojiSelector || front.code == kTextSelector) {
    belongs = Contains(kEmoji, before) || (IsKeycapBase(before) && after == kKeycap);
  } else if ((front.code >= 0xfe00 && front.code <= 0xfe02) ||
             (front.code >= 0xe0100 && front.code <= 0xe01ef)) {
    belongs = Contains(kIdeographs, before);
  } else if (before == kBlackFlag) {
    for (const std::string_view tags : kFlagTags) {
      if (text.starts_with(tags)) return tags.size();
    }
  }
  return belongs ? front.bytes : 0;
}

// Length of a sequence such as "\033[31m" at the front of `text`; 0: none.
size_t ColourBytes(std::string_view text) {
  if (!text.starts_with("\033[")) return 0;
  size_t at = 2;
  while (at < text.size() && at < 4 && text[at] >= '0' && text[at] <= '9') ++at;
  return at > 2 && at < text.size() && text[at] == 'm' ? at + 1 : 0;
}

// `text` with '?' for hidden characters; `kept` returns the bytes to keep at the front.
template <typename Kept>
std::string Cleaned(std::string_view text, const Kept& kept) {
  std::string out;
  out.reserve(text.size());
  char32_t before = 0;  // the last character in `out`
  while (!text.empty()) {
    const Character character = FrontCharacter(text);
    size_t bytes = character.bytes;
    if (!IsHidden(character.code)) {
      out += text.substr(0, bytes);
      before = character.code;
    } else if (const size_t sequence = SequenceBytes(before, character, text); sequence > 0) {
      bytes = sequence;
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

// Number of bytes after `lead` in a UTF-8 character.
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
