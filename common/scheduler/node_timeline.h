// What is free on one node from now on: a step function of time, as the plan so far leaves it.
//
// Times are seconds from the snapshot; the first step starts at 0 and the last one never ends.
// Amounts are counts, not identities: jobs that each keep k of n equal GPUs over an interval can
// always be given fixed ones when the counts never exceed n (interval graphs are perfect), so a
// plan of counts is a plan of GPUs. A value: copy it to try something; safe from any thread.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/base/unix_time.h"

namespace gpuadvise {

// GRES types that one node can have and the plan can tell apart. GPUs of further types are not
// planned with (whole cards and seven MIG profiles make eight).
inline constexpr size_t kMaxGpuTypesPerNode = 8;

// Amounts on one node. `gpus` are by the node's own slots (PoolNode::gpu_types).
struct Resources {
  int64_t cpus = 0;
  int64_t memory_mib = 0;
  int64_t shards = 0;     // or gres/mps, where the node has that
  int32_t any_gpus = 0;   // of whatever type, those counted in `gpus` as well
  int32_t part_cpus = 0;  // of `cpus`: for jobs of PoolNode::limited_partition
  std::array<int32_t, kMaxGpuTypesPerNode> gpus{};

  Resources& operator+=(const Resources& other);
  Resources& operator-=(const Resources& other);
  friend Resources operator+(Resources a, const Resources& b) { return a += b; }
  friend Resources operator-(Resources a, const Resources& b) { return a -= b; }
  int64_t TotalGpus() const {
    int64_t total = 0;
    for (const int32_t count : gpus) total += count;
    return total;
  }
  friend auto operator<=>(const Resources&, const Resources&) = default;
};

class NodeTimeline {
 public:
  explicit NodeTimeline(const Resources& capacity) : starts_{0}, free_{capacity} {}

  // Takes `amount` during [from, to). REQUIRES: 0 <= from. An empty interval takes nothing.
  void Take(int64_t from, int64_t to, const Resources& amount);

  // Starts again: `free` from `now` on, for ever.
  void Reset(int64_t now, const Resources& free);

  // `amount` comes free at `time`, after everything so far. REQUIRES: no step starts later.
  void ReleaseLast(int64_t time, const Resources& amount);

  // Steps, by index: [Start(i), Start(i + 1)) has Free(i); the last one never ends.
  size_t size() const { return starts_.size(); }
  int64_t Start(size_t step) const { return starts_[step]; }
  const Resources& Free(size_t step) const { return free_[step]; }

  // Index of the step that holds at `time`; the first one for a time before it.
  size_t StepAt(int64_t time) const {
    if (time <= starts_.front()) return 0;
    if (time >= starts_.back()) return starts_.size() - 1;
    const auto after = std::upper_bound(starts_.begin(), starts_.end(), time);
    return static_cast<size_t>(after - starts_.begin()) - 1;
  }

  friend auto operator<=>(const NodeTimeline&, const NodeTimeline&) = default;

 private:
  size_t SplitAt(int64_t time);

  std::vector<int64_t> starts_;  // ascending; apart from free_, because searches touch nothing else
  std::vector<Resources> free_;  // parallel; neighbours may be equal
};

}  // namespace gpuadvise
