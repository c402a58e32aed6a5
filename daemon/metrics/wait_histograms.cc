#include "daemon/metrics/wait_histograms.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/gpu/gpu_types.h"

namespace gpuadvise::daemon {
namespace {

// Starts that are remembered; a job is told of again within minutes, if ever.
constexpr size_t kRememberedStarts = 20'000;
constexpr const char* kOtherName = "other";

}  // namespace

void WaitHistograms::Counts::Add(double wait) {
  const auto* bound = std::lower_bound(kWaitBounds.begin(), kWaitBounds.end(), wait);
  ++in[static_cast<size_t>(bound - kWaitBounds.begin())];
  sum += wait;
}

WaitHistograms::Counts& WaitHistograms::Counts::operator+=(const Counts& more) {
  for (size_t i = 0; i < in.size(); ++i) in[i] += more.in[i];
  sum += more.sum;
  return *this;
}

bool WaitHistograms::IsNew(const JobRecord& job) {
  if (!job.start || *job.start < *since_) return false;
  std::string key = fmt::format("{} {}", job.id, *job.start);
  if (!counted_.insert(key).second) return false;
  counted_in_order_.push_back(std::move(key));
  if (counted_in_order_.size() > kRememberedStarts) {
    counted_.erase(counted_in_order_.front());
    counted_in_order_.pop_front();
  }
  return true;
}

WaitHistograms::Counts& WaitHistograms::CountsFor(Key key) {
  const auto found = series_.find(key);
  if (found != series_.end()) return found->second;
  if (series_.size() >= kMostWaitSeries) {
    // As many again as "other" at most: partitions and types are the site's.
    std::get<2>(key) = kOtherName;
    if (series_.size() >= 2 * kMostWaitSeries) key = {kOtherName, kOtherName, kOtherName};
  }
  return series_[std::move(key)];
}

void WaitHistograms::OnJobsChanged(const std::vector<PastJob>& jobs, const Snapshot& snapshot,
                                   const GpuNaming& naming) {
  const std::lock_guard lock(mutex_);
  if (!since_) since_ = snapshot.taken_at;
  std::optional<GpuTypes> types;
  for (const PastJob& job : jobs) {
    const JobRecord& record = job.record;
    if (!IsNew(record)) continue;
    if (!types) types.emplace(snapshot, naming);
    const std::string gpu = record.gpus > 0 ? types->TypeOf(record.gpu).id : "";
    const auto wait = static_cast<double>(*record.start - std::max(record.eligible, record.submit));
    CountsFor({LabelValue(record.partition), LabelValue(gpu), LabelValue(record.account)})
        .Add(std::max(wait, 0.0));
  }
}

prometheus::MetricFamily WaitHistograms::Family(const Visibility& seen, bool accounts) const {
  std::map<Key, Counts> told;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [key, counts] : series_) {
      const auto& [partition, gpu, account] = key;
      if (partition != kOtherName && !seen.IsVisible(partition)) continue;
      told[{partition, gpu, accounts ? account : ""}] += counts;
    }
  }
  prometheus::MetricFamily family{"gpuadvise_wait_seconds",
                                  "How long jobs waited that have started since the daemon's start",
                                  prometheus::MetricType::Histogram,
                                  {}};
  for (const auto& [key, counts] : told) {
    const auto& [partition, gpu, account] = key;
    prometheus::ClientMetric metric;
    metric.label = {{"partition", partition}, {"gpu", gpu}};
    if (accounts) metric.label.push_back({"account", account});
    uint64_t cumulative = 0;
    for (size_t i = 0; i < kWaitBounds.size(); ++i) {
      cumulative += counts.in[i];
      metric.histogram.bucket.push_back({cumulative, kWaitBounds[i]});
    }
    metric.histogram.sample_count = cumulative + counts.in.back();
    metric.histogram.sample_sum = counts.sum;
    family.metric.push_back(std::move(metric));
  }
  return family;
}

}  // namespace gpuadvise::daemon
