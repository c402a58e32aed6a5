// A job's requirements, and whether one node meets them: GPUs, shards, MPS, whole-core CPUs,
// memory.
//
// Pure functions over an immutable NodePool; safe from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "common/base/unix_time.h"
#include "common/scheduler/node_pool.h"

namespace gpuadvise {

struct GpuNeed {
  int32_t type = -1;  // index in NodePool::gpu_types(); -1: any type
  int64_t count = 0;
  friend bool operator==(const GpuNeed&, const GpuNeed&) = default;
};

struct JobRequirements {
  std::shared_ptr<const std::vector<int32_t>> nodes;  // eligible when empty, ascending
  std::vector<int32_t> required;                      // subset of `nodes` that must all be used
  int64_t nodes_min = 1;
  int64_t nodes_max = 1;
  int64_t tasks = 1;  // over all nodes, at least one on each
  int64_t cpus_per_task = 1;
  int64_t max_cpus_per_node = kNever;
  int64_t memory_per_node_mib = 0;
  int64_t memory_per_cpu_mib = 0;
  bool whole_memory = false;  // all memory of each node
  bool whole_node = false;    // exclusive nodes
  std::vector<GpuNeed> gpus_per_node;
  std::vector<GpuNeed> gpus_total;
  int64_t shards_per_node = 0;
  int64_t mps_per_node = 0;
  int64_t duration = kNever;  // seconds that the plan keeps its nodes
  int64_t earliest = 0;       // begin time, reservation
  int64_t latest = kNever;    // end of the reservation: no start from then on
  int32_t reservation = -1;   // index in NodePool::reservations()
  int32_t partition = -1;     // index in Snapshot::partitions

  int64_t cpus(int64_t task_count) const { return task_count * cpus_per_task; }
};

// Whether `tasks` tasks, with GPUs, shards and memory for one node, fit into `free` on `node`.
bool CanServe(const NodePool& pool, const PoolNode& node, const JobRequirements& requirements,
              const Resources& free, int64_t tasks);

// Number of tasks that fit into `free` on `node`, up to `most`; 0 if it is unsuitable.
int64_t TasksThatFit(const NodePool& pool, const PoolNode& node,
                     const JobRequirements& requirements, const Resources& free, int64_t most);

// Free GPUs of one type (-1: any) without shards in use.
int64_t FreeGpus(const PoolNode& node, const Resources& free, int32_t type);

// Whether at least one of the needed GPUs is free; true without needs.
bool HasSomeOf(const PoolNode& node, const Resources& free, const std::vector<GpuNeed>& needs);

}  // namespace gpuadvise
