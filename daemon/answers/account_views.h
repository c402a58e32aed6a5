// What accounts wait for and what they have used, as pure functions (docs/api.md has the shapes).
//
// An account is named to whom Slurm would show its jobs; all that others have is one row without a
// name. Safe from any thread: everything comes in as an argument.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/advise/advice_context.h"
#include "common/api/accounts.h"
#include "common/base/local_time.h"
#include "common/forecast/queue_starts.h"
#include "common/gpu/gpu_naming.h"
#include "common/history/stalled_time.h"
#include "common/history/usage_history.h"

namespace gpuadvise::daemon {

// Accounts of one answer at most; the others are one row without a name.
inline constexpr size_t kMostAccounts = 50;

// GET /v1/waiting: how many GPUs the cluster has, uses and is asked for, and for each account what
// waits and why. Jobs with GPUs alone. O(nodes + jobs). `starts`: StartsInQueue(context.queue).
nlohmann::json AnswerWaiting(const AdviceContext& context, const QueueStarts& starts,
                             const Submitter& caller);

// A job with GPUs that ran.
struct JobRun {
  std::string user;
  std::string account;
  std::string gpu;  // GRES type
  int64_t gpus = 0;
  UnixSeconds eligible = 0;
  UnixSeconds start = 0;
  UnixSeconds end = 0;
};

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

  // What lies before since() is left out.
  void Add(const JobRun& run);

  // GET /v1/usage, with the prices of the GPU catalogue. Jobs that run now are added from the
  // snapshot. Call once.
  api::Usage Answer(const UsageRights& rights, const AdviceContext& context,
                    const Submitter& caller) &&;

 private:
  struct Use {
    int64_t jobs = 0;
    std::vector<int64_t> gpu_seconds;  // by week
    std::vector<SparseWaits> waits;    // by week
  };
  UnixSeconds now_;
  std::vector<UnixSeconds> week_starts_;
  std::map<std::pair<std::string, std::string>, Use> uses_;  // by account and GRES type
};

// What waits and runs now, of an account or a user.
struct QueueSums {
  int64_t pending = 0;
  int64_t pending_gpus = 0;
  int64_t running = 0;
  int64_t running_gpus = 0;
  std::optional<UnixSeconds> oldest_submit;  // of what waits
  std::optional<UnixSeconds> next_start;     // the median of the first

  void AddPending(const Job& job, const QueueStarts& starts, UnixSeconds now);
  void AddRunning(const Job& job);
  QueueSums& operator+=(const QueueSums& more);
};

// Users of one answer at most; the others are one row without a name.
inline constexpr size_t kMostUsers = 200;

struct UsersQuestion {
  int64_t weeks = 4;    // 1 to kMostUsageWeeks, back from the snapshot
  std::string account;  // only its jobs; "" all
};

// What each user runs, waits for and has used, summed up run by run. Of those whom `rights` leave
// out only the median wait of the whole cluster is told.
class UserSums {
 public:
  UserSums(UsersQuestion question, UsageRights rights, UnixSeconds now);

  UnixSeconds since() const { return since_; }

  void Add(const JobRun& run);

  // GET /v1/users. Jobs that run or wait now are added from the snapshot. `starts`: as above. Call
  // once. REQUIRES: the caller has a name.
  api::Users Answer(const AdviceContext& context, const QueueStarts& starts,
                    const Submitter& caller) &&;

 private:
  struct Sum {
    std::set<std::string> accounts;
    QueueSums queue;
    int64_t jobs = 0;
    int64_t gpu_seconds = 0;
    std::vector<int64_t> waits;  // of jobs that started in these weeks
    StalledTime times;           // of one user
    int64_t stalled_seconds = 0;
    Sum& operator+=(const Sum& more);
  };

  static api::UserActivity RowOf(const std::optional<std::string>& user, const Sum& sum);
  Sum* SumFor(const std::string& user, const std::string& account);  // null: not to be told
  void AddQueue(const Snapshot& snapshot, const QueueStarts& starts, const Submitter& caller);

  UsersQuestion question_;
  UsageRights rights_;
  UnixSeconds now_;
  UnixSeconds since_;
  std::map<std::string, Sum> users_;
  std::set<std::string> accounts_;
  std::vector<int64_t> waits_;  // of everybody's jobs
};

}  // namespace gpuadvise::daemon
