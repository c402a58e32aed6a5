// Replays the events of a log in order and gives the queue that was visible at any moment.
//
// At equal times: ends, then starts of jobs submitted earlier, then each submission followed by its
// own immediate start. A job counts as submitted when it became eligible. It gets the nodes named
// in the log, else the fullest ones that fit. A job without room (the log may use more nodes than
// the cluster file has) runs anyway and is counted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "backtest/job_log.h"
#include "common/forecast/start_of.h"
#include "common/history/forecast_history.h"
#include "common/scheduler/queue_model.h"
#include "common/slurm/job_record.h"
#include "common/slurm/snapshot.h"

namespace gpuadvise::backtest {

enum class LogEventKind { kEnd, kStart, kSubmit, kVanish };

struct LogEvent {
  UnixSeconds time = 0;
  LogEventKind kind = LogEventKind::kSubmit;
  size_t job = 0;  // index in the log
};

// All events in order. Jobs without an end have no end event.
std::vector<LogEvent> ListEvents(const JobLog& log);

JobRequest RequestOf(const LogJob& job);
Submitter SubmitterOf(const LogJob& job);
JobRecord RecordOf(const LogJob& job);

// `job` as learned from its submission, with the forecast that `queue` gives it then.
PastJob SubmissionWithForecast(const LogJob& job, const QueueModel& queue);

class Replay {
 public:
  // REQUIRES: `log` outlives this; `cluster` comes from ClusterOf.
  Replay(const JobLog& log, Snapshot cluster);

  void Apply(const LogEvent& event);

  // The snapshot Slurm would have given at `now`.
  Snapshot At(UnixSeconds now) const;

  bool AnyWaits() const;

  // A waiting job as Slurm would show it.
  Job Waiting(size_t job) const;

  // The cluster without jobs.
  const Snapshot& cluster() const { return cluster_; }

  // Number of starts for which the cluster file's nodes did not suffice.
  int64_t without_room() const { return without_room_; }

 private:
  struct Present {
    size_t job = 0;
    bool running = false;
    std::vector<Allocation> allocations;
  };

  std::vector<Allocation> Allocate(const LogJob& job);
  void Give(const LogJob& job, size_t node, std::vector<Allocation>& allocations);
  void Free(const Present& present);
  Job JobOf(const Present& present, UnixSeconds now) const;

  const JobLog& log_;
  Snapshot cluster_;
  std::vector<std::vector<size_t>> members_;  // nodes by partition
  std::unordered_map<std::string, size_t> partition_index_;
  std::unordered_map<std::string, size_t> node_index_;
  std::vector<int64_t> free_cpus_;
  std::vector<int64_t> free_gpus_;
  std::vector<Present> present_;
  std::unordered_map<size_t, size_t> place_;  // job -> index in present_
  int64_t without_room_ = 0;
};

}  // namespace gpuadvise::backtest
