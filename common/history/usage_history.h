// GPU use and waits by hour and GPU type, for the last 57 weeks: waiting jobs, busy GPUs, and waits
// of the jobs submitted in each hour.
//
// Takes jobs in any order; an update (start, end, corrected accounting) replaces what was known. A
// job is identified by number and submission. Only GPU jobs count. Remembers open jobs and the last
// kRememberedJobs that ended: an earlier one must not be reported again.
//
// Limits: a pending array is one job until its tasks start (each then has waited since the array
// became eligible). For jobs that ended unobserved only the wait is known until accounting reports
// the rest. A job that asks for any GPU has type "". A few MB. Not thread-safe while written.
//
// Four parts, each using the previous: waits on a logarithmic scale, the hours of one GPU type, the
// history of all types, and statistics over it.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/base/local_time.h"
#include "common/base/unix_time.h"
#include "common/history/forecast_history.h"

namespace gpuadvise {

// Counts of waits on a logarithmic scale: compact, and additive before a quantile is taken.
//
// Each class is 1.2 times as wide as the previous, so a quantile is within 10 % of the exact wait.
// Waits under a second are one class; those over kLongestWait count as kLongestWait. Values; not
// thread-safe while written.

inline constexpr int64_t kLongestWait = int64_t{57} * 7 * 86'400;  // seconds
inline constexpr size_t kWaitClasses = 98;

// The class of a wait, and the representative wait of a class (geometric middle).
size_t WaitClassOf(int64_t seconds);
double SecondsOfClass(size_t wait_class);

// Waits of one hour; stores only non-empty classes.
class SparseWaits {
 public:
  // `by` may be negative, to undo an earlier count.
  void Add(size_t wait_class, int by);

  struct Count {
    uint8_t wait_class = 0;
    int32_t jobs = 0;
  };
  const std::vector<Count>& counts() const { return counts_; }

 private:
  std::vector<Count> counts_;  // by class, no zeros
};

// Waits of many hours.
class WaitCounts {
 public:
  void Add(const SparseWaits& waits);
  void Add(const WaitCounts& more);
  int64_t jobs() const { return jobs_; }

  // The wait of rank ceil(share * jobs) in seconds; nullopt without jobs. REQUIRES: 0 < share <= 1.
  std::optional<double> Quantile(double share) const;

 private:
  std::array<int64_t, kWaitClasses> counts_{};
  int64_t jobs_ = 0;
};

// Waiting jobs and busy GPUs by hour over the last 57 weeks, and the waits that began in each hour.
//
// Input is a series of steps: from a moment on, this many more (or fewer) wait or work. An open job
// needs no end. A step repeated with the opposite sign cancels exactly, even after its hours are
// forgotten. Each step costs O(1), whatever the job's length. Hours are of unix time. 0.7 MB, plus
// a few bytes per hour for waits. A value.

inline constexpr int64_t kUsageHours = int64_t{57} * 7 * 24 + 1;  // the last hour is incomplete

// Waiting jobs and busy GPUs at one moment; or, summed over seconds, job-seconds and GPU-seconds.
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
  // Covers kUsageHours from `first_hour` (hours since 1970).
  explicit HourlyUse(int64_t first_hour);

  // Drops the hours before `first_hour`; never goes back.
  void MoveTo(int64_t first_hour);

  // Adds `by` from `at` on; from the first hour if `at` is earlier. REQUIRES: `at` is before the
  // end of the last hour.
  void Rise(UnixSeconds at, const Usage& by);

  // Counts the wait of a job eligible since `at`; `by` -1 removes it. Ignored for forgotten hours.
  void CountWait(UnixSeconds at, size_t wait_class, int by);

  // Visits the hours from `first_hour` to that of `to`: usage summed over seconds (in the last hour
  // until `to`), and waits. After the last hour the usage stays constant.
  void Each(int64_t first_hour, UnixSeconds to,
            const std::function<void(int64_t hour, const Usage& seconds, const SparseWaits& waits)>&
                take) const;

  // First hour with data; kUsageHours after the first one if there is none.
  int64_t FirstKnown() const;

 private:
  struct Hour {
    Usage rest;  // of its steps: each times the seconds to the end of the hour
    Usage rise;  // sum of its steps, which applies to all later hours
    SparseWaits waits;
  };
  Hour& At(int64_t hour) { return hours_[static_cast<size_t>(hour % kUsageHours)]; }
  const Hour& At(int64_t hour) const { return hours_[static_cast<size_t>(hour % kUsageHours)]; }

  int64_t first_hour_;
  Usage before_;  // at the beginning of the first hour
  std::vector<Hour> hours_;
};

// Further types share this name.
inline constexpr size_t kUsageTypes = 64;
inline constexpr const char* kOtherTypes = "other";

inline constexpr size_t kRememberedJobs = 65'536;

class UsageHistory {
 public:
  UsageHistory() = default;
  UsageHistory(UsageHistory&&) = default;
  UsageHistory& operator=(UsageHistory&&) = default;

  // Sets the time to `now`: later events are clipped, and data older than 57 weeks is dropped.
  // Drops everything if the clock was set back by more than that.
  void Advance(UnixSeconds now);

  // REQUIRES: Advance was called.
  void Tell(const PastJob& job);

  // Jobs not among these (number -> submission; 0: unknown) are over, at an unknown time.
  void KeepOpen(const std::unordered_map<int64_t, UnixSeconds>& shown);

  // Whether the job is known and open.
  bool IsOpen(int64_t job_id, UnixSeconds submit) const;

  // Observation has been complete since `since` (or earlier).
  void WatchedSince(UnixSeconds since);

  // Start of complete observation: WatchedSince, or the first end of a job; nullopt: none.
  std::optional<UnixSeconds> watched_since() const { return watched_since_; }

  // By Slurm's GRES type; "" for untyped requests.
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
  struct Counted {
    HourlyUse* type = nullptr;
    int64_t gpus = 0;
    UnixSeconds eligible = 0;
    std::optional<UnixSeconds> start;
    std::optional<UnixSeconds> end;
    bool lost = false;
    uint64_t told = 0;  // number of the update
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
  std::deque<std::pair<Key, uint64_t>> over_;  // in order of updates
  uint64_t told_ = 0;
};

// Statistics over the hours of a UsageHistory: by hour of the week, by week, and by hour. Plain
// values, filled by AnswerHistory (daemon/answers/views.h); pure.

inline constexpr size_t kHoursOfWeek = 168;

// The period in question: from the beginning of an hour to now.
class Period {
 public:
  // From `first_hour` (since 1970) on. Before `watched_since` (nullopt: always) data is incomplete.
  Period(int64_t first_hour, UnixSeconds until, std::optional<UnixSeconds> watched_since,
         const LocalTime& local);

  int64_t first_hour() const { return first_hour_; }
  UnixSeconds until() const { return until_; }

  // Number of hours; the last is incomplete.
  size_t size() const { return hours_.size(); }

  // For the hour at `index`: hour of the week (0 is Monday 0:00), index in `week_starts`, and
  // seconds of it that were observed so far.
  size_t OfWeek(size_t index) const { return hours_[index].of_week; }
  size_t WeekAt(size_t index) const { return hours_[index].week; }
  int64_t SecondsKnown(size_t index) const;

  // Starts of its weeks in local time; oldest first.
  const std::vector<UnixSeconds>& week_starts() const { return week_starts_; }

 private:
  struct Hour {
    size_t of_week = 0;
    size_t week = 0;
  };
  int64_t first_hour_;
  UnixSeconds until_;
  int64_t first_known_;
  std::vector<Hour> hours_;
  std::vector<UnixSeconds> week_starts_;
};

// Sum over several hours.
struct HourSum {
  WaitCounts waits;
  Usage seconds;              // summed over known seconds
  int64_t known_seconds = 0;  // 0: only waits are known
};

// Sums over several GPU types.
struct HistorySums {
  explicit HistorySums(const Period& period);

  std::vector<HourSum> of_week{kHoursOfWeek};
  std::vector<Usage> hours;  // of the period; 0 where unknown
};

// One sum per week of the period, with only the known seconds set.
std::vector<HourSum> EmptyWeeks(const Period& period);

// Adds `use` within `period` to the weeks of its type and, if not null, to `sums`. `in_use` false:
// those GPUs were removed, so their use does not count towards current GPUs.
void AddUse(const HourlyUse& use, const Period& period, bool in_use, std::vector<HourSum>& weeks,
            HistorySums* sums);

}  // namespace gpuadvise
