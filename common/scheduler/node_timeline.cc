#include "common/scheduler/node_timeline.h"

#include <algorithm>
#include <cassert>

namespace gpuadvise {

void NodeTimeline::Reset(int64_t now, const Resources& free) {
  starts_.assign(1, now);
  free_.assign(1, free);
}

void NodeTimeline::ReleaseLast(int64_t time, const Resources& amount) {
  assert(time >= starts_.back());
  if (time > starts_.back()) {
    const Resources before = free_.back();
    starts_.push_back(time);
    free_.push_back(before);
  }
  free_.back() += amount;
}

size_t NodeTimeline::SplitAt(int64_t time) {
  const size_t at = StepAt(time);
  if (starts_[at] == time) return at;
  const auto next = static_cast<std::ptrdiff_t>(at) + 1;
  starts_.insert(starts_.begin() + next, time);
  const Resources same = free_[at];
  free_.insert(free_.begin() + next, same);
  return at + 1;
}

void NodeTimeline::Take(int64_t from, int64_t to, const Resources& amount) {
  from = std::max(from, starts_.front());
  if (from >= to) return;
  const size_t first = SplitAt(from);
  const size_t last = to >= kNever ? free_.size() : SplitAt(to);
  for (size_t i = first; i < last; ++i) free_[i] -= amount;
}

}  // namespace gpuadvise
