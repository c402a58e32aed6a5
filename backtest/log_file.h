// The whole text of a file, unpacked where its name ends in .gz. Blocking.
#pragma once

#include <string>

#include "common/error.h"

namespace gpuadvise {

/// What could be read of a file.
struct LogText {
  std::string text;
  std::string cut_off;  // why the end is missing; "" when it is whole
};

/// Errors: kNotFound, or kBadInput when nothing at all can be unpacked. A .gz that is cut off gives
/// what is there.
Result<LogText> ReadLogFile(const std::string& path);

}  // namespace gpuadvise
