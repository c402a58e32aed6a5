// Events between two snapshots: jobs submitted, started, ended, removed.
//
// Times are Slurm's own if the snapshot has them, otherwise the middle of the possible interval. A
// job whose id returns with another submission (wrapped ids, a reset slurmctld) is a new job. A job
// counts as submitted when it becomes eligible: not while held, dependent or before its begin time.
// Clocks may jump: no event is later than the snapshot or earlier than the job's submission. Not
// thread-safe.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "common/slurm/snapshot.h"

namespace gpuadvise {

enum class JobEventKind {
  kEnded,     // after running
  kVanished,  // left the queue without having been seen running, or was requeued
  kStarted,
  kSubmitted,  // became eligible, or known
};

struct JobEvent {
  JobEventKind kind = JobEventKind::kSubmitted;
  UnixSeconds time = 0;
  Job job;  // last seen state
  friend bool operator==(const JobEvent&, const JobEvent&) = default;
};

class QueueWatch {
 public:
  // Events since the last call, in order. At equal times: ends, removals, starts of waiting jobs,
  // then submissions with immediate starts.
  std::vector<JobEvent> See(const Snapshot& snapshot);

  // Number of jobs in the last snapshot.
  size_t known() const { return known_.size(); }

 private:
  struct Known {
    Job job;
    uint64_t round = 0;
    bool told = false;  // whether its submission was reported
  };
  struct Ordered {
    JobEvent event;
    int phase = 0;
  };

  void Appear(Known& known, const Job& job, UnixSeconds now, std::vector<Ordered>& events) const;
  void Change(Known& known, const Job& after, UnixSeconds now, std::vector<Ordered>& events) const;
  // It left by `by` at the latest.
  void Leave(const Known& known, UnixSeconds by, std::vector<Ordered>& events) const;

  std::unordered_map<int64_t, Known> known_;
  UnixSeconds last_ = 0;  // time of the previous snapshot; 0: none
  uint64_t round_ = 0;
};

}  // namespace gpuadvise
