#include "common/node_timeline.h"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace gpuadvise {

Resources& Resources::operator+=(const Resources& other) {
  cpus += other.cpus;
  memory_mib += other.memory_mib;
  shards += other.shards;
  for (size_t i = 0; i < gpus.size(); ++i) gpus[i] += other.gpus[i];
  return *this;
}

Resources& Resources::operator-=(const Resources& other) {
  cpus -= other.cpus;
  memory_mib -= other.memory_mib;
  shards -= other.shards;
  for (size_t i = 0; i < gpus.size(); ++i) gpus[i] -= other.gpus[i];
  return *this;
}

int64_t Resources::TotalGpus() const {
  return std::accumulate(gpus.begin(), gpus.end(), int64_t{0});
}

Resources Least(const Resources& a, const Resources& b) {
  Resources least;
  least.cpus = std::min(a.cpus, b.cpus);
  least.memory_mib = std::min(a.memory_mib, b.memory_mib);
  least.shards = std::min(a.shards, b.shards);
  for (size_t i = 0; i < least.gpus.size(); ++i) least.gpus[i] = std::min(a.gpus[i], b.gpus[i]);
  return least;
}

size_t NodeTimeline::StepAt(int64_t time) const {
  assert(time >= 0);
  const auto after = std::upper_bound(steps_.begin(), steps_.end(), time,
                                      [](int64_t t, const Step& step) { return t < step.start; });
  return static_cast<size_t>(after - steps_.begin()) - 1;
}

size_t NodeTimeline::SplitAt(int64_t time) {
  const size_t at = StepAt(time);
  if (steps_[at].start == time) return at;
  const auto next = steps_.begin() + static_cast<std::ptrdiff_t>(at) + 1;
  steps_.insert(next, Step{time, steps_[at].free});
  return at + 1;
}

void NodeTimeline::Take(int64_t from, int64_t to, const Resources& amount) {
  if (from >= to) return;
  const size_t first = SplitAt(from);
  const size_t last = to >= kNever ? steps_.size() : SplitAt(to);
  for (size_t i = first; i < last; ++i) steps_[i].free -= amount;
}

Resources NodeTimeline::FreeThroughout(int64_t from, int64_t to) const {
  size_t at = StepAt(from);
  Resources free = steps_[at].free;
  for (++at; at < steps_.size() && steps_[at].start < to; ++at) free = Least(free, steps_[at].free);
  return free;
}

}  // namespace gpuadvise
