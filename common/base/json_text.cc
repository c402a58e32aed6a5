#include "common/base/json_text.h"

#include <algorithm>

namespace gpuadvise {

JsonSize MeasureJson(std::string_view text) {
  JsonSize size;
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      size.depth = std::max(size.depth, ++depth);
      ++size.values;
    } else if (c == ']' || c == '}') {
      --depth;
    } else if (c == ',') {
      ++size.values;
    }
  }
  return size;
}

const char* ToWord(ErrorCode code) {
  switch (code) {
    case ErrorCode::kBadInput:
      return "bad_input";
    case ErrorCode::kNotFound:
      return "not_found";
    case ErrorCode::kInfeasible:
      return "infeasible";
    case ErrorCode::kUnavailable:
    case ErrorCode::kStale:
      return "unavailable";
    case ErrorCode::kInternal:
      break;
  }
  return "internal";
}

}  // namespace gpuadvise
