#include "common/arrivals.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/job_random.h"

namespace gpuadvise {
namespace {

constexpr int64_t kHour = 3'600;
constexpr int64_t kDay = 24 * kHour;
constexpr uint64_t kStream = 0x6172726976616c73;  // its random numbers are nobody else's

}  // namespace

void Arrivals::Arrived(Job job, UnixSeconds at) {
  if (recent_.empty()) since_ = at;
  if (!recent_.empty()) at = std::max(at, recent_.back().at);  // a clock that went back
  recent_.push_back({at, std::move(job)});
  while (recent_.size() > kKeptArrivals || recent_.front().at < at - kWatchedSeconds) {
    since_ = recent_.front().at;
    recent_.pop_front();
  }
}

int64_t Arrivals::WatchedFor(UnixSeconds now) const {
  return recent_.empty() ? 0 : std::clamp<int64_t>(now - since_, 0, kWatchedSeconds);
}

int64_t PastHourFor(int64_t hour, int64_t watched_seconds, uint64_t seed, uint64_t sample) {
  if (watched_seconds < kHour) return 0;
  const double u = UniformOf(seed ^ kStream, sample, static_cast<uint64_t>(hour));
  if (watched_seconds < kDay) {
    return kHour + std::llround(u * static_cast<double>(watched_seconds - kHour));
  }
  const int64_t today = kDay - hour % 24 * kHour;
  const int64_t days = (watched_seconds - today) / kDay;
  return today + kDay * static_cast<int64_t>(u * static_cast<double>(days + 1));
}

}  // namespace gpuadvise
