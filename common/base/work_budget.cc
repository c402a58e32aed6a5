#include "common/base/work_budget.h"

#include <fmt/format.h>

#include <algorithm>

namespace gpuadvise {

using std::chrono::nanoseconds;

bool WorkBudget::Spent() {
  const std::lock_guard lock(mutex_);
  stopped_ = stopped_ || Used() >= kMostTimes * enough_;
  return stopped_;
}

bool WorkBudget::HasRoom() {
  constexpr int kParts = 4;  // the last part must fit one more piece
  const std::lock_guard lock(mutex_);
  gave_up_ = gave_up_ || stopped_ || Used() >= enough_ - enough_ / kParts;
  return !gave_up_;
}

bool WorkBudget::gave_up() const {
  const std::lock_guard lock(mutex_);
  return gave_up_;
}

bool WorkBudget::stopped() const {
  const std::lock_guard lock(mutex_);
  return stopped_;
}

nanoseconds WorkBudget::used() const {
  const std::lock_guard lock(mutex_);
  return Used();
}

Error WorkBudget::error() const {
  return {ErrorCode::kBadInput,
          fmt::format(
              "the question is too large: it needs more than {} ms of CPU time, {} times "
              "what is meant for an answer about this cluster (answer_cpu_time in "
              "gpuadvised.yaml); ask about fewer jobs, job arrays, stages or measured lines "
              "at once",
              std::chrono::duration_cast<std::chrono::milliseconds>(kMostTimes * enough_).count(),
              kMostTimes),
          ""};
}

bool WorkBudget::Begin() {
  const auto self = std::this_thread::get_id();
  const std::lock_guard lock(mutex_);
  const bool known = std::any_of(working_.begin(), working_.end(),
                                 [&](const auto& each) { return each.first == self; });
  if (!known) working_.emplace_back(self, cpu_time_());
  return !known;
}

void WorkBudget::End() {
  const auto self = std::this_thread::get_id();
  const std::lock_guard lock(mutex_);
  const auto own = std::find_if(working_.begin(), working_.end(),
                                [&](const auto& each) { return each.first == self; });
  done_ += cpu_time_() - own->second;
  working_.erase(own);
}

nanoseconds WorkBudget::Used() const {
  const auto self = std::this_thread::get_id();
  const auto own = std::find_if(working_.begin(), working_.end(),
                                [&](const auto& each) { return each.first == self; });
  return own == working_.end() ? done_ : done_ + (cpu_time_() - own->second);
}

}  // namespace gpuadvise
