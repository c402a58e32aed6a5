#include "common/history/wait_history.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gpuadvise {
namespace {

constexpr size_t kKept = 500;
constexpr size_t kEnough = 20;
constexpr size_t kPartitionLevel = 6;

// 0, 1, 2-3, 4-7, …
int Octave(double value) { return value < 1 ? 0 : 1 + static_cast<int>(std::log2(value)); }

}  // namespace

StateKeys MakeStateKeys(const JobRecord& job, int group, int64_t queue, int64_t own_pending) {
  const auto size = static_cast<double>(job.gpus > 0 ? job.gpus : job.cpus);
  const auto limit = static_cast<double>(job.limit_seconds.value_or(0)) / 3600;
  const std::string fits = fmt::format("{}|{}", job.partition, group);
  const std::string pool = fits + "|" + job.gpu;
  const std::string queued = fmt::format("{}|q{}", pool, Octave(static_cast<double>(queue)));
  const std::string sized = fmt::format("{}|s{}", queued, Octave(size));
  const std::string limited = fmt::format("{}|l{}", sized, Octave(limit));
  const std::string own = fmt::format("{}|o{}", limited, Octave(static_cast<double>(own_pending)));
  return {own, limited, sized, queued, pool, fits, job.partition, "*"};
}

void WaitHistory::Started(const StateKeys& state, double wait_seconds, double weight) {
  for (const std::string& key : state) {
    std::deque<WeightedWait>& waits = last_[key];
    waits.push_back({wait_seconds, weight});
    if (waits.size() > kKept) waits.pop_front();
  }
}

WaitDistribution WaitHistory::From(const StateKeys& state, size_t level) const {
  for (; level < kStateLevels; ++level) {
    const auto found = last_.find(state[level]);
    if (found == last_.end()) continue;
    if (found->second.size() < kEnough && level + 1 < kStateLevels) continue;
    return WaitDistribution::OfWeighted({found->second.begin(), found->second.end()});
  }
  return {};
}

WaitDistribution WaitHistory::LikeStates(const StateKeys& state) const { return From(state, 0); }

WaitDistribution WaitHistory::InPartition(const StateKeys& state) const {
  return From(state, kPartitionLevel);
}

}  // namespace gpuadvise
