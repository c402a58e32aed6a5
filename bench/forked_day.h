// A day of a log, replayed with what was known at each moment, and played on from there with the
// run times that everybody really had.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "backtest/job_log.h"
#include "backtest/replay.h"
#include "common/base/error.h"
#include "common/history/forecast_history.h"
#include "common/scheduler/queue_model.h"
#include "common/slurm/snapshot.h"

namespace gpuadvise::backtest {

// One way to run a training.
struct Alternative {
  std::string gpu;
  int64_t gpus = 1;  // on one node
  double hours = 1;  // of the whole training
  std::string partition;
};

struct Moment {
  UnixSeconds time = 0;
  double share = 1;  // of the whole training
  std::string user;
};

// A day's jobs on its cluster.
struct LoggedDay {
  Snapshot cluster;
  JobLog log;
};

// CLUSTER.yaml and LOG.csv.gz, or a DAY.workload.csv, which is simulated. Errors: as their readers.
Result<LoggedDay> LoadDay(const std::string& cluster, const std::string& log);

// "GPU:COUNT=HOURS,…"; leaves out what the cluster does not have.
std::vector<Alternative> AlternativesOf(const std::string& text, const Snapshot& cluster);

double SecondsOf(const Alternative& alternative, const Moment& moment);
JobRequest RequestOf(const Alternative& alternative, double seconds);

// `count` moments after a tenth of the day, so that there is some history, by submitters in their
// frequency. `least_share`: of the training.
std::vector<Moment> MomentsOf(const JobLog& log, size_t count, double least_share);

class ForkedDay {
 public:
  explicit ForkedDay(const LoggedDay& day);

  // Calls `visit(i)` at each of `moments`, which ascend.
  void Visit(const std::vector<Moment>& moments, const std::function<void(size_t)>& visit);

  // What the product knows at `now`, which is the moment being visited.
  std::shared_ptr<const QueueModel> QueueAt(UnixSeconds now);

  // The day as it goes on: all later jobs wait already and become eligible at their time, everybody
  // runs as long as in truth. One sample. Valid while this lives.
  std::shared_ptr<const QueueModel> TruthAt(UnixSeconds now);

  // A priority behind everybody submitted before `now`, ahead of everybody after.
  int64_t PriorityAt(UnixSeconds now) const;

 private:
  void Learn(const LogEvent& event);

  const JobLog& log_;
  Replay replay_;
  ForecastHistory past_;
  ForecastHistory nothing_;
  std::unordered_map<int64_t, double> run_seconds_;
};

}  // namespace gpuadvise::backtest
