// Checks that bytes are valid text: UTF-8 without NUL.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace gpuadvise {

// Offset of the first byte outside well-formed UTF-8 (RFC 3629: no overlong forms, no surrogates,
// nothing above U+10FFFF); nullopt if valid.
std::optional<size_t> FirstInvalidUtf8(std::string_view text);

// The line of byte `offset`, counted from 1.
int LineAt(std::string_view text, size_t offset);

}  // namespace gpuadvise
