#include "common/history/stalled_time.h"

#include <algorithm>

namespace gpuadvise {

void StalledTime::Ran(UnixSeconds eligible, UnixSeconds start, UnixSeconds end) {
  if (eligible < start) {
    steps_.push_back({eligible, 1, 0});
    steps_.push_back({start, -1, 0});
  }
  if (start < end) {
    steps_.push_back({start, 0, 1});
    steps_.push_back({end, 0, -1});
  }
}

void StalledTime::Waits(UnixSeconds eligible) { steps_.push_back({eligible, 1, 0}); }

int64_t StalledTime::SecondsBetween(UnixSeconds from, UnixSeconds until) && {
  std::sort(steps_.begin(), steps_.end(), [](const Step& a, const Step& b) { return a.at < b.at; });
  int64_t seconds = 0;
  int64_t waiting = 0, running = 0;
  UnixSeconds since = from;
  for (const Step& step : steps_) {
    const UnixSeconds at = std::clamp(step.at, from, until);
    if (waiting > 0 && running == 0) seconds += at - since;
    waiting += step.waiting;
    running += step.running;
    since = at;
  }
  return waiting > 0 && running == 0 ? seconds + (until - since) : seconds;
}

}  // namespace gpuadvise
