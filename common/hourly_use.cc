#include "common/hourly_use.h"

#include <algorithm>
#include <cassert>

namespace gpuadvise {

Usage& Usage::operator+=(const Usage& other) {
  pending += other.pending;
  pending_gpus += other.pending_gpus;
  busy_gpus += other.busy_gpus;
  return *this;
}

Usage operator*(const Usage& usage, int64_t factor) {
  return {usage.pending * factor, usage.pending_gpus * factor, usage.busy_gpus * factor};
}

HourlyUse::HourlyUse(int64_t first_hour)
    : first_hour_(std::max<int64_t>(first_hour, 0)), hours_(static_cast<size_t>(kUsageHours)) {}

void HourlyUse::MoveTo(int64_t first_hour) {
  const int64_t all_gone = std::min(first_hour, first_hour_ + kUsageHours);
  for (; first_hour_ < all_gone; ++first_hour_) {
    before_ += At(first_hour_).rise;
    At(first_hour_) = Hour();
  }
  first_hour_ = std::max(first_hour_, first_hour);
}

void HourlyUse::Rise(UnixSeconds at, const Usage& by) {
  if (at <= first_hour_ * kHourSeconds) {
    before_ += by;
    return;
  }
  const int64_t hour = at / kHourSeconds;
  assert(hour < first_hour_ + kUsageHours);
  At(hour).rest += by * ((hour + 1) * kHourSeconds - at);
  At(hour).rise += by;
}

void HourlyUse::CountWait(UnixSeconds at, size_t wait_class, int by) {
  const int64_t hour = at / kHourSeconds;
  if (hour >= first_hour_) At(hour).waits.Add(wait_class, by);
}

void HourlyUse::Each(
    int64_t first_hour, UnixSeconds to,
    const std::function<void(int64_t, const Usage&, const SparseWaits&)>& take) const {
  static const Hour kNoNews;
  Usage standing = before_;
  for (int64_t hour = first_hour_; hour <= to / kHourSeconds; ++hour) {
    const Hour& one = hour < first_hour_ + kUsageHours ? At(hour) : kNoNews;
    Usage seconds = standing * kHourSeconds;
    seconds += one.rest;
    standing += one.rise;
    if (hour < first_hour) continue;
    const int64_t missing = std::max<int64_t>((hour + 1) * kHourSeconds - to, 0);
    if (missing > 0) seconds += standing * -missing;
    take(hour, seconds, one.waits);
  }
}

int64_t HourlyUse::FirstKnown() const {
  if (before_ != Usage()) return first_hour_;
  for (int64_t hour = first_hour_; hour < first_hour_ + kUsageHours; ++hour) {
    const Hour& one = At(hour);
    if (one.rest != Usage() || one.rise != Usage() || !one.waits.counts().empty()) return hour;
  }
  return first_hour_ + kUsageHours;
}

}  // namespace gpuadvise
