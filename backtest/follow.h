// What if everybody follows one rule? A made day on which every training chooses among its
// alternatives by that rule, simulated: what it gives them, and what it costs others.
//
// A row of the day with a `training` is an alternative of that training; rows without one are jobs
// of others. Trainings choose when they arrive, from what can be known then; all jobs run their
// true times. First in, first out, with backfill.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "backtest/job_log.h"
#include "common/slurm/snapshot.h"

namespace gpuadvise::backtest {

enum class FollowRule {
  kFastest,   // the shortest run time
  kTestOnly,  // the earliest end if every job ran to its limit, as sbatch --test-only plans
  kMedian,    // row 1 if an advice went by the median end alone
  kAdvise,    // row 1 of an advice
  kTold,      // row 1 of an advice that knows how long every present job will run
};

// nullopt: no such rule.
std::optional<FollowRule> FollowRuleOf(std::string_view word);

struct FollowOptions {
  FollowRule rule = FollowRule::kAdvise;
  double courtesy = 0;  // as in the daemon's settings
  int samples = 24;
  uint64_t seed = 1;
};

// REQUIRES: `day` comes from ReadWorkload. Errors: kBadInput if no row names a training.
Result<nlohmann::json> Follow(const JobLog& day, const Snapshot& cluster,
                              const FollowOptions& options,
                              const std::function<void(size_t done, size_t of)>& progress);

}  // namespace gpuadvise::backtest
