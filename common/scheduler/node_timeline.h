// Free resources of one node over time: a step function that reflects the plan so far.
//
// Times are seconds from the snapshot; the first step starts at 0, the last one never ends. Amounts
// are counts, not identities. This suffices: jobs that each keep k of n equal GPUs over an interval
// can be given fixed GPUs if the counts never exceed n (interval graphs are perfect). A value: copy
// it to experiment; safe from any thread.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/base/unix_time.h"

namespace gpuadvise {

// Planned GRES types per node; GPUs of further types are ignored (whole cards and seven MIG
// profiles make eight).
inline constexpr size_t kMaxGpuTypesPerNode = 8;

// Amounts on one node. `gpus` are by node slot (PoolNode::gpu_types).
struct Resources {
  int64_t cpus = 0;
  int64_t memory_mib = 0;
  int64_t shards = 0;     // or gres/mps
  int32_t any_gpus = 0;   // total over types, including those in `gpus`
  int32_t part_cpus = 0;  // part of `cpus` used by jobs of PoolNode::limited_partition
  std::array<int32_t, kMaxGpuTypesPerNode> gpus{};

  Resources& operator+=(const Resources& other) {
    cpus += other.cpus;
    memory_mib += other.memory_mib;
    shards += other.shards;
    any_gpus += other.any_gpus;
    part_cpus += other.part_cpus;
    for (size_t i = 0; i < gpus.size(); ++i) gpus[i] += other.gpus[i];
    return *this;
  }
  Resources& operator-=(const Resources& other) {
    cpus -= other.cpus;
    memory_mib -= other.memory_mib;
    shards -= other.shards;
    any_gpus -= other.any_gpus;
    part_cpus -= other.part_cpus;
    for (size_t i = 0; i < gpus.size(); ++i) gpus[i] -= other.gpus[i];
    return *this;
  }
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

  // Subtracts `amount` in [from, to). REQUIRES: 0 <= from. An empty interval has no effect.
  void Take(int64_t from, int64_t to, const Resources& amount);

  // Resets to `free` from `now` on.
  void Reset(int64_t now, const Resources& free);

  // Frees `amount` at `time`, after all earlier steps. REQUIRES: no step starts later.
  void ReleaseLast(int64_t time, const Resources& amount);

  // Steps by index: Free(i) holds in [Start(i), Start(i + 1)); the last one never ends.
  size_t size() const { return starts_.size(); }
  int64_t Start(size_t step) const { return starts_[step]; }
  const Resources& Free(size_t step) const { return free_[step]; }

  // Index of the step at `time`; the first one for earlier times.
  size_t StepAt(int64_t time) const {
    if (time <= starts_.front()) return 0;
    if (time >= starts_.back()) return starts_.size() - 1;
    const auto after = std::upper_bound(starts_.begin(), starts_.end(), time);
    return static_cast<size_t>(after - starts_.begin()) - 1;
  }

  friend auto operator<=>(const NodeTimeline&, const NodeTimeline&) = default;

 private:
  size_t SplitAt(int64_t time);

  std::vector<int64_t> starts_;  // ascending; separate from free_ because searches read only this
  std::vector<Resources> free_;  // parallel to starts_; neighbours may be equal
};

}  // namespace gpuadvise
