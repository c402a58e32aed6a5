#include "common/scheduler/simulated_shares.h"

#include <algorithm>
#include <cmath>

namespace gpuadvise {
namespace {

// Updates within a time of any length, roughly: what changes slowly need not be computed often.
constexpr int64_t kUpdatesInATime = 8;

// PriorityCalcPeriod, or its default where it is not known.
int64_t PeriodOf(const SchedulerConfig& config) {
  return config.priority_calc_period_seconds > 0 ? config.priority_calc_period_seconds : 300;
}

}  // namespace

SimulatedShares::SimulatedShares(const QueueModel& queue)
    : tree_(queue.fair_shares()),
      period_(PeriodOf(queue.snapshot().config)),
      weight_(static_cast<double>(queue.snapshot().config.weights.fair_share)),
      half_life_(static_cast<double>(queue.snapshot().config.priority_decay_half_life_seconds)) {
  if (!tree_.empty()) tree_.FindFactors(tree_.usage(), 1, at_first_);
}

void SimulatedShares::Restart() {
  now_ = 0;
  next_ = tree_.empty() ? kNever : period_;
  decayed_ = 1;
  usage_ = tree_.usage();
  rates_.assign(usage_.size(), 0);
  gained_.assign(usage_.size(), 0);
}

void SimulatedShares::Add(int32_t leaf, double billing) {
  if (leaf >= 0 && !rates_.empty()) rates_[static_cast<size_t>(leaf)] += billing;
}

bool SimulatedShares::Update(int64_t now) {
  const auto passed = static_cast<double>(now - now_);
  const double decay = half_life_ > 0 ? std::exp2(-passed / half_life_) : 1;
  // The mean decay of what is used meanwhile.
  const double used = half_life_ > 0 ? (1 - decay) * half_life_ / std::log(2.0) : passed;
  decayed_ *= decay;
  for (size_t i = 0; i < usage_.size(); ++i) {
    usage_[i] = usage_[i] * decay + std::max(rates_[i], 0.0) * used;
  }
  now_ = now;
  next_ = now + std::max(period_, now / kUpdatesInATime);
  tree_.FindFactors(usage_, decayed_, factors_);
  bool changed = false;
  for (size_t i = 0; i < factors_.size(); ++i) {
    const int64_t gained = std::llround(weight_ * (factors_[i] - at_first_[i]));
    changed = changed || gained != gained_[i];
    gained_[i] = gained;
  }
  return changed;
}

}  // namespace gpuadvise
