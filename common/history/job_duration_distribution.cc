#include "common/history/job_duration_distribution.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace gpuadvise {
namespace {

constexpr double kNearLimit = 0.985;
constexpr double kLimitGraceSeconds = 90;

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
  const double most =
      limit_seconds > 0 ? static_cast<double>(limit_seconds) : RunTimeBinStart(kRunTimeBins);
  last_ = most;
  edges_.reserve(kRunTimeBins + 2);
  cumulative_.reserve(kRunTimeBins + 2);
  edges_.push_back(0);
  cumulative_.push_back(0);
  double sum = 0;
  for (int bin = 0; bin < kRunTimeBins; ++bin) {
    const double start = bin == 0 ? 0.5 : RunTimeBinStart(bin);
    const double end = RunTimeBinStart(bin + 1);
    const double weight = static_cast<double>(weights[static_cast<size_t>(bin)]) / total;
    if (start >= most) break;
    if (weight <= 0) continue;
    if (edges_.back() < start) {
      edges_.push_back(start);
      cumulative_.push_back(sum);
    }
    const double part = end <= most ? 1 : std::log(most / start) / std::log(end / start);
    sum += weight * part;
    edges_.push_back(std::min(end, most));
    cumulative_.push_back(std::min(sum, 1.0));
  }
}

double RunTimeDistribution::Quantile(double u) const {
  if (cumulative_.empty() || u >= cumulative_.back()) return last_;
  const auto above = std::upper_bound(cumulative_.begin(), cumulative_.end(), u);
  const auto i = static_cast<size_t>(above - cumulative_.begin());
  const double share = (u - cumulative_[i - 1]) / (cumulative_[i] - cumulative_[i - 1]);
  const double low = std::max(edges_[i - 1], 0.5);
  return low * std::pow(edges_[i] / low, share);
}

double RunTimeDistribution::Cdf(double seconds) const {
  if (seconds >= last_) return 1;
  if (edges_.empty() || seconds <= edges_.front()) return 0;
  const auto above = std::upper_bound(edges_.begin(), edges_.end(), seconds);
  if (above == edges_.end()) return cumulative_.back();
  const auto i = static_cast<size_t>(above - edges_.begin());
  const double low = std::max(edges_[i - 1], 0.5);
  const double share = seconds <= low ? 0 : std::log(seconds / low) / std::log(edges_[i] / low);
  return cumulative_[i - 1] + share * (cumulative_[i] - cumulative_[i - 1]);
}

double RunTimeDistribution::Mean() const {
  double mean = cumulative_.empty() ? last_ : (1 - cumulative_.back()) * last_;
  for (size_t i = 1; i < edges_.size(); ++i) {
    mean +=
        (cumulative_[i] - cumulative_[i - 1]) * std::sqrt(std::max(edges_[i - 1], 0.5) * edges_[i]);
  }
  return mean;
}

}  // namespace gpuadvise
