// How long jobs really waited: a histogram for each partition, GPU type and account.
//
// Told after each snapshot what happened to which jobs; a job counts when it starts, once for each
// start. Those that ran already when the daemon first looked do not count. Series are bounded: new
// accounts beyond kMostWaitSeries are counted as "other", new partitions and types as well. Safe
// from any thread.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_set>
#include <vector>

#include "common/gpu/gpu_naming.h"
#include "common/history/forecast_history.h"
#include "daemon/answers/visibility.h"
#include "daemon/metrics/gauges.h"

namespace gpuadvise::daemon {

// Each is some 16 lines of a scrape.
inline constexpr size_t kMostWaitSeries = 200;

// Upper bounds in seconds: a minute to a week, those that people speak of.
inline constexpr std::array<double, 12> kWaitBounds = {60,    300,   900,   1800,  3600,   7200,
                                                       14400, 28800, 57600, 86400, 259200, 604800};

class WaitHistograms {
 public:
  // `jobs`: those that something happened to, as of `snapshot`.
  void OnJobsChanged(const std::vector<PastJob>& jobs, const Snapshot& snapshot,
                     const GpuNaming& naming);

  // gpuadvise_wait_seconds of partitions that are seen; by account only with `accounts`.
  prometheus::MetricFamily Family(const Visibility& seen, bool accounts) const;

 private:
  struct Counts {
    std::array<uint64_t, kWaitBounds.size() + 1> in = {};  // not cumulated; the last is beyond all
    double sum = 0;
    void Add(double wait);
    Counts& operator+=(const Counts& more);
  };
  using Key = std::tuple<std::string, std::string, std::string>;  // partition, GPU, account

  bool IsNew(const JobRecord& job);  // REQUIRES: mutex_ held
  Counts& CountsFor(Key key);        // REQUIRES: mutex_ held

  mutable std::mutex mutex_;  // guards all below
  std::optional<UnixSeconds> since_;
  std::map<Key, Counts> series_;
  std::unordered_set<std::string> counted_;  // "id start", so that none counts twice
  std::deque<std::string> counted_in_order_;
};

}  // namespace gpuadvise::daemon
