#include "common/base/work_budget.h"

#include <fmt/format.h>

#include <algorithm>

namespace gpuadvise {

using std::chrono::nanoseconds;

bool WorkBudget::Spent() {
  const std::lock_guard lock(mutex_);
  stopped_ = stopped_ || Used() >= most_;
  return stopped_;
}

bool WorkBudget::HasRoom() const {
  constexpr int kParts = 4;  // one more piece has to fit into the last
  const std::lock_guard lock(mutex_);
  return !stopped_ && Used() < most_ - most_ / kParts;
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
          fmt::format("the question is too large: it needs more than {} ms of CPU time, this "
                      "cluster's limit (answer_cpu_time in gpuadvised.yaml); ask about fewer jobs, "
                      "job arrays, stages or measured lines at once",
                      std::chrono::duration_cast<std::chrono::milliseconds>(most_).count()),
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
