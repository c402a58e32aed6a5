// How much time the forecasts may take that users cause by claiming to have submitted jobs: one is
// made at once as long as there is credit, else with the next snapshot or the next claim that has
// some. A user has kShare of the time and all of them kShareOfAll, saved up for a burst: a loop of
// sbatch that `select` spreads needs each of its jobs seen by the next. Not thread-safe.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>

#include "common/base/unix_time.h"

namespace gpuadvise::daemon {

class PlanBudget {
 public:
  static constexpr double kShare = 0.05;
  static constexpr double kShareOfAll = 0.2;
  static constexpr double kBurstSeconds = 1;  // of one user: 30 to 100 forecasts of a usual cluster
  static constexpr double kBurstSecondsOfAll = 5;
  static constexpr double kLeastSeconds = 0.01;  // of one forecast, with all who are told of it

  bool MayPlan(int64_t uid, UnixSeconds now) {
    Refill(now);
    const auto own = users_.find(uid);
    return all_ > 0 && (own == users_.end() || own->second > 0);
  }

  void Spend(int64_t uid, double seconds, UnixSeconds now) {
    Refill(now);
    seconds = std::max(seconds, kLeastSeconds);
    all_ -= seconds;
    users_.try_emplace(uid, kBurstSeconds).first->second -= seconds;
  }

 private:
  // A clock that was put back gives nothing and takes nothing.
  void Refill(UnixSeconds now) {
    const auto passed = static_cast<double>(std::max<int64_t>(now - at_, 0));
    at_ = now;
    all_ = std::min(all_ + passed * kShareOfAll, kBurstSecondsOfAll);
    for (auto& [uid, credit] : users_) credit += passed * kShare;
    std::erase_if(users_, [](const auto& user) { return user.second >= kBurstSeconds; });
  }

  UnixSeconds at_ = 0;
  double all_ = kBurstSecondsOfAll;
  std::map<int64_t, double> users_;  // uid -> credit in seconds, of those who spent some
};

}  // namespace gpuadvise::daemon
