// JSON text exchanged by daemon and client: its size before parsing, and error codes. Pure.
#pragma once

#include <cstddef>
#include <string_view>

#include "common/base/error.h"

namespace gpuadvise {

struct JsonSize {
  int depth = 0;      // deepest nesting
  size_t values = 1;  // or a few more
};

// For any `text`, JSON or not; cheap, allocates nothing.
JsonSize MeasureJson(std::string_view text);

// The `code` of an error in an answer, as listed in docs/api.md.
const char* ToWord(ErrorCode code);

}  // namespace gpuadvise
