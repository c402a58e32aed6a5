// Unix seconds, durations, and the time that never comes. Values.
#pragma once

#include <cstdint>

namespace gpuadvise {

using UnixSeconds = int64_t;

inline constexpr int64_t kMinuteSeconds = 60;
inline constexpr int64_t kHourSeconds = 60 * kMinuteSeconds;
inline constexpr int64_t kDaySeconds = 24 * kHourSeconds;
inline constexpr int64_t kWeekSeconds = 7 * kDaySeconds;

// Later than any time; small enough that times can be added without overflow.
inline constexpr int64_t kNever = int64_t{1} << 40;

}  // namespace gpuadvise
