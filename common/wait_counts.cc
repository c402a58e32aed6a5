#include "common/wait_counts.h"

#include <algorithm>
#include <cmath>

namespace gpuadvise {
namespace {

constexpr double kWidth = 1.2;

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

}  // namespace gpuadvise
