#include "common/history/job_duration_distribution.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace gpuadvise {
namespace {

constexpr double kNearLimit = 0.985;
constexpr double kLimitGraceSeconds = 90;
constexpr double kShortestSeconds = 0.5;  // where the first bin begins

double StartOfBin(int bin) { return bin == 0 ? kShortestSeconds : RunTimeBinStart(bin); }

}  // namespace

int RunTimeBin(double seconds) {
  if (!(seconds > 1)) return 0;
  const auto bin = static_cast<int>(std::log2(seconds) * kRunTimeBinsPerOctave);
  return std::min(bin, kRunTimeBins - 1);
}

double RunTimeBinStart(int bin) {
  static const std::array<double, kRunTimeBins + 1> kStarts = [] {
    std::array<double, kRunTimeBins + 1> starts{};
    for (size_t i = 0; i < starts.size(); ++i) {
      starts[i] = std::exp2(static_cast<double>(i) / kRunTimeBinsPerOctave);
    }
    return starts;
  }();
  assert(bin >= 0 && bin <= kRunTimeBins);
  return kStarts[static_cast<size_t>(bin)];
}

bool EndedByLimit(double seconds, int64_t limit_seconds) {
  if (limit_seconds <= 0) return false;
  const auto limit = static_cast<double>(limit_seconds);
  return seconds >= std::max(kNearLimit * limit, limit - kLimitGraceSeconds);
}

RunTimeDistribution RunTimeDistribution::Exactly(double seconds) {
  RunTimeDistribution exact;
  exact.last_ = seconds;
  return exact;
}

RunTimeDistribution::RunTimeDistribution(const RunTimeHistogram& weights, int64_t limit_seconds) {
  double total = 0;
  for (const float weight : weights) total += static_cast<double>(weight);
  assert(total > 0);
  last_ = limit_seconds > 0 ? static_cast<double>(limit_seconds) : RunTimeBinStart(kRunTimeBins);
  const auto weight_of = [&](int bin) { return weights[static_cast<size_t>(bin)]; };
  int end = 0;
  for (int bin = kRunTimeBins; bin-- > 0;) {
    if (StartOfBin(bin) >= last_ || weight_of(bin) <= 0) continue;
    end = std::max(end, bin + 1);
    first_bin_ = bin;
  }
  if (end == 0) return;
  ended_.reserve(static_cast<size_t>(end - first_bin_));
  double sum = 0;
  for (int bin = first_bin_; bin < end; ++bin) {
    const double from = StartOfBin(bin), to = RunTimeBinStart(bin + 1);
    const double part = to <= last_ ? 1 : std::log(last_ / from) / std::log(to / from);
    sum += part * static_cast<double>(weight_of(bin)) / total;
    ended_.push_back(static_cast<float>(std::min(sum, 1.0)));
  }
}

double RunTimeDistribution::From(size_t i) const {
  return StartOfBin(first_bin_ + static_cast<int>(i));
}

double RunTimeDistribution::To(size_t i) const {
  return std::min(RunTimeBinStart(first_bin_ + static_cast<int>(i) + 1), last_);
}

double RunTimeDistribution::Quantile(double u) const {
  if (ended_.empty() || u >= static_cast<double>(ended_.back())) return last_;
  const auto above = std::upper_bound(ended_.begin(), ended_.end(), u, [](double share, float end) {
    return share < static_cast<double>(end);
  });
  const auto i = static_cast<size_t>(above - ended_.begin());
  const double before = i == 0 ? 0 : static_cast<double>(ended_[i - 1]);
  const double share = (u - before) / (static_cast<double>(*above) - before);
  return From(i) * std::pow(To(i) / From(i), share);
}

double RunTimeDistribution::Cdf(double seconds) const {
  if (seconds >= last_) return 1;
  const int bin = RunTimeBin(seconds) - first_bin_;
  if (ended_.empty() || bin < 0) return 0;
  const auto i = static_cast<size_t>(bin);
  if (i >= ended_.size()) return static_cast<double>(ended_.back());
  const double before = i == 0 ? 0 : static_cast<double>(ended_[i - 1]);
  if (seconds <= From(i)) return before;
  const double share = std::min(std::log(seconds / From(i)) / std::log(To(i) / From(i)), 1.0);
  return before + share * (static_cast<double>(ended_[i]) - before);
}

double RunTimeDistribution::Mean() const {
  double mean = 0, before = 0;
  for (size_t i = 0; i < ended_.size(); ++i) {
    mean += (static_cast<double>(ended_[i]) - before) * std::sqrt(From(i) * To(i));
    before = static_cast<double>(ended_[i]);
  }
  return mean + (1 - before) * last_;
}

}  // namespace gpuadvise
