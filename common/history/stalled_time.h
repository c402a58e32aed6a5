// Time in which somebody's jobs waited and none ran: what waiting costs a person.
#pragma once

#include <cstdint>
#include <vector>

#include "common/base/unix_time.h"

namespace gpuadvise {

// The jobs of one user, told in any order. 64 bytes a job. A value.
class StalledTime {
 public:
  // A job waited from `eligible` on, started at `start` and ended at `end`.
  void Ran(UnixSeconds eligible, UnixSeconds start, UnixSeconds end);

  // A job has waited since `eligible`, or will.
  void Waits(UnixSeconds eligible);

  // The seconds between `from` and `until` in which a job waited and none ran.
  int64_t SecondsBetween(UnixSeconds from, UnixSeconds until) &&;

 private:
  struct Step {
    UnixSeconds at = 0;
    int32_t waiting = 0;  // more than before
    int32_t running = 0;
  };
  std::vector<Step> steps_;
};

}  // namespace gpuadvise
