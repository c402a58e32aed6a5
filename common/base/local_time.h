// Local hours and weeks. `common/` knows no time zone; the caller provides the conversion.
#pragma once

#include <functional>
#include <string>

#include "common/base/unix_time.h"

namespace gpuadvise {

struct LocalDateTime {
  int weekday = 0;             // 0 is Monday
  int hour = 0;                // 0 to 23
  UnixSeconds week_start = 0;  // Monday, 0:00
  int64_t utc_offset_seconds = 0;
  std::string zone;  // "CET"
};

using LocalTime = std::function<LocalDateTime(UnixSeconds)>;

}  // namespace gpuadvise
