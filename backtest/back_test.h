// The back-test: every submission of a log forecast with what was known then, through StartOf.
//
// Replay and learning go strictly in the order of time; the simulations of some submissions at a
// time, which depend on nothing learned from each other, run on several threads.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "backtest/asked_again.h"
#include "backtest/job_log.h"
#include "backtest/replay.h"
#include "backtest/scoring.h"
#include "common/forecast/start_of.h"
#include "common/history/wait_forecast.h"
#include "common/slurm/snapshot.h"

namespace gpuadvise::backtest {

// A job that nobody submitted: when would it start?
struct Hypothetical {
  UnixSeconds time = 0;  // after everything that happens in this second
  JobRequest request;
  Submitter submitter;
};

struct HypotheticalAnswer {
  StartSamples start;
  SimulatedWait simulated;
};

struct BackTestOptions {
  double from = 0;        // share of the submissions before which nothing is scored
  double to = 1;          // … and after which nothing is
  std::string partition;  // only this one's; "": all
  double sample = 1;      // share of the bursts that are forecast
  uint64_t seed = 1;
  int samples = 24;           // of the simulation
  size_t play_once_from = 0;  // as in SimulationOptions
  unsigned threads = 1;
  std::vector<Hypothetical> hypotheticals;  // ascending by time
  int64_t again_seconds = 0;  // every so often all that wait are asked about again; 0: never
  // Called with everything that is learned from, in order; the forecast of a submission that was
  // asked, else nullptr. Empty: nobody watches.
  std::function<void(const LogEvent&, const LogJob&, const WaitForecast*)> watch;
};

struct BackTestResult {
  std::vector<Scored> jobs;
  std::vector<Result<HypotheticalAnswer>> hypotheticals;  // one for each that was asked
  std::vector<AskedAgain> again;                          // in the order of time
  int64_t submissions = 0;                                // in the log, of the partition
  int64_t impossible = 0;    // the cluster of the file could never run them
  int64_t without_room = 0;  // started though the cluster of the file had no room
  double wall_seconds = 0;   // filled by the caller
};

// `progress(done, of)` is called now and then.
BackTestResult RunBackTest(const JobLog& log, const Snapshot& cluster,
                           const BackTestOptions& options,
                           const std::function<void(size_t, size_t)>& progress);

}  // namespace gpuadvise::backtest
