// What one job needs, resolved against one partition: which nodes may serve, how much of each, for
// how long and not before when.
//
// Defaults are filled in as Slurm does (memory and time limit of the partition, then of the
// cluster; no default memory at all means whole nodes of it), time limits are whole minutes, CPUs
// whole cores, and node counts grow where the tasks or GPUs cannot fit on fewer. Pure functions
// over an immutable NodePool; safe from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/error.h"
#include "common/node_pool.h"
#include "common/snapshot.h"

namespace gpuadvise {

struct GpuNeed {
  int32_t type = -1;  // NodePool::gpu_types() index; -1: any type
  int64_t count = 0;
  friend bool operator==(const GpuNeed&, const GpuNeed&) = default;
};

struct JobShape {
  std::shared_ptr<const std::vector<int32_t>> nodes;  // that could serve when empty, ascending
  std::vector<int32_t> required;                      // all of these must serve (part of `nodes`)
  int64_t nodes_min = 1;
  int64_t nodes_max = 1;
  int64_t tasks = 1;  // over all nodes, at least one on each
  int64_t cpus_per_task = 1;
  int64_t max_cpus_per_node = kNever;
  int64_t memory_per_node_mib = 0;
  int64_t memory_per_cpu_mib = 0;
  bool whole_memory = false;  // all memory of each node
  bool whole_node = false;    // nobody else on its nodes
  std::vector<GpuNeed> gpus_per_node;
  std::vector<GpuNeed> gpus_total;
  int64_t shards_per_node = 0;
  int64_t duration = kNever;  // seconds that the plan keeps its nodes
  int64_t earliest = 0;       // begin time, reservation
  int64_t latest = kNever;    // a reservation's end: no start from here on
  int32_t reservation = -1;   // NodePool::reservations() index

  int64_t cpus(int64_t task_count) const { return task_count * cpus_per_task; }
};

/// Whether `tasks` tasks with the GPUs, shards and memory of one node fit in `free` on `node`.
bool CanServe(const NodePool& pool, const PoolNode& node, const JobShape& shape,
              const Resources& free, int64_t tasks);

/// How many tasks `free` on `node` could take, at most `most`; 0 when it cannot serve at all.
int64_t TasksThatFit(const NodePool& pool, const PoolNode& node, const JobShape& shape,
                     const Resources& free, int64_t most);

/// Free GPUs of one type (-1: of any) that are not cut into shards in use.
int64_t FreeGpus(const PoolNode& node, const Resources& free, int32_t type);

/// Whether at least one GPU of these is free; true when none are needed.
bool HasSomeOf(const PoolNode& node, const Resources& free, const std::vector<GpuNeed>& needs);

/// The shape of `request` in `partition`, whose nodes are `members` (indices in `pool`, ascending).
///
/// Errors (kInfeasible, kNotFound, kBadInput) say which need leaves too few nodes, and which nodes,
/// GPU types or limits there are instead.
Result<JobShape> ShapeOf(const NodePool& pool, const Snapshot& snapshot, const Partition& partition,
                         const std::vector<int32_t>& members, const JobRequest& request);

/// Sets duration, earliest, latest and reservation: all that does not decide which nodes can serve.
/// Errors: kNotFound for an unknown reservation, kInfeasible for one that is over.
Result<void> SetTimes(const NodePool& pool, const Snapshot& snapshot, const Partition& partition,
                      const JobRequest& request, JobShape& shape);

}  // namespace gpuadvise
