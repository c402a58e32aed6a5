// CPU time allowed for one answer, over all its threads.
//
// Problem. Lists and texts of a question are bounded, but their combinations multiply (jobs ×
// partitions × samples of the queue), and an answer that takes seconds delays others.
// Idea. Each thread adds its CPU time to one sum. Long work calls Spent() between two pieces and
// stops if it returns true; a partial result is then never used as an answer (stopped()). CPU time
// rather than wall time: a busy machine makes answers late, not wrong.
//
// An ordinary question is always answered, even on a slow machine: beyond three quarters of
// `enough`, HasRoom() drops optional parts, and the answer reports it (gave_up()). Only work of
// kMostTimes as long is stopped.
//
// Thread-safe. The caller provides the clock.
#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "common/base/error.h"

namespace gpuadvise {

class WorkBudget {
 public:
  using CpuTime = std::function<std::chrono::nanoseconds()>;  // of the calling thread

  static constexpr int kMostTimes = 12;

  WorkBudget(std::chrono::nanoseconds enough, CpuTime cpu_time)
      : enough_(enough), cpu_time_(std::move(cpu_time)) {}
  WorkBudget(const WorkBudget&) = delete;
  WorkBudget& operator=(const WorkBudget&) = delete;

  // Counts the calling thread's CPU time while it lives. Nested shares on one thread count once.
  class Share {
   public:
    explicit Share(WorkBudget& budget) : budget_(budget), first_(budget.Begin()) {}
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;
    ~Share() {
      if (first_) budget_.End();
    }

   private:
    WorkBudget& budget_;
    bool first_;
  };

  // Whether to stop. Once true, always true.
  bool Spent();

  // Whether there is time for optional parts. Once false, always false. Stops nothing.
  bool HasRoom();

  // Whether optional parts were dropped.
  bool gave_up() const;

  // Whether work was stopped: the result is incomplete.
  bool stopped() const;

  // Used by all threads; excludes the current work of threads other than the caller.
  std::chrono::nanoseconds used() const;

  // The error for a stopped answer.
  Error error() const;

 private:
  bool Begin();
  void End();
  std::chrono::nanoseconds Used() const;  // REQUIRES: mutex_ held

  const std::chrono::nanoseconds enough_;
  const CpuTime cpu_time_;
  mutable std::mutex mutex_;  // guards all below
  std::chrono::nanoseconds done_{0};
  std::vector<std::pair<std::thread::id, std::chrono::nanoseconds>> working_;  // start of each
  bool gave_up_ = false;
  bool stopped_ = false;
};

}  // namespace gpuadvise
