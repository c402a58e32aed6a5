// What would have happened: the scheduler simulation with the run times that jobs really had and
// the submissions that really followed. The measure of a choice, never known to a forecast.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "backtest/job_log.h"
#include "backtest/replay.h"
#include "common/slurm/snapshot.h"

namespace gpuadvise::backtest {

class World {
 public:
  // REQUIRES: `log` outlives it.
  World(const JobLog& log, const Snapshot& cluster);

  // A job that nobody submitted, with the run time that it would really have.
  struct Extra {
    JobRequest request;
    std::string user;
    double run_seconds = 0;
  };

  // Seconds until `extra` would have started, had it been submitted at `now`, and everybody else
  // run on from there; nullopt when it does not within 30 days. REQUIRES: `now` does not go back.
  std::optional<double> WaitOf(const Extra& extra, UnixSeconds now);

  // Seconds until job `index` of the log would have started, for each time limit that it could
  // have been submitted with, everybody else as they were. nullopt: not within 30 days.
  // REQUIRES: `index` does not go back.
  std::vector<std::optional<double>> WaitsOf(size_t index, const std::vector<int64_t>& limits);

 private:
  Snapshot ForkAt(UnixSeconds now) const;

  const JobLog& log_;
  Replay replay_;
  std::vector<LogEvent> events_;
  size_t happened_ = 0;  // of events_
  std::unordered_map<int64_t, double> run_seconds_;
};

// The first partition with a node of `gpus` GPUs of a type; "" where there is none.
std::string PartitionWith(const Snapshot& cluster, const std::string& gpu, int64_t gpus);

// Plays the whole of `log` with these run times, by job id, and writes starts, ends and nodes into
// it, whatever they were. REQUIRES: sorted by eligible time (FinishLog).
void PlayLog(JobLog& log, const Snapshot& cluster,
             const std::unordered_map<int64_t, double>& run_seconds);

// A day of submissions as the lab's workload generators write it: columns t_s, user, gres
// (`type:count`), nodes, limit_min, runtime_s. Gives the log of that day on `cluster`, as the
// simulation plays it with those run times. Errors: as ParseCsvLog; kBadInput when `cluster` has
// none of the GPUs.
Result<JobLog> PlayWorkload(std::string_view text, const std::string& file,
                            const Snapshot& cluster);

}  // namespace gpuadvise::backtest
