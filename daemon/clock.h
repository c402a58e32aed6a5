// The wall clock as a seam. Unix seconds; safe from any thread.
#pragma once

#include <chrono>

#include "common/snapshot.h"

namespace gpuadvise {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual UnixSeconds Now() const = 0;
};

class SystemClock : public Clock {
 public:
  UnixSeconds Now() const override {
    return std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  }
};

}  // namespace gpuadvise
