// What became of the GPUs and the queue, hour by hour and GPU type by GPU type, for the last 57
// weeks: how many jobs waited, how many GPUs worked, how long the jobs waited that came in an hour.
//
// It is told of jobs, in any order; a job that is told again (it started, it ended, accounting
// corrects it) replaces what was known of it. A job is its number and its submission. Only jobs
// with GPUs count. It remembers those that are not over and the kRememberedJobs that were last told
// to be: one that ended before those must not be told again.
//
// Where it is wrong: a pending array is one job until its tasks start (each then has waited since
// the array became eligible); of jobs that ended while nobody watched only the wait is known until
// accounting tells the rest; a job that asks for GPUs of any type is of type "".
// Some MB. Not thread-safe while it is told.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "common/hourly_use.h"
#include "common/past.h"

namespace gpuadvise {

/// More types are one, of this name.
inline constexpr size_t kUsageTypes = 64;
inline constexpr const char* kOtherTypes = "other";

inline constexpr size_t kRememberedJobs = 65'536;

class UsageHistory {
 public:
  UsageHistory() = default;
  UsageHistory(UsageHistory&&) = default;
  UsageHistory& operator=(UsageHistory&&) = default;

  /// The time is `now`: nothing is taken to have happened later, and what is 57 weeks ago is
  /// forgotten. Where a clock went back by more than that, everything is.
  void Advance(UnixSeconds now);

  /// REQUIRES: Advance was called.
  void Tell(const PastJob& job);

  /// Jobs that are not among these (submission by number; 0: not known) are over; when is not
  /// known.
  void KeepOpen(const std::unordered_map<int64_t, UnixSeconds>& shown);

  /// Whether the job is known, and not to be over.
  bool IsOpen(int64_t job_id, UnixSeconds submit) const;

  /// Somebody has watched since `since` (or longer): from then on no job is missing.
  void WatchedSince(UnixSeconds since);

  /// From where on no job is missing: WatchedSince, or the first end of a job; nullopt: nothing was
  /// watched.
  std::optional<UnixSeconds> watched_since() const { return watched_since_; }

  /// By Slurm's GRES type; "" of untyped requests.
  const std::map<std::string, HourlyUse>& types() const { return types_; }

 private:
  struct Key {
    int64_t id = 0;
    UnixSeconds submit = 0;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    size_t operator()(const Key& key) const;
  };
  /// A job as it was counted.
  struct Counted {
    HourlyUse* type = nullptr;
    int64_t gpus = 0;
    UnixSeconds eligible = 0;
    std::optional<UnixSeconds> start;
    std::optional<UnixSeconds> end;
    bool lost = false;
    uint64_t told = 0;  // the how-manieth telling
    bool IsOver() const { return end || lost; }
  };

  HourlyUse& TypeOf(const std::string& gpu);
  void Count(const Counted& job, int sign);
  void Remember(const Key& key, const Counted& job);

  UnixSeconds now_ = 0;  // 0: Advance was never called
  int64_t first_hour_ = 0;
  std::optional<UnixSeconds> watched_since_;
  std::map<std::string, HourlyUse> types_;
  std::unordered_map<Key, Counted, KeyHash> jobs_;
  std::deque<std::pair<Key, uint64_t>> over_;  // in the order of telling
  uint64_t told_ = 0;
};

}  // namespace gpuadvise
