#include "common/forecast/cheaper_start.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "common/base/slurm_time.h"
#include "common/base/statistics.h"
#include "common/base/unix_time.h"
#include "common/base/words.h"
#include "common/slurm/gres.h"
#include "common/slurm/policy.h"

namespace gpuadvise {
namespace {

constexpr std::array kLimits = {168 * kHourSeconds, 96 * kHourSeconds,   72 * kHourSeconds,
                                48 * kHourSeconds,  24 * kHourSeconds,   12 * kHourSeconds,
                                8 * kHourSeconds,   4 * kHourSeconds,    2 * kHourSeconds,
                                kHourSeconds,       30 * kMinuteSeconds, 10 * kMinuteSeconds};
constexpr double kNow = 30;  // seconds
constexpr double kLongestWait = 365.0 * kDaySeconds;

double MedianOf(const StartSamples& start) { return start.Quantile(0.5); }

// The start with `request`, if worthwhile.
std::optional<StartSamples> Worth(const JobRequest& request, const StartSamples& as_it_is,
                                  const AskStart& ask) {
  auto start = ask(request);
  if (!start || !IsWorthIt(*start, as_it_is)) return std::nullopt;
  return std::move(*start);
}

// The same for a change of the time limit only.
std::optional<StartSamples> WorthShorter(const JobRequest& request, const StartSamples& as_it_is,
                                         const AskStart& ask) {
  auto start = ask(request);
  if (!start) return std::nullopt;
  ComparedStart compared = CompareInSameFuture(std::move(*start), as_it_is);
  if (!IsWorthIt(compared.start, as_it_is)) return std::nullopt;
  return std::move(compared.start);
}

class Search {
 public:
  Search(const Snapshot& snapshot, const JobRequest& request, const StartSamples& as_it_is,
         const AskStart& ask, const CanRun& can_run)
      : snapshot_(snapshot), request_(request), as_it_is_(as_it_is), ask_(ask), can_run_(can_run) {}

  std::vector<CheaperStart> Run() {
    TryShorter();
    TryFewerGpus();
    TryOtherGpus();
    TryOtherPartitions();
    std::stable_sort(found_.begin(), found_.end(),
                     [](const CheaperStart& a, const CheaperStart& b) {
                       return MedianOf(a.start) < MedianOf(b.start);
                     });
    if (found_.size() > kMaxCheaper) found_.resize(kMaxCheaper);
    return std::move(found_);
  }

 private:
  bool Try(std::string change, const JobRequest& request) {
    if (!can_run_(request)) return false;
    auto start = Worth(request, as_it_is_, ask_);
    if (!start) return false;
    found_.push_back({std::move(change), request, std::move(*start)});
    return true;
  }

  // Tries the longest worthwhile limit and the longest that starts at once.
  void TryShorter() {
    const int64_t limit = request_.time_limit_seconds.value_or(kLimits.front() + 1);
    double best = 0;
    for (const int64_t shorter : kLimits) {
      if (shorter >= limit) continue;
      JobRequest request = request_;
      request.time_limit_seconds = shorter;
      if (!can_run_(request)) return;
      auto start = WorthShorter(request, as_it_is_, ask_);
      if (!start) continue;
      const double median = MedianOf(*start);
      const bool first = best == 0;
      if (!first && median > kNow) continue;
      found_.push_back({"-t " + FormatDuration(shorter), request, std::move(*start)});
      best = median;
      if (median <= kNow) return;
    }
  }

  const GpuCount* OnlyGpus() const {
    if (!request_.gpus_total.empty() || request_.gpus_per_node.size() != 1) return nullptr;
    return &request_.gpus_per_node.front();
  }

  static std::string GresOption(const GpuCount& gpus) { return "--gres=" + ToGresText({gpus}); }

  void TryFewerGpus() {
    const GpuCount* gpus = OnlyGpus();
    if (gpus == nullptr) return;
    for (int64_t fewer = gpus->count / 2; fewer >= 1; fewer /= 2) {
      JobRequest request = request_;
      request.gpus_per_node.front().count = fewer;
      if (Try(GresOption(request.gpus_per_node.front()), request)) return;
    }
  }

  void TryOtherGpus() {
    const GpuCount* gpus = OnlyGpus();
    if (gpus == nullptr || gpus->type.empty() || !request_.required_nodes.empty()) return;
    std::set<std::string> types;
    for (const Node& node : snapshot_.nodes) {
      for (const GpuCount& each : node.gpus) {
        if (!each.type.empty() && each.type != gpus->type && each.count >= gpus->count) {
          types.insert(each.type);
        }
      }
    }
    for (const std::string& type : types) {
      JobRequest request = request_;
      request.gpus_per_node.front().type = type;
      Try(GresOption(request.gpus_per_node.front()), request);
    }
  }

  void TryOtherPartitions() {
    for (const Partition& partition : snapshot_.partitions) {
      const auto& asked = request_.partitions;
      if (partition.hidden || partition.state != PartitionState::kUp ||
          std::find(asked.begin(), asked.end(), partition.name) != asked.end()) {
        continue;
      }
      JobRequest request = request_;
      request.partitions = {partition.name};
      Try("-p " + partition.name, request);
    }
  }

  const Snapshot& snapshot_;
  const JobRequest& request_;
  const StartSamples& as_it_is_;
  const AskStart& ask_;
  const CanRun& can_run_;
  std::vector<CheaperStart> found_;
};

}  // namespace

double ComparedStart::Gain() const { return InterpolatedQuantile(gains, .5); }

ComparedStart CompareInSameFuture(StartSamples start, const StartSamples& as_it_is) {
  const std::vector<int64_t> before = as_it_is.simulated_wait_seconds;
  const std::vector<int64_t> after = start.simulated_wait_seconds;
  ComparedStart compared{std::move(start), {}};
  if (before.empty() || before.size() != after.size()) {
    compared.gains = {MedianOf(as_it_is) - MedianOf(compared.start)};
    return compared;
  }
  std::vector<size_t> order(before.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return before[a] < before[b]; });
  std::vector<int64_t>& waits = compared.start.wait_seconds;
  waits.clear();
  for (size_t rank = 0; rank < order.size(); ++rank) {
    const double likely =
        as_it_is.Quantile((static_cast<double>(rank) + 0.5) / static_cast<double>(order.size()));
    const auto a = static_cast<double>(before[order[rank]]);
    const auto b = static_cast<double>(after[order[rank]]);
    const double wait = std::min(a > 0 ? likely * b / a : likely + b, kLongestWait);
    waits.push_back(std::llround(wait));
    compared.gains.push_back(likely - wait);
  }
  std::sort(waits.begin(), waits.end());
  std::sort(compared.gains.begin(), compared.gains.end());
  return compared;
}

bool IsWorthIt(const StartSamples& start, const StartSamples& as_it_is) {
  const double before = MedianOf(as_it_is);
  const double saved = before - MedianOf(start);
  return saved >= kWorthSeconds && saved >= kWorthShare * before && start.Mean() < as_it_is.Mean();
}

std::vector<CheaperStart> CheaperStarts(const Snapshot& snapshot, const JobRequest& request,
                                        const StartSamples& as_it_is, const AskStart& ask,
                                        const CanRun& can_run) {
  if (MedianOf(as_it_is) < kWorthSeconds) return {};
  return Search(snapshot, request, as_it_is, ask, can_run).Run();
}

std::optional<CheaperStart> WithShorterLimit(const JobRequest& request, int64_t limit_seconds,
                                             const StartSamples& as_it_is, const AskStart& ask) {
  JobRequest shorter = request;
  shorter.time_limit_seconds = limit_seconds;
  auto start = WorthShorter(shorter, as_it_is, ask);
  if (!start) return std::nullopt;
  return CheaperStart{"-t " + FormatDuration(limit_seconds), shorter, std::move(*start)};
}

std::string InWords(const CheaperStart& cheaper, const StartSamples& as_it_is) {
  const double median = MedianOf(cheaper.start);
  if (median <= kNow) return fmt::format("with {} it would start now", cheaper.change);
  return fmt::format("with {} it would start in {} ({} earlier)", cheaper.change,
                     DurationInWords(median), DurationInWords(MedianOf(as_it_is) - median));
}

}  // namespace gpuadvise
