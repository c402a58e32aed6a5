// What would following the advice on time limits have brought? Jobs of a recorded or made day are
// advised with what was known at their submission; each is then played on twice with the run times
// that everybody really had, with its own limit and with the advised one.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "backtest/back_test.h"
#include "backtest/job_log.h"
#include "common/slurm/snapshot.h"

namespace gpuadvise::backtest {

// One job that was told a shorter limit. Times in seconds.
struct LimitCase {
  int64_t job_id = 0;
  int64_t own_limit = 0, limit = 0;
  double promised = 0;                         // how much sooner
  double promised_low = 0, promised_high = 0;  // p10 and p90 of that
  double played = 0;                           // the same by the simulation's samples alone
  bool sure = false;                           // one figure was said
  double risk = 0;
  double came = 0;      // how much sooner it was
  double own_wait = 0;  // with its own limit
  double wait = 0;      // with the advised one
  double run = 0;       // that it needs
  bool cut() const { return run > static_cast<double>(limit); }
};

// A stated risk and whether the run was longer, of every limit on the ladder of every job asked.
struct RiskCase {
  double risk = 0;
  bool longer = false;
};

struct LimitsResult {
  std::vector<LimitCase> advised;
  std::vector<RiskCase> risks;
  int64_t asked = 0;      // jobs that were asked about and would wait kWorthSeconds or more
  int64_t not_known = 0;  // of those: whose risk is not known
  double asked_wait = 0;  // what those asked waited, in all, with their own limits
};

// A day on which everybody who was told a shorter limit takes it, beside the same day with their
// own limits, both played; whoever is cut submits again at once with the own limit. Seconds.
struct FollowedDay {
  int64_t jobs = 0, followers = 0, cut = 0;
  double own_median = 0, median = 0;                  // wait of those who follow
  double own_mean = 0, mean = 0;                      // wait of everybody
  double own_mean_to_result = 0, mean_to_result = 0;  // of everybody, cut runs done again
  double own_mean_of_others = 0, mean_of_others = 0;  // wait of those who were told nothing
};
FollowedDay FollowEverybody(const JobLog& log, const Snapshot& cluster, const LimitsResult& told);

// `options.sample`: the share of the jobs that is asked about; `from` and `to` as in scores.
LimitsResult RunLimits(const JobLog& log, const Snapshot& cluster, const BackTestOptions& options,
                       const std::function<void(size_t, size_t)>& progress);

std::string LimitsTable(const LimitsResult& result, const FollowedDay& followed);
nlohmann::json LimitsJson(const LimitsResult& result, const FollowedDay& followed);

}  // namespace gpuadvise::backtest
