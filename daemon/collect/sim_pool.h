// One GPU type of the simulated cluster: its nodes, queue and running jobs.
//
// Jobs start first in, first out with EASY backfill, as with Slurm's basic priority: the job at the
// head reserves the earliest time at which it fits if every running job lasts to its limit, and a
// later job may start first only if that reservation holds. Jobs of different GPU types never delay
// each other, so each type has its own queue. Allocations never exceed a node's CPUs, memory or
// GPUs.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "daemon/collect/sim_workload.h"

namespace gpuadvise::collect {

class SimPool {
 public:
  // REQUIRES: all nodes alike, with one GPU type.
  explicit SimPool(std::vector<Node> nodes) : nodes_(std::move(nodes)) {}

  // Appends `job` to the queue; StartWhatFits starts jobs.
  void Submit(SimJob job) { queue_.push_back(std::move(job)); }

  // The next actual end of a running job; nullopt: none runs.
  std::optional<UnixSeconds> NextEnd() const;
  // Ends every job whose end is at or before `now`.
  void EndJobs(UnixSeconds now);
  // Ends a running or waiting job; returns false if there is no such job.
  bool EndJob(int64_t id);
  // Whether the request fits the idle pool.
  bool CouldRun(const JobRequest& request) const;
  // Starts the jobs that the scheduler would start at `now`.
  void StartWhatFits(UnixSeconds now);

  // Start and nodes of the head of the queue if every running job lasts to its limit.
  struct Promise {
    UnixSeconds start = 0;
    std::vector<Allocation> where;
  };
  // REQUIRES: a non-empty queue whose head fits the idle pool.
  Promise PromiseToHead(UnixSeconds now) const;

  // Pending GPU-hours at time limits per GPU of the pool.
  double BacklogHours() const;

  const std::vector<Node>& nodes() const { return nodes_; }
  const std::deque<SimJob>& queue() const { return queue_; }
  const std::vector<SimJob>& running() const { return running_; }

 private:
  void Start(SimJob job, std::vector<Allocation> where, UnixSeconds now);
  bool KeepsPromise(const SimJob& job, const std::vector<Allocation>& where, const Promise& promise,
                    UnixSeconds now) const;

  std::vector<Node> nodes_;
  std::deque<SimJob> queue_;
  std::vector<SimJob> running_;
};

// Allocations for `request` on the fullest nodes where it fits now; empty: it does not fit.
std::vector<Allocation> GroupDemand(const std::vector<Node>& nodes, const JobRequest& request);

}  // namespace gpuadvise::collect
