// What the hours of a UsageHistory come to: by the hour of the week, by week, and hour by hour.
// Values that AnswerHistory fills (answer_history.h); pure.
#pragma once

#include <optional>
#include <vector>

#include "common/local_time.h"
#include "common/usage_history.h"

namespace gpuadvise {

inline constexpr size_t kHoursOfWeek = 168;

/// The time that is asked about: from the beginning of an hour to now.
class Period {
 public:
  /// From `first_hour` (since 1970) on. Hours before `watched_since` (nullopt: all) are those of
  /// which only some jobs are known.
  Period(int64_t first_hour, UnixSeconds until, std::optional<UnixSeconds> watched_since,
         const LocalTime& local);

  int64_t first_hour() const { return first_hour_; }
  UnixSeconds until() const { return until_; }

  /// Number of hours; the last is not over.
  size_t size() const { return hours_.size(); }

  /// Of the hour at `index`: 0 is Monday 0:00; its week among `week_starts`; how many of its
  /// seconds have passed and been watched.
  size_t OfWeek(size_t index) const { return hours_[index].of_week; }
  size_t WeekAt(size_t index) const { return hours_[index].week; }
  int64_t SecondsKnown(size_t index) const;

  /// When its weeks begin, as the wall clock has it; oldest first.
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

/// Hours that belong together.
struct HourSum {
  WaitCounts waits;
  Usage seconds;              // added up over the seconds that are known
  int64_t known_seconds = 0;  // 0: nothing but waits is known
};

/// The sums of some GPU types together.
struct HistorySums {
  explicit HistorySums(const Period& period);

  std::vector<HourSum> of_week{kHoursOfWeek};
  std::vector<Usage> hours;  // of the period; 0 where nothing is known
};

/// One sum for each week of the period, with nothing in it but the seconds that are known.
std::vector<HourSum> EmptyWeeks(const Period& period);

/// Adds what `use` has of `period` to the weeks of its type and, where it is not null, to `sums`.
/// `in_use` false: those GPUs are gone, and what ran on them is no use of those there are.
void AddUse(const HourlyUse& use, const Period& period, bool in_use, std::vector<HourSum>& weeks,
            HistorySums* sums);

}  // namespace gpuadvise
