#include "common/yaml/text_check.h"

#include <algorithm>
#include <cstdint>

namespace gpuadvise {
namespace {

struct Lead {
  int continuation_bytes;
  uint32_t bits;
  uint32_t minimum;  // smaller values have shorter forms
};

std::optional<Lead> LeadOf(unsigned char byte) {
  if (byte < 0x80) return Lead{0, byte, 0};
  if (byte >= 0xc2 && byte <= 0xdf) return Lead{1, byte & 0x1fu, 0x80};
  if (byte >= 0xe0 && byte <= 0xef) return Lead{2, byte & 0x0fu, 0x800};
  if (byte >= 0xf0 && byte <= 0xf4) return Lead{3, byte & 0x07u, 0x10000};
  return std::nullopt;
}

// Length of the character at the front of `text`; 0 if malformed.
size_t CharacterLength(std::string_view text) {
  const std::optional<Lead> lead = LeadOf(static_cast<unsigned char>(text[0]));
  if (!lead) return 0;
  const size_t length = 1 + static_cast<size_t>(lead->continuation_bytes);
  if (text.size() < length) return 0;
  uint32_t code = lead->bits;
  for (size_t i = 1; i < length; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xc0) != 0x80) return 0;
    code = (code << 6) | (byte & 0x3fu);
  }
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  return code < lead->minimum || code > 0x10ffff || surrogate ? 0 : length;
}

}  // namespace

std::optional<size_t> FirstInvalidUtf8(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    const size_t length = CharacterLength(text.substr(at));
    if (length == 0) return at;
    at += length;
  }
  return std::nullopt;
}

int LineAt(std::string_view text, size_t offset) {
  const std::string_view before = text.substr(0, offset);
  return 1 + static_cast<int>(std::count(before.begin(), before.end(), '\n'));
}

}  // namespace gpuadvise
