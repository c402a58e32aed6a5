// What has become of each run of a sweep. Pure, but for QueuedTasks.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "client/records/slurm_query.h"
#include "client/sweep/sweep_folder.h"
#include "common/api/sweep.h"

namespace gpuadvise::client {

// A task in Slurm's queue.
struct QueuedTask {
  int64_t job = 0;  // its own id once it has begun; the array's before
  int64_t array = 0;
  int64_t task = 0;
  bool waits = false;  // it has not started
};

// The tasks of `user`'s arrays. Errors: squeue's.
Result<std::vector<QueuedTask>> QueuedTasks(SlurmQuery& slurm, const std::string& user);

enum class RunState {
  kWaiting,
  kRunning,
  kDone,
  kFailed,  // ended with another status than 0, or without one
  kLost,    // neither begun nor in the queue: cancelled, or never submitted
};

struct SweepRun {
  int64_t run = 0;
  RunState state = RunState::kLost;
  int64_t array = 0;          // in which it waits or runs
  bool taken = false;         // by a job: one that waits has begun before, and was requeued
  std::optional<int> status;  // of a failed one
};

// All runs, by number. A run is where the job is that has taken it, whatever array that is of.
// `queued` must be older than `taken`: a run that begins and ends between them
// is then done, and not lost.
std::vector<SweepRun> RunsOf(const SweepRecord& record, const std::vector<QueuedTask>& queued,
                             const std::map<int64_t, TakenRun>& taken);

// Counts as done and failed what accounting does not know of `progress` and `taken` does.
void CountEnded(const std::map<int64_t, TakenRun>& taken, api::SweepProgress& progress);

// How many are in `state`.
int64_t CountRuns(const std::vector<SweepRun>& runs, RunState state);

// "34 of 80 done, 12 running, 32 waiting, 2 failed (17, 40)".
std::string RunsInWords(const std::vector<SweepRun>& runs);

}  // namespace gpuadvise::client
