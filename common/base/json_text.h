// JSON as text, as daemon and client send it to each other: how large it is before it is parsed,
// and the words of its errors. Pure.
#pragma once

#include <cstddef>
#include <string_view>

#include "common/base/error.h"

namespace gpuadvise {

struct JsonSize {
  int depth = 0;      // deepest nesting
  size_t values = 1;  // or a few more
};

// Of `text`, JSON or not; cheap, and before anything is built.
JsonSize SizeOfJson(std::string_view text);

// The `code` of an error in an answer, as docs/api.md lists them.
const char* ToWord(ErrorCode code);

}  // namespace gpuadvise
