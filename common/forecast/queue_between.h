// The queue at a moment between two snapshots: the earlier snapshot plus later events.
//
// A forecast is made for the moment of a submission, which lies between two snapshots. Takes events
// in order of time. Jobs change the free resources of nodes; nothing else changes. Not thread-safe.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>

#include "common/forecast/queue_watch.h"
#include "common/slurm/snapshot.h"

namespace gpuadvise {

class QueueBetween {
 public:
  explicit QueueBetween(Snapshot before);

  // Ignores events of unknown jobs.
  void Apply(const JobEvent& event);

  // The queue as a snapshot taken at `now`.
  std::shared_ptr<const Snapshot> At(UnixSeconds now) const;

 private:
  void Take(const Job& job, int64_t sign);
  void Remove(int64_t job_id);

  Snapshot queue_;
  std::unordered_map<std::string, size_t> nodes_;
  std::unordered_map<int64_t, size_t> jobs_;
};

}  // namespace gpuadvise
