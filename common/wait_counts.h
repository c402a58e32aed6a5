// Waits counted on a logarithmic scale: small, and any number of counts can be added up before a
// quantile is asked for.
//
// Each class is 1.2 times as wide as the one before, so that a quantile is within 10 % of the wait
// of that rank. Waits under a second are one class; those over kLongestWait count as that long.
// Values; not thread-safe while they change.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace gpuadvise {

inline constexpr int64_t kLongestWait = int64_t{57} * 7 * 86'400;  // seconds
inline constexpr size_t kWaitClasses = 98;

/// The class of a wait, and the wait that stands for all of a class (their geometric middle).
size_t WaitClassOf(int64_t seconds);
double SecondsOfClass(size_t wait_class);

/// The waits of one hour: only the classes that occur.
class SparseWaits {
 public:
  /// `by` may be negative: what was counted before is taken back.
  void Add(size_t wait_class, int by);

  struct Count {
    uint8_t wait_class = 0;
    int32_t jobs = 0;
  };
  const std::vector<Count>& counts() const { return counts_; }

 private:
  std::vector<Count> counts_;  // in the order of classes, none of 0
};

/// Waits of many hours.
class WaitCounts {
 public:
  void Add(const SparseWaits& waits);
  int64_t jobs() const { return jobs_; }

  /// The wait of rank ceil(share * jobs), seconds; nullopt of none. REQUIRES: 0 < share <= 1.
  std::optional<double> Quantile(double share) const;

 private:
  std::array<int64_t, kWaitClasses> counts_{};
  int64_t jobs_ = 0;
};

}  // namespace gpuadvise
