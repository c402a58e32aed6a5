// The simulated cluster as a function of seed and time: a discrete-event simulation without a
// clock. Advancing in one step or in many gives the same world. Not thread-safe. A simulated day
// takes about 10 ms.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "common/slurm/snapshot.h"
#include "daemon/collect/sim_pool.h"
#include "daemon/collect/sim_workload.h"

namespace gpuadvise::collect {

class SimWorld {
 public:
  // Idle at `begin`.
  SimWorld(uint64_t seed, UnixSeconds begin);

  // Adds an external job, queued when the world reaches its submission, at once if that has passed.
  // Ignores a job that no node could ever run.
  void Submit(SimJob job);
  // Ends a job when the world reaches `at`, at once if that has passed.
  void End(int64_t job_id, UnixSeconds at);

  // Simulates up to and including `t`. Does nothing if `t` has been reached before.
  void AdvanceTo(UnixSeconds t);

  // Slurm's view of the cluster in canonical form. `taken_at` is the time reached.
  Snapshot TakeSnapshot() const;

 private:
  struct Part {
    const PoolHabits* habits;
    SimPool pool;
    Rng rng;
    UnixSeconds next_arrival;
  };

  // An external event: a job or the end of one.
  struct Outside {
    std::optional<SimJob> submitted;
    int64_t ended = 0;
  };

  void Take(Outside event, UnixSeconds t);
  UnixSeconds NextEvent(const Part& part) const;
  void Step(Part& part, UnixSeconds t);
  void Arrive(Part& part, UnixSeconds t);

  Snapshot cluster_;  // idle; never changes
  std::vector<SimUser> users_;
  std::vector<Part> parts_;
  std::multimap<UnixSeconds, Outside> outside_;
  UnixSeconds now_;
  int64_t next_job_id_ = 1001;
};

}  // namespace gpuadvise::collect
