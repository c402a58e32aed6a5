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
//
// Four parts, each of which uses those before it: waits counted on a logarithmic scale, the hours
// of one GPU type, the history of all of them, and what its hours come to.
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

// Waits counted on a logarithmic scale: small, and any number of counts can be added up before a
// quantile is asked for.
//
// Each class is 1.2 times as wide as the one before, so that a quantile is within 10 % of the wait
// of that rank. Waits under a second are one class; those over kLongestWait count as that long.
// Values; not thread-safe while they change.

inline constexpr int64_t kLongestWait = int64_t{57} * 7 * 86'400;  // seconds
inline constexpr size_t kWaitClasses = 98;

// The class of a wait, and the wait that stands for all of a class (their geometric middle).
size_t WaitClassOf(int64_t seconds);
double SecondsOfClass(size_t wait_class);

// The waits of one hour: only the classes that occur.
class SparseWaits {
 public:
  // `by` may be negative: what was counted before is taken back.
  void Add(size_t wait_class, int by);

  struct Count {
    uint8_t wait_class = 0;
    int32_t jobs = 0;
  };
  const std::vector<Count>& counts() const { return counts_; }

 private:
  std::vector<Count> counts_;  // in the order of classes, none of 0
};

// Waits of many hours.
class WaitCounts {
 public:
  void Add(const SparseWaits& waits);
  void Add(const WaitCounts& more);
  int64_t jobs() const { return jobs_; }

  // The wait of rank ceil(share * jobs), seconds; nullopt of none. REQUIRES: 0 < share <= 1.
  std::optional<double> Quantile(double share) const;

 private:
  std::array<int64_t, kWaitClasses> counts_{};
  int64_t jobs_ = 0;
};

// How many jobs waited and how many GPUs worked, hour by hour over the last 57 weeks, and the waits
// that began in each hour.
//
// What happens is told as steps: from a moment on so much more, or less, waits or works. A job that
// is not over needs no end; a step that is told again with the opposite sign is taken back exactly,
// also when the hours it lay in are forgotten. Each step costs O(1), however long a job runs.
// Hours are those of unix time. 0.7 MB, and a few bytes an hour for its waits. A value.

inline constexpr int64_t kUsageHours = int64_t{57} * 7 * 24 + 1;  // the last is not over

// How much waits and works at one moment; or, added up over seconds, job-seconds and GPU-seconds.
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
  // Keeps kUsageHours from `first_hour` (hours since 1970) on.
  explicit HourlyUse(int64_t first_hour);

  // Forgets the hours before `first_hour`; never goes back.
  void MoveTo(int64_t first_hour);

  // From `at` on so much more. Before the first hour: from its beginning on. REQUIRES: `at` is
  // before the end of the last hour.
  void Rise(UnixSeconds at, const Usage& by);

  // A job that began to wait at `at` waited that long; `by` -1 takes it back. Of an hour that is
  // forgotten: nothing.
  void CountWait(UnixSeconds at, size_t wait_class, int by);

  // The hours from `first_hour` to that of `to`: the usage of each, added up over its seconds (of
  // the last one until `to`), and its waits. After the last hour what stood then stands on.
  void Each(int64_t first_hour, UnixSeconds to,
            const std::function<void(int64_t hour, const Usage& seconds, const SparseWaits& waits)>&
                take) const;

  // The first hour of which something is known; kUsageHours after the first kept one: nothing is.
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

// More types are one, of this name.
inline constexpr size_t kUsageTypes = 64;
inline constexpr const char* kOtherTypes = "other";

inline constexpr size_t kRememberedJobs = 65'536;

class UsageHistory {
 public:
  UsageHistory() = default;
  UsageHistory(UsageHistory&&) = default;
  UsageHistory& operator=(UsageHistory&&) = default;

  // The time is `now`: nothing is taken to have happened later, and what is 57 weeks ago is
  // forgotten. Where a clock went back by more than that, everything is.
  void Advance(UnixSeconds now);

  // REQUIRES: Advance was called.
  void Tell(const PastJob& job);

  // Jobs that are not among these (submission by number; 0: not known) are over; when is not
  // known.
  void KeepOpen(const std::unordered_map<int64_t, UnixSeconds>& shown);

  // Whether the job is known, and not to be over.
  bool IsOpen(int64_t job_id, UnixSeconds submit) const;

  // Somebody has watched since `since` (or longer): from then on no job is missing.
  void WatchedSince(UnixSeconds since);

  // From where on no job is missing: WatchedSince, or the first end of a job; nullopt: nothing was
  // watched.
  std::optional<UnixSeconds> watched_since() const { return watched_since_; }

  // By Slurm's GRES type; "" of untyped requests.
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
  // A job as it was counted.
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

// What the hours of a UsageHistory come to: by the hour of the week, by week, and hour by hour.
// Values that AnswerHistory fills (answer_history.h); pure.

inline constexpr size_t kHoursOfWeek = 168;

// The time that is asked about: from the beginning of an hour to now.
class Period {
 public:
  // From `first_hour` (since 1970) on. Hours before `watched_since` (nullopt: all) are those of
  // which only some jobs are known.
  Period(int64_t first_hour, UnixSeconds until, std::optional<UnixSeconds> watched_since,
         const LocalTime& local);

  int64_t first_hour() const { return first_hour_; }
  UnixSeconds until() const { return until_; }

  // Number of hours; the last is not over.
  size_t size() const { return hours_.size(); }

  // Of the hour at `index`: 0 is Monday 0:00; its week among `week_starts`; how many of its
  // seconds have passed and been watched.
  size_t OfWeek(size_t index) const { return hours_[index].of_week; }
  size_t WeekAt(size_t index) const { return hours_[index].week; }
  int64_t SecondsKnown(size_t index) const;

  // When its weeks begin, as the wall clock has it; oldest first.
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

// Hours that belong together.
struct HourSum {
  WaitCounts waits;
  Usage seconds;              // added up over the seconds that are known
  int64_t known_seconds = 0;  // 0: nothing but waits is known
};

// The sums of some GPU types together.
struct HistorySums {
  explicit HistorySums(const Period& period);

  std::vector<HourSum> of_week{kHoursOfWeek};
  std::vector<Usage> hours;  // of the period; 0 where nothing is known
};

// One sum for each week of the period, with nothing in it but the seconds that are known.
std::vector<HourSum> EmptyWeeks(const Period& period);

// Adds what `use` has of `period` to the weeks of its type and, where it is not null, to `sums`.
// `in_use` false: those GPUs are gone, and what ran on them is no use of those there are.
void AddUse(const HourlyUse& use, const Period& period, bool in_use, std::vector<HourSum>& weeks,
            HistorySums* sums);

}  // namespace gpuadvise
