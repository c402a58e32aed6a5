// What accounts wait for and what they have used, as pure functions (docs/api.md has the shapes).
//
// An account is named to whom Slurm would show its jobs; all that others have is one row without a
// name. Safe from any thread: everything comes in as an argument.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "common/advise/advice_context.h"
#include "common/api/accounts.h"
#include "common/base/local_time.h"
#include "common/forecast/queue_starts.h"
#include "common/gpu/gpu_naming.h"
#include "common/history/usage_history.h"

namespace gpuadvise::daemon {

// Accounts of one answer at most; the others are one row without a name.
inline constexpr size_t kMostAccounts = 50;

// GET /v1/waiting: how many GPUs the cluster has, uses and is asked for, and for each account what
// waits and why. Jobs with GPUs alone. O(nodes + jobs). `starts`: StartsInQueue(context.queue).
nlohmann::json AnswerWaiting(const AdviceContext& context, const QueueStarts& starts,
                             const Submitter& caller);

// Weeks of GET /v1/usage at most.
inline constexpr int64_t kMostUsageWeeks = 26;

struct UsageQuestion {
  int64_t weeks = 8;  // 1 to kMostUsageWeeks, the last of which is not over
};

// Whose use `caller` may be told by account: everybody's, their own (`user`), or nobody's.
struct UsageRights {
  bool named = false;     // accounts have names
  std::string user = {};  // only this user's jobs; "" everybody's
};
UsageRights RightsToUsage(const Snapshot& snapshot, const Submitter& caller);

// GPU-hours by account and week, summed up run by run.
class UsageSums {
 public:
  // Weeks begin on Mondays of the wall clock; the last is that of `now`.
  UsageSums(const UsageQuestion& question, UnixSeconds now, const LocalTime& local);

  // When the first week begins.
  UnixSeconds since() const { return week_starts_.front(); }

  // A job of `account` with so many GPUs of GRES type `gpu` ran from `start` to `end`. What lies
  // before since() is left out.
  void Add(const std::string& account, const std::string& gpu, int64_t gpus, UnixSeconds start,
           UnixSeconds end);

  // GET /v1/usage, with the prices of the GPU catalogue. Jobs that run now are added from the
  // snapshot. Call once.
  api::Usage Answer(const UsageRights& rights, const AdviceContext& context,
                    const Submitter& caller) &&;

 private:
  struct Use {
    int64_t jobs = 0;
    std::vector<int64_t> gpu_seconds;  // by week
  };
  UnixSeconds now_;
  std::vector<UnixSeconds> week_starts_;
  std::map<std::pair<std::string, std::string>, Use> uses_;  // by account and GRES type
};

}  // namespace gpuadvise::daemon
