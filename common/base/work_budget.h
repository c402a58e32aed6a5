// How much CPU time the answer to one question may take, whoever works on it.
//
// Problem. Lists and texts of a question are bounded, but what is made of them multiplies (jobs ×
// partitions × samples of the queue), and one answer that takes seconds is waited for by others.
// Idea. Every thread that works on an answer adds its own CPU time to one sum. Whoever goes through
// something long asks Spent() between two pieces and stops where it says so; what is there by then
// is no answer, and nobody gives it as one (stopped()). CPU time, not time: a busy machine makes
// answers late, not wrong.
//
// Safe from any thread. The time is the caller's to tell.
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

  WorkBudget(std::chrono::nanoseconds most, CpuTime cpu_time)
      : most_(most), cpu_time_(std::move(cpu_time)) {}
  WorkBudget(const WorkBudget&) = delete;
  WorkBudget& operator=(const WorkBudget&) = delete;

  // The calling thread works on the answer, as long as this lives. Within another of the same
  // thread it counts nothing twice.
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

  // Whether nothing more may be begun. Once it has said so it always does.
  bool Spent();

  // Whether there is time for what an answer can do without. Stops nobody.
  bool HasRoom() const;

  // Whether somebody was told to stop: what was made is not whole.
  bool stopped() const;

  // By all threads together; of other threads than this one without what they are at.
  std::chrono::nanoseconds used() const;

  // What a question is told whose answer was stopped.
  Error error() const;

 private:
  bool Begin();
  void End();
  std::chrono::nanoseconds Used() const;  // REQUIRES: mutex_ held

  const std::chrono::nanoseconds most_;
  const CpuTime cpu_time_;
  mutable std::mutex mutex_;  // guards all below
  std::chrono::nanoseconds done_{0};
  std::vector<std::pair<std::thread::id, std::chrono::nanoseconds>> working_;  // since when
  bool stopped_ = false;
};

}  // namespace gpuadvise
