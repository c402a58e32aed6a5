#include "common/job_shape.h"

#include <algorithm>
#include <cassert>

#include "common/node_filter.h"

namespace gpuadvise {
namespace {

int64_t RoundUp(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

int64_t MemoryFor(const PoolNode& node, const JobShape& shape, int64_t cpus) {
  if (shape.whole_memory) return node.capacity.memory_mib;
  return std::max(shape.memory_per_node_mib, shape.memory_per_cpu_mib * cpus);
}

bool GpusFit(const PoolNode& node, const JobShape& shape, const Resources& free) {
  int64_t wanted = 0;
  for (const GpuNeed& need : shape.gpus_per_node) {
    if (FreeGpus(node, free, need.type) < need.count) return false;
    wanted += need.count;
  }
  if (wanted > FreeGpus(node, free, -1)) return false;
  if (shape.shards_per_node == 0) return true;
  // A GPU is handed out whole or as shards, and the shards of one job lie on one GPU.
  const int64_t whole = node.capacity.TotalGpus() - free.TotalGpus() + wanted;
  return shape.shards_per_node <= node.shards_per_gpu &&
         shape.shards_per_node <= free.shards - whole * node.shards_per_gpu;
}

bool NobodyElse(const PoolNode& node, const Resources& free, bool count_memory) {
  return free.cpus >= node.capacity.cpus && free.shards >= node.capacity.shards &&
         free.gpus == node.capacity.gpus &&
         (!count_memory || free.memory_mib >= node.capacity.memory_mib);
}

void FillMemory(const NodePool& pool, const SchedulerConfig& config, const Partition& partition,
                const JobRequest& request, JobShape& shape) {
  if (!pool.memory_is_counted()) return;
  const SlurmNumber per_node = request.memory_per_node_mib;
  const SlurmNumber per_cpu = request.memory_per_cpu_mib;
  if (per_node.has_value() && per_node.value() > 0) {
    shape.memory_per_node_mib = per_node.value();
  } else if (!per_node.has_value() && per_cpu.has_value() && per_cpu.value() > 0) {
    shape.memory_per_cpu_mib = per_cpu.value();
  } else if (!per_node.has_value() && !per_cpu.has_value()) {
    const bool own = partition.default_memory_per_cpu_mib.value_or(0) > 0 ||
                     partition.default_memory_per_node_mib.value_or(0) > 0;
    shape.memory_per_cpu_mib = own ? partition.default_memory_per_cpu_mib.value_or(0)
                                   : config.default_memory_per_cpu_mib.value_or(0);
    shape.memory_per_node_mib = own ? partition.default_memory_per_node_mib.value_or(0)
                                    : config.default_memory_per_node_mib.value_or(0);
  }
  // Slurm's "0" and a missing default both mean all the memory of the node.
  shape.whole_memory = shape.memory_per_node_mib == 0 && shape.memory_per_cpu_mib == 0;
}

Result<void> FillGpus(const NodePool& pool, const Partition& partition,
                      const std::vector<int32_t>& members, const JobRequest& request,
                      JobShape& shape) {
  for (const auto& [from, to] : {std::pair{&request.gpus_per_node, &shape.gpus_per_node},
                                 std::pair{&request.gpus_total, &shape.gpus_total}}) {
    for (const GpuCount& gpu : *from) {
      if (gpu.count <= 0) continue;
      const int32_t type = gpu.type.empty() ? -1 : pool.FindGpuType(gpu.type);
      if (type < 0 && !gpu.type.empty()) return NoSuchGpu(pool, partition, members, gpu.type);
      to->push_back({type, gpu.count});
    }
    // Typed GPUs first, so that the untyped rest is taken from what they leave.
    std::stable_sort(to->begin(), to->end(),
                     [](const GpuNeed& a, const GpuNeed& b) { return a.type > b.type; });
  }
  return {};
}

}  // namespace

int64_t FreeGpus(const PoolNode& node, const Resources& free, int32_t type) {
  int64_t whole = free.TotalGpus();
  if (node.shards_per_gpu > 0) {
    whole -= RoundUp(node.capacity.shards - free.shards, node.shards_per_gpu) / node.shards_per_gpu;
  }
  if (type < 0) return whole;
  const int slot = node.SlotOf(type);
  return slot < 0 ? 0 : std::min<int64_t>(whole, free.gpus[static_cast<size_t>(slot)]);
}

bool HasSomeOf(const PoolNode& node, const Resources& free, const std::vector<GpuNeed>& needs) {
  if (needs.empty()) return true;
  return std::any_of(needs.begin(), needs.end(),
                     [&](const GpuNeed& need) { return FreeGpus(node, free, need.type) > 0; });
}

bool CanServe(const NodePool& pool, const PoolNode& node, const JobShape& shape,
              const Resources& free, int64_t tasks) {
  const int64_t cpus = pool.WholeCores(node, shape.cpus(tasks));
  if (cpus > free.cpus || cpus > shape.max_cpus_per_node) return false;
  if (MemoryFor(node, shape, cpus) > free.memory_mib && pool.memory_is_counted()) return false;
  if (shape.whole_node && !NobodyElse(node, free, pool.memory_is_counted())) return false;
  return GpusFit(node, shape, free);
}

int64_t TasksThatFit(const NodePool& pool, const PoolNode& node, const JobShape& shape,
                     const Resources& free, int64_t most) {
  const int64_t cpus = std::min(free.cpus, shape.max_cpus_per_node);
  int64_t tasks = std::min(most, cpus / shape.cpus_per_task);
  if (shape.memory_per_cpu_mib > 0) {
    tasks = std::min(tasks, free.memory_mib / (shape.memory_per_cpu_mib * shape.cpus_per_task));
  }
  while (tasks > 0 && !CanServe(pool, node, shape, free, tasks)) {
    // Only whole cores can still be in the way of fewer tasks; anything else needs no more tries.
    if (node.threads_per_core == 1) return 0;
    --tasks;
  }
  return std::max<int64_t>(tasks, 0);
}

Result<void> SetTimes(const NodePool& pool, const Snapshot& snapshot, const Partition& partition,
                      const JobRequest& request, JobShape& shape) {
  SlurmNumber limit = request.time_limit_seconds;
  if (limit.absent()) limit = partition.default_time_seconds;
  if (limit.absent()) limit = partition.max_time_seconds;
  shape.duration = limit.has_value() ? std::max<int64_t>(RoundUp(limit.value(), 60), 60) : kNever;
  shape.earliest = std::max<int64_t>(request.begin_time.value_or(0) - snapshot.taken_at, 0);
  shape.latest = kNever;
  shape.reservation = -1;
  if (request.reservation.empty()) return {};
  shape.reservation = pool.FindReservation(request.reservation);
  if (shape.reservation < 0) return NoSuchReservation(pool, request.reservation);
  const Reservation& reservation = pool.reservations()[static_cast<size_t>(shape.reservation)];
  if (reservation.start_time) {
    shape.earliest = std::max(shape.earliest, *reservation.start_time - snapshot.taken_at);
  }
  if (reservation.end_time) shape.latest = *reservation.end_time - snapshot.taken_at;
  if (shape.latest > shape.earliest) return {};
  return Fail(ErrorCode::kInfeasible, "reservation '" + reservation.name +
                                          "' is over before the job may start; leave it out");
}

Result<JobShape> ShapeOf(const NodePool& pool, const Snapshot& snapshot, const Partition& partition,
                         const std::vector<int32_t>& members, const JobRequest& request) {
  JobShape shape;
  shape.cpus_per_task = std::max<int64_t>(request.cpus_per_task, 1);
  shape.nodes_min = std::max<int64_t>({request.nodes_min, partition.min_nodes, 1,
                                       static_cast<int64_t>(request.required_nodes.size())});
  shape.nodes_max = std::max(request.nodes_max, shape.nodes_min);
  shape.tasks = std::max(
      RoundUp(std::max<int64_t>(request.cpus, 1), shape.cpus_per_task) / shape.cpus_per_task,
      shape.nodes_min);
  shape.max_cpus_per_node = partition.max_cpus_per_node.value_or(kNever);
  if (shape.max_cpus_per_node <= 0) shape.max_cpus_per_node = kNever;
  shape.shards_per_node = request.shards_per_node;
  shape.whole_node = request.exclusive || partition.exclusive || pool.whole_nodes_only();
  FillMemory(pool, snapshot.config, partition, request, shape);
  if (auto filled = FillGpus(pool, partition, members, request, shape); !filled) {
    return tl::unexpected(filled.error());
  }
  if (auto timed = SetTimes(pool, snapshot, partition, request, shape); !timed) {
    return tl::unexpected(timed.error());
  }
  if (auto chosen = ChooseNodes(pool, partition, members, request, shape); !chosen) {
    return tl::unexpected(chosen.error());
  }
  return shape;
}

}  // namespace gpuadvise
