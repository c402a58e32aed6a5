// The back-test: forecasts every submission of a log from what was known then, through StartOf.
//
// Replay and learning follow the order of time. The simulations of a batch of submissions, which
// do not depend on each other's outcomes, run on several threads.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "backtest/job_log.h"
#include "backtest/replay.h"
#include "backtest/scoring.h"
#include "common/history/wait_forecast.h"
#include "common/slurm/snapshot.h"

namespace gpuadvise::backtest {

// One forecast of a waiting job after its submission, and the outcome. Times in seconds;
// bench/asked_again.py scores them.
struct AskedAgain {
  int64_t job_id = 0;
  double age = 0;   // since it became eligible
  double left = 0;  // until its start, else until it left the queue or the log ended
  bool started = true;
  double weight = 1;  // 1 / jobs of its burst
  double p10 = 0, p50 = 0, p90 = 0;
};

struct BackTestOptions {
  double from = 0;        // share of the submissions skipped before scoring begins
  double to = 1;          // share at which scoring ends
  std::string partition;  // scores this one only; "": all
  double sample = 1;      // share of the bursts that are forecast
  uint64_t seed = 1;
  int samples = 24;               // per simulation
  size_t simulate_once_from = 0;  // as in SimulationOptions
  unsigned threads = 1;
  int64_t again_seconds = 0;  // interval at which all waiting jobs are forecast again; 0: never
  // Called with each event the learner sees, in order, and with the forecast if the event is a
  // scored submission, else nullptr. May be empty.
  std::function<void(const LogEvent&, const LogJob&, const WaitForecast*)> watch;
};

struct BackTestResult {
  std::vector<Scored> jobs;
  std::vector<AskedAgain> again;  // in the order of time
  int64_t submissions = 0;        // in the log, of the partition
  int64_t impossible = 0;         // jobs that the cluster file's nodes can never run
  int64_t without_room = 0;       // jobs that started although the cluster file had no room
  double wall_seconds = 0;        // filled by the caller
};

// Calls `progress(done, of)` from time to time.
BackTestResult RunBackTest(const JobLog& log, const Snapshot& cluster,
                           const BackTestOptions& options,
                           const std::function<void(size_t, size_t)>& progress);

}  // namespace gpuadvise::backtest
