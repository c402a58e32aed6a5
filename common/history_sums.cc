#include "common/history_sums.h"

#include <algorithm>
#include <limits>

namespace gpuadvise {

Period::Period(int64_t first_hour, UnixSeconds until, std::optional<UnixSeconds> watched_since,
               const LocalTime& local)
    : first_hour_(first_hour),
      until_(until),
      first_known_(watched_since ? *watched_since / kHourSeconds
                                 : std::numeric_limits<int64_t>::max()) {
  for (int64_t hour = first_hour; hour <= until / kHourSeconds; ++hour) {
    const LocalMoment moment = local(hour * kHourSeconds);
    if (week_starts_.empty() || week_starts_.back() < moment.week_start) {
      week_starts_.push_back(moment.week_start);
    }
    hours_.push_back({static_cast<size_t>(moment.weekday * 24 + moment.hour) % kHoursOfWeek,
                      week_starts_.size() - 1});
  }
}

int64_t Period::SecondsKnown(size_t index) const {
  const int64_t hour = first_hour_ + static_cast<int64_t>(index);
  if (hour < first_known_) return 0;
  return std::min(until_ - hour * kHourSeconds, kHourSeconds);
}

HistorySums::HistorySums(const Period& period) : hours(period.size()) {
  for (size_t i = 0; i < period.size(); ++i) {
    of_week[period.OfWeek(i)].known_seconds += period.SecondsKnown(i);
  }
}

std::vector<HourSum> EmptyWeeks(const Period& period) {
  std::vector<HourSum> weeks(period.week_starts().size());
  for (size_t i = 0; i < period.size(); ++i) {
    weeks[period.WeekAt(i)].known_seconds += period.SecondsKnown(i);
  }
  return weeks;
}

void AddUse(const HourlyUse& use, const Period& period, bool in_use, std::vector<HourSum>& weeks,
            HistorySums* sums) {
  use.Each(
      period.first_hour(), period.until(),
      [&](int64_t hour, const Usage& seconds, const SparseWaits& waits) {
        const auto i = static_cast<size_t>(hour - period.first_hour());
        const bool known = period.SecondsKnown(i) > 0;
        HourSum& week = weeks[period.WeekAt(i)];
        week.waits.Add(waits);
        if (known) week.seconds += seconds;
        if (sums == nullptr) return;
        HourSum& of_week = sums->of_week[period.OfWeek(i)];
        of_week.waits.Add(waits);
        if (!known) return;
        sums->hours[i] += seconds;
        of_week.seconds += {seconds.pending, seconds.pending_gpus, in_use ? seconds.busy_gpus : 0};
      });
}

}  // namespace gpuadvise
