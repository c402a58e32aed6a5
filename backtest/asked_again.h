// How right is a forecast that is asked for again and again while its job waits?
//
// A user who looks every few minutes wants a start that stays where it is: ranges that hold at
// every age of the job, and an expected start that on average neither recedes nor comes nearer.
// Waits and ages in seconds; each job weighs 1 / jobs of its burst.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "common/forecast/start_of.h"

namespace gpuadvise::backtest {

// What was said once of a job that waited, and what came.
struct AskedAgain {
  int64_t job_id = 0;
  double age = 0;   // since it became eligible
  double left = 0;  // until it started; until it left or the log ended, where it did not start
  bool started = true;
  double weight = 1;
  double p10 = 0;
  double p50 = 0;
  double p90 = 0;
};

AskedAgain AskedAgainOf(const StartSamples& said);

// Of all that was said at ages in [from, to).
struct AgainScores {
  double from = 0;
  double to = 0;
  int64_t asked = 0;
  double coverage_p10 = 0;  // shares of starts at or before the quantile, of waits over a minute
  double coverage_p50 = 0;
  double coverage_p90 = 0;
  double median_abs_error = 0;  // of the p50
  // How far the start at the p50 moves until the next question, or to the real start, over the time
  // that passes: 0 for a promise that holds, 1 for one that recedes as fast as the clock runs. Not
  // of the mean, which a few samples that never start decide.
  double drift = 0;
  // Share of questions whose p50 is more than a quarter and ten minutes off the one before.
  double jumps = 0;
};

// By age: up to 10 min, 1 h, 4 h, 12 h, longer, and all together at the end; buckets without a
// question are left out. `said`: of each job in the order of time.
std::vector<AgainScores> ScoresByAge(const std::vector<AskedAgain>& said);

std::string AgainTable(const std::vector<AgainScores>& scores);
nlohmann::json AgainJson(const std::vector<AgainScores>& scores);

}  // namespace gpuadvise::backtest
