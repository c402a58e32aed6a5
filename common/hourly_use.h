// How many jobs waited and how many GPUs worked, hour by hour over the last 57 weeks, and the waits
// that began in each hour.
//
// What happens is told as steps: from a moment on so much more, or less, waits or works. A job that
// is not over needs no end; a step that is told again with the opposite sign is taken back exactly,
// also when the hours it lay in are forgotten. Each step costs O(1), however long a job runs.
// Hours are those of unix time. 0.7 MB, and a few bytes an hour for its waits. A value.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "common/snapshot.h"
#include "common/wait_counts.h"

namespace gpuadvise {

inline constexpr int64_t kHourSeconds = 3'600;
inline constexpr int64_t kUsageHours = int64_t{57} * 7 * 24 + 1;  // the last is not over

/// How much waits and works at one moment; or, added up over seconds, job-seconds and GPU-seconds.
struct Usage {
  int64_t pending = 0;  // jobs
  int64_t pending_gpus = 0;
  int64_t busy_gpus = 0;

  Usage& operator+=(const Usage& other);
  friend Usage operator*(const Usage& usage, int64_t factor);
  friend bool operator==(const Usage&, const Usage&) = default;
};

class HourlyUse {
 public:
  /// Keeps kUsageHours from `first_hour` (hours since 1970) on.
  explicit HourlyUse(int64_t first_hour);

  /// Forgets the hours before `first_hour`; never goes back.
  void MoveTo(int64_t first_hour);

  /// From `at` on so much more. Before the first hour: from its beginning on. REQUIRES: `at` is
  /// before the end of the last hour.
  void Rise(UnixSeconds at, const Usage& by);

  /// A job that began to wait at `at` waited that long; `by` -1 takes it back. Of an hour that is
  /// forgotten: nothing.
  void CountWait(UnixSeconds at, size_t wait_class, int by);

  /// The hours from `first_hour` to that of `to`: the usage of each, added up over its seconds (of
  /// the last one until `to`), and its waits. After the last hour what stood then stands on.
  void Each(int64_t first_hour, UnixSeconds to,
            const std::function<void(int64_t hour, const Usage& seconds, const SparseWaits& waits)>&
                take) const;

  /// The first hour of which something is known; kUsageHours after the first kept one: nothing is.
  int64_t FirstKnown() const;

 private:
  struct Hour {
    Usage rest;  // of the steps in it: each times the seconds from it to the hour's end
    Usage rise;  // their sum, which stands in all hours that follow
    SparseWaits waits;
  };
  Hour& At(int64_t hour) { return hours_[static_cast<size_t>(hour % kUsageHours)]; }
  const Hour& At(int64_t hour) const { return hours_[static_cast<size_t>(hour % kUsageHours)]; }

  int64_t first_hour_;
  Usage before_;  // stands at the beginning of the first hour
  std::vector<Hour> hours_;
};

}  // namespace gpuadvise
