// Slurm's queue order, and which pending jobs compete at all.
//
// Order: reservations, partition priority tier, priority, job id (submission). Held jobs, jobs with
// unmet dependencies and jobs over a limit neither block others nor get reservations until that
// changes, which no plan can know. Pure functions.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "common/base/unix_time.h"
#include "common/slurm/snapshot.h"

namespace gpuadvise {

// Place in the queue; smaller is earlier.
struct Rank {
  bool outside_reservations = true;
  int64_t tier = 0;      // higher first
  int64_t priority = 0;  // higher first
  int64_t job_id =
      std::numeric_limits<int64_t>::max();  // jobs not yet submitted come after their equals

  friend bool operator==(const Rank&, const Rank&) = default;
  friend std::strong_ordering operator<=>(const Rank& a, const Rank& b) {
    if (const auto c = a.outside_reservations <=> b.outside_reservations; c != 0) return c;
    if (const auto c = b.tier <=> a.tier; c != 0) return c;
    if (const auto c = b.priority <=> a.priority; c != 0) return c;
    return a.job_id <=> b.job_id;
  }
};

// Rank by the best tier among these partitions (indices in policy.partitions).
Rank MakeRank(const Snapshot& policy, const std::vector<size_t>& partitions, bool in_reservation,
              int64_t priority, int64_t job_id);

// Whether `reason` means that only time or someone's action lets the job compete: holds,
// dependencies, limits of QOS or association, a down partition. Not unavailable nodes: Slurm says
// so of every job that a reservation delays, and long after nodes are back; the nodes of the
// snapshot tell better.
bool IsHoldReason(std::string_view reason);

// Whether `reason` is a QOS or association limit on concurrent use, which clears when other jobs
// end.
bool IsLimitReason(std::string_view reason);

// Job ids in a dependency as printed by Slurm ("afterok:12(unfulfilled),afterany:13").
std::vector<int64_t> DependsOn(std::string_view dependency);

// Seconds from the snapshot until a pending job competes for resources: 0, its future begin time,
// or kNever while held. Ignores dependencies and usage limits. REQUIRES: the job is pending.
int64_t EligibleFrom(const Job& job, UnixSeconds now);

}  // namespace gpuadvise
