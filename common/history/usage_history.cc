#include "common/history/usage_history.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <utility>

namespace gpuadvise {
namespace {

constexpr double kWidth = 1.2;  // of a class of waits, relative to the previous

// No job has more; larger counts are errors.
constexpr int64_t kMostGpus = 1'000'000;

}  // namespace

size_t WaitClassOf(int64_t seconds) {
  if (seconds < 1) return 0;
  const auto wait = static_cast<double>(std::min(seconds, kLongestWait));
  const auto above = static_cast<size_t>(std::log(wait) / std::log(kWidth));
  return std::min(above + 1, kWaitClasses - 1);
}

double SecondsOfClass(size_t wait_class) {
  if (wait_class == 0) return 0;
  return std::pow(kWidth, static_cast<double>(wait_class) - 0.5);
}

void SparseWaits::Add(size_t wait_class, int by) {
  const auto at =
      std::lower_bound(counts_.begin(), counts_.end(), wait_class,
                       [](const Count& count, size_t other) { return count.wait_class < other; });
  if (at == counts_.end() || at->wait_class != wait_class) {
    counts_.insert(at, {static_cast<uint8_t>(wait_class), by});
    return;
  }
  at->jobs += by;
  if (at->jobs == 0) counts_.erase(at);
}

void WaitCounts::Add(const WaitCounts& more) {
  for (size_t i = 0; i < counts_.size(); ++i) counts_[i] += more.counts_[i];
  jobs_ += more.jobs_;
}

void WaitCounts::Add(const SparseWaits& waits) {
  for (const SparseWaits::Count& count : waits.counts()) {
    counts_[count.wait_class] += count.jobs;
    jobs_ += count.jobs;
  }
}

std::optional<double> WaitCounts::Quantile(double share) const {
  if (jobs_ <= 0) return std::nullopt;
  const auto rank = static_cast<int64_t>(std::ceil(share * static_cast<double>(jobs_)));
  int64_t below = 0;
  for (size_t i = 0; i < kWaitClasses; ++i) {
    below += counts_[i];
    if (below >= rank) return SecondsOfClass(i);
  }
  return SecondsOfClass(kWaitClasses - 1);
}

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

size_t UsageHistory::KeyHash::operator()(const Key& key) const {
  return std::hash<uint64_t>()(static_cast<uint64_t>(key.id) * 0x9E3779B97F4A7C15 ^
                               static_cast<uint64_t>(key.submit));
}

void UsageHistory::Advance(UnixSeconds now) {
  now = std::max<UnixSeconds>(now, 0);
  if (now / kHourSeconds < first_hour_) *this = UsageHistory();
  now_ = std::max(now, now_);
  first_hour_ = std::max<int64_t>(now_ / kHourSeconds - (kUsageHours - 1), 0);
  for (auto& [gpu, use] : types_) use.MoveTo(first_hour_);
}

void UsageHistory::WatchedSince(UnixSeconds since) {
  watched_since_ = std::min(watched_since_.value_or(since), since);
}

HourlyUse& UsageHistory::TypeOf(const std::string& gpu) {
  const bool fits = types_.contains(gpu) || types_.size() + 1 < kUsageTypes;
  return types_.try_emplace(fits ? gpu : kOtherTypes, first_hour_).first->second;
}

bool UsageHistory::IsOpen(int64_t job_id, UnixSeconds submit) const {
  const auto job = jobs_.find({job_id, submit});
  return job != jobs_.end() && !job->second.IsOver();
}

void UsageHistory::Count(const Counted& job, int sign) {
  if (job.lost && !job.start) return;
  const Usage waits = {sign, sign * job.gpus, 0};
  const Usage works = {0, 0, sign * job.gpus};
  job.type->Rise(job.eligible, waits);
  if (const auto waited_until = job.start ? job.start : job.end) {
    job.type->Rise(*waited_until, waits * -1);
  }
  if (!job.start) return;
  job.type->CountWait(job.eligible, WaitClassOf(*job.start - job.eligible), sign);
  if (job.lost) return;
  job.type->Rise(*job.start, works);
  if (job.end) job.type->Rise(*job.end, works * -1);
}

void UsageHistory::Remember(const Key& key, const Counted& job) {
  jobs_.insert_or_assign(key, job);
  if (!job.IsOver()) return;
  over_.emplace_back(key, job.told);
  for (; over_.size() > kRememberedJobs; over_.pop_front()) {
    const auto& [old, told] = over_.front();
    const auto found = jobs_.find(old);
    if (found != jobs_.end() && found->second.told == told) jobs_.erase(found);
  }
}

void UsageHistory::Tell(const PastJob& job) {
  assert(now_ > 0);
  const JobRecord& record = job.record;
  const Key key{record.id, record.submit};
  if (const auto known = jobs_.find(key); known != jobs_.end()) {
    Count(known->second, -1);
    jobs_.erase(known);
  }
  if (record.gpus <= 0) return;
  Counted counted;
  counted.type = &TypeOf(record.gpu);
  counted.gpus = std::min(record.gpus, kMostGpus);
  counted.eligible = std::clamp<UnixSeconds>(record.eligible, 0, now_);
  if (record.start) counted.start = std::clamp(*record.start, counted.eligible, now_);
  const UnixSeconds last = counted.start.value_or(counted.eligible);
  if (record.end) counted.end = std::clamp(*record.end, last, now_);
  counted.lost = job.lost && !record.end;
  counted.told = ++told_;
  Count(counted, 1);
  Remember(key, counted);
  if (counted.end && *counted.end >= first_hour_ * kHourSeconds) WatchedSince(*counted.end);
}

void UsageHistory::KeepOpen(const std::unordered_map<int64_t, UnixSeconds>& shown) {
  const auto is_shown = [&](const Key& key) {
    const auto found = shown.find(key.id);
    if (found == shown.end()) return false;
    return found->second == key.submit || found->second == 0 || key.submit == 0;
  };
  std::vector<std::pair<Key, Counted>> gone;
  for (const auto& [key, job] : jobs_) {
    if (!job.IsOver() && !is_shown(key)) gone.emplace_back(key, job);
  }
  for (auto& [key, job] : gone) {
    Count(job, -1);
    job.lost = true;
    job.told = ++told_;
    Count(job, 1);
    Remember(key, job);
  }
}

Period::Period(int64_t first_hour, UnixSeconds until, std::optional<UnixSeconds> watched_since,
               const LocalTime& local)
    : first_hour_(first_hour),
      until_(until),
      first_known_(watched_since ? *watched_since / kHourSeconds
                                 : std::numeric_limits<int64_t>::max()) {
  for (int64_t hour = first_hour; hour <= until / kHourSeconds; ++hour) {
    const LocalDateTime moment = local(hour * kHourSeconds);
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
