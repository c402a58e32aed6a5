// Follows one job of the caller, or the sweep that an array of that number is of, from the queue to
// its end, one check at a time.
//
// A check asks the daemon. It gives the state in one line, whether a log needs a new line for it,
// and what is told once: a start that moved, a strategy that is now clearly better, a daemon that
// went away. No clock and no terminal: client/commands/watch_command.cc has those. Not thread-safe.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "client/api/daemon_client.h"
#include "client/commands/sweep_watch.h"
#include "client/commands/watch_status.h"
#include "common/api/experiment.h"
#include "common/api/queue.h"
#include "common/base/error.h"
#include "common/runs/outcome.h"

namespace gpuadvise::client {

struct WatchCaller {
  uid_t uid = 0;     // whose outcome files are believed
  std::string user;  // whose jobs are watched that the log does not know; "": none
};

class JobWatch {
 public:
  // `complete` adds to a sweep's counts what the daemon does not know; nullptr: nothing.
  JobWatch(std::string job_id, WatchCaller caller, Api& api,
           std::function<void(api::SweepProgress&)> complete = nullptr)
      : job_id_(std::move(job_id)),
        caller_(std::move(caller)),
        api_(api),
        complete_(std::move(complete)) {}

  WatchStatus Step(int64_t now);

 private:
  WatchStatus Observe(int64_t now);
  Result<api::Experiment> AskForJob();
  Result<api::Experiment> AskForQueuedJob(const Error& unknown);
  WatchStatus Trouble(const Error& error);
  WatchStatus Waiting(const api::Experiment& job, int64_t now);
  WatchStatus Running(const api::Experiment& job, int64_t now);
  WatchStatus Ended(api::Experiment job, int64_t now);
  WatchStatus Unknown(const api::Experiment& job, int64_t now);
  void NoteMovedStart(const api::Seconds& wait, const std::optional<api::StartMoved>& moved,
                      int64_t now, WatchStatus& status);
  void NoteBetter(const api::Seconds& wait, const api::Experiment& job, int64_t now,
                  WatchStatus& status);
  void NoteOutOfRange(const api::Seconds& wait, int64_t now, WatchStatus& status);
  void NoteTrouble(const Attempt& attempt, int64_t now, WatchStatus& status);
  void NoteLimit(const api::Experiment& job, int64_t now, WatchStatus& status);
  bool IsNewState(const std::string& state);
  std::vector<Attempt> KnownAttempts(const api::Experiment& job) const;

  std::string job_id_;
  std::optional<api::SweepProgress> progress_;  // of the last look, where it is an array of a sweep
  SweepWatch sweep_;
  WatchCaller caller_;
  Api& api_;
  std::function<void(api::SweepProgress&)> complete_;
  std::string state_;  // of the last look
  std::string name_;
  std::string last_line_;  // shown again while the daemon is away
  bool seen_ = false;
  bool in_queue_only_ = false;  // submitted without us: how it ends will not be known
  bool away_ = false;
  int not_found_ = 0;
  int waiting_looks_ = 0;
  int ended_looks_ = 0;
  int unknown_looks_ = 0;
  bool was_in_queue_ = false;
  std::optional<int64_t> said_start_;
  std::string said_reason_;
  std::optional<std::pair<int64_t, int64_t>> said_range_;  // of its start, p10 or p50 to p90
  int64_t step_ = -1;                                      // that the training is at
  int64_t step_at_ = 0;                                    // since when
  std::set<std::string> told_;                             // of its troubles
  std::set<std::string> said_better_;
  size_t said_attempts_ = 0;
  double said_progress_ = -1;
  int64_t said_at_ = 0;
};

}  // namespace gpuadvise::client
