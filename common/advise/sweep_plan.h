// Many runs of one training (a job array): how many of them to run where, so that the last is done
// first.
//
// Idea. Each GPU type is a lane in which tasks of an array start one after the other. A task's
// start in a lane does not depend on those behind it, so that of lanes which share nothing the
// k tasks that end first are the best split: the lanes' ends, merged by their means, then balanced
// so that the last end is earliest over all samples. Lanes that share a user's limits delay each
// other; therefore the split is simulated as it would be submitted, as one array a lane, and
// members move from the lane that ends last to the one that ends first while that helps. All runs
// on the best single lane are compared in the same futures. Members that wait already keep their
// place in the queue as long as they stay. Where the site's courtesy weighs what
// others lose by it, members move on while the sum is lower.
//
// Limits. Fair share does not change over time. Of a lane's counts of GPUs three are tried, with
// all members; one if there are many. The more members, the fewer samples (array_starts.h): for a
// thousand a few, of which quantiles say little. Cost: one simulation of all tasks for each lane,
// and a few of the split. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/advise/advice_context.h"
#include "common/advise/strategy.h"

namespace gpuadvise {

struct SweepSize {
  int64_t members = 1;
  int64_t throttle = 0;  // most at a time; 0: all
};

// Where members wait already.
struct WaitingShare {
  size_t strategy = 0;  // its place in the ranking, from 0; beyond its end: on none of them
  int64_t members = 0;
  int64_t priority = 0;  // Slurm's
};

// The members that one of the ranked strategies gets.
struct SweepShare {
  size_t strategy = 0;  // its place in the ranking, from 0
  int64_t members = 0;
  int64_t throttle = 0;    // of its array; 0: none
  int64_t at_a_time = 0;   // most at once, median
  double first_start = 0;  // seconds from the snapshot, median
  Spread last_end;
};

struct SweepPlan {
  std::vector<SweepShare> shares;  // in the order of the ranking
  Spread makespan;                 // seconds from the snapshot to the end of the last member
  double half_done = 0;            // to the end of half of them, median
  double gpu_hours = 0;
  size_t single = 0;  // the strategy that would be done first with all members
  Spread single_makespan;
  bool later_than_played = false;     // some members start beyond the simulated time
  std::optional<CausedDelay> delay;   // of others' jobs; nullopt: not told (DelayOf())
  std::optional<Spread> as_it_waits;  // the makespan of the waiting shares, where they are known
};

// Most members that are planned.
inline constexpr int64_t kMostMembers = 2'000;

// The plan for `size`; `ranked` as RankStrategies left them. Only strategies whose run is one job
// take part. nullopt: none does, or the answer's time is spent.
// `waiting`: where the members wait now; the plan uses these strategies of their GPUs.
// REQUIRES: 1 <= members <= kMostMembers.
std::optional<SweepPlan> PlanSweep(const AdviceContext& context, const Submitter& caller,
                                   const std::vector<Strategy>& ranked, const SweepSize& size,
                                   const std::vector<WaitingShare>& waiting = {});

}  // namespace gpuadvise
