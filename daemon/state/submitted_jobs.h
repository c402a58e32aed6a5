// The jobs that users say they have just submitted, until a snapshot shows them.
//
// Whoever may ask may claim any id, so a claim is bounded in every way: its id must be near the
// newest that Slurm has given (IsPlausible), one user has no more of them than the site lets them
// submit (MostClaims) and than kMaxBytesOfOne, and where all together are too many whoever has most
// loses their oldest. A claim dies as soon as a snapshot shows its id as somebody else's, and after
// three snapshots that do not show it; a user whose claims died so may make as many fewer, and one
// more again with each snapshot. If several users claim one id, the queue shows it as the last
// one's until the next snapshot tells whose it is. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "common/base/error.h"
#include "common/slurm/snapshot.h"

namespace gpuadvise::daemon {

// Who owns the ids under which `snapshot` shows jobs: each job's own and that of its array or het
// job.
using Owners = std::unordered_map<int64_t, int64_t>;
Owners OwnersOf(const Snapshot& snapshot);

// Where Slurm is with its ids, as a snapshot shows it.
struct NewestIds {
  int64_t largest = 0;  // 0: it shows no job
  int64_t newest = 0;   // of the newest submission: far below where ids have wrapped
  UnixSeconds newest_submit = 0;
};
NewestIds NewestIdsOf(const Snapshot& snapshot);

// Whether a job that `ids` does not show may have been given `id` by `now`. Slurm counts them up,
// wraps around, and gives the tasks of arrays further ones as they start.
bool IsPlausible(int64_t id, const NewestIds& ids, UnixSeconds now);

// How many jobs that `snapshot` does not show a user may have submitted: MaxSubmitJobs of their
// association and of the QOS, less what they have in the queue; kUsualClaims where there is no
// limit.
size_t MostClaims(const Snapshot& snapshot, const Job& job);

inline constexpr size_t kUsualClaims = 100;

// So many a user always has, where the limit is no lower: jobs that have left the queue since the
// snapshot make room that it does not show, and short jobs come and go between two.
inline constexpr int64_t kLeastClaims = 10;

// What became of a claim.
enum class ClaimNews {
  kNew,
  kRepeated,  // the user claims the job already
  kShown,     // the snapshot shows it as the user's: there is nothing to claim
};

class SubmittedJobs {
 public:
  static constexpr size_t kMost = 10'000;
  static constexpr int64_t kMaxBytesOfOne = int64_t{8} << 20;
  static constexpr int kPollsUntilForgotten = 3;

  // A snapshot came.
  void Settle(const Snapshot& snapshot);

  // Errors: kNotFound for a job that cannot be the user's, kUnavailable where they have claimed
  // too many. REQUIRES: `base` is the snapshot that came last; `now` by its clock.
  Result<ClaimNews> Add(Job job, const Snapshot& base, UnixSeconds now);

  // One of each id, for the queue.
  std::vector<Job> Jobs() const;

  bool empty() const { return claims_.empty(); }

 private:
  struct Claim {
    Job job;
    int64_t bytes = 0;
    int polls_without = 0;
  };
  struct Held {
    size_t claims = 0;
    int64_t bytes = 0;
  };

  std::map<int64_t, Held> HeldByUser() const;
  bool MakeRoomFor(int64_t uid);
  size_t MostOf(const Snapshot& base, const Job& job) const;

  Owners owners_;  // of the last snapshot
  NewestIds ids_;
  std::map<int64_t, int64_t> unfounded_;  // uid -> claims that died without having been theirs
  std::vector<Claim> claims_;             // in the order in which they came
};

}  // namespace gpuadvise::daemon
