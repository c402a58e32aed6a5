#include "daemon/local_time.h"

#include <ctime>

namespace gpuadvise {
namespace {

std::tm WallClockAt(UnixSeconds time) {
  const std::time_t seconds = time;
  std::tm wall{};
  localtime_r(&seconds, &wall);
  return wall;
}

}  // namespace

LocalMoment LocalMomentOf(UnixSeconds time) {
  const std::tm wall = WallClockAt(time);
  LocalMoment moment;
  moment.weekday = (wall.tm_wday + 6) % 7;
  moment.hour = wall.tm_hour;
  moment.utc_offset_seconds = wall.tm_gmtoff;
  moment.zone = wall.tm_zone == nullptr ? "" : wall.tm_zone;
  const int64_t into_week =
      ((moment.weekday * 24 + moment.hour) * 60 + wall.tm_min) * int64_t{60} + wall.tm_sec;
  // As long ago as the wall clock says, but for a change of daylight saving since.
  const UnixSeconds monday = time - into_week;
  moment.week_start = monday + wall.tm_gmtoff - WallClockAt(monday).tm_gmtoff;
  return moment;
}

}  // namespace gpuadvise
