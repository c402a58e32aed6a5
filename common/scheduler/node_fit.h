// What one job needs, and whether one node has it: GPUs, shards and mps, CPUs in whole cores,
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
  int32_t type = -1;  // NodePool::gpu_types() index; -1: any type
  int64_t count = 0;
  friend bool operator==(const GpuNeed&, const GpuNeed&) = default;
};

struct JobRequirements {
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
  int64_t mps_per_node = 0;
  int64_t duration = kNever;  // seconds that the plan keeps its nodes
  int64_t earliest = 0;       // begin time, reservation
  int64_t latest = kNever;    // a reservation's end: no start from here on
  int32_t reservation = -1;   // NodePool::reservations() index
  int32_t partition = -1;     // index in Snapshot::partitions

  int64_t cpus(int64_t task_count) const { return task_count * cpus_per_task; }
};

// Whether `tasks` tasks with the GPUs, shards and memory of one node fit in `free` on `node`.
bool CanServe(const NodePool& pool, const PoolNode& node, const JobRequirements& requirements,
              const Resources& free, int64_t tasks);

// How many tasks `free` on `node` could take, at most `most`; 0 when it cannot serve at all.
int64_t TasksThatFit(const NodePool& pool, const PoolNode& node,
                     const JobRequirements& requirements, const Resources& free, int64_t most);

// Free GPUs of one type (-1: of any) that are not cut into shards in use.
int64_t FreeGpus(const PoolNode& node, const Resources& free, int32_t type);

// Whether at least one GPU of these is free; true when none are needed.
bool HasSomeOf(const PoolNode& node, const Resources& free, const std::vector<GpuNeed>& needs);

}  // namespace gpuadvise
