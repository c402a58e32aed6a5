#include "common/scheduler/job_requirements.h"

#include <algorithm>
#include <utility>

#include "common/scheduler/node_filter.h"
#include "common/slurm/policy.h"

namespace gpuadvise {
namespace {

int64_t RoundUp(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

void FillMemory(const NodePool& pool, const SchedulerConfig& config, const Partition& partition,
                const JobRequest& request, JobRequirements& requirements) {
  if (!pool.memory_is_counted()) return;
  const SlurmNumber per_node = request.memory_per_node_mib;
  const SlurmNumber per_cpu = request.memory_per_cpu_mib;
  if (per_node.has_value() && per_node.value() > 0) {
    requirements.memory_per_node_mib = per_node.value();
  } else if (!per_node.has_value() && per_cpu.has_value() && per_cpu.value() > 0) {
    requirements.memory_per_cpu_mib = per_cpu.value();
  } else if (!per_node.has_value() && !per_cpu.has_value()) {
    const bool own = partition.default_memory_per_cpu_mib.value_or(0) > 0 ||
                     partition.default_memory_per_node_mib.value_or(0) > 0;
    requirements.memory_per_cpu_mib = own ? partition.default_memory_per_cpu_mib.value_or(0)
                                          : config.default_memory_per_cpu_mib.value_or(0);
    requirements.memory_per_node_mib = own ? partition.default_memory_per_node_mib.value_or(0)
                                           : config.default_memory_per_node_mib.value_or(0);
  }
  // In Slurm, "0" and a missing default both mean all memory of the node.
  requirements.whole_memory =
      requirements.memory_per_node_mib == 0 && requirements.memory_per_cpu_mib == 0;
}

Result<void> FillGpus(const NodePool& pool, const Partition& partition,
                      const std::vector<int32_t>& members, const JobRequest& request,
                      JobRequirements& requirements) {
  for (const auto& [from, to] : {std::pair{&request.gpus_per_node, &requirements.gpus_per_node},
                                 std::pair{&request.gpus_total, &requirements.gpus_total}}) {
    for (const GpuCount& gpu : *from) {
      if (gpu.count <= 0) continue;
      const int32_t type = gpu.type.empty() ? -1 : pool.FindGpuType(gpu.type);
      if (type < 0 && !gpu.type.empty()) return NoSuchGpu(pool, partition, members, gpu.type);
      to->push_back({type, gpu.count});
    }
    // Typed GPUs first; untyped ones take from the rest.
    std::stable_sort(to->begin(), to->end(),
                     [](const GpuNeed& a, const GpuNeed& b) { return a.type > b.type; });
  }
  return {};
}

}  // namespace

Result<void> SetTimes(const NodePool& pool, const Snapshot& snapshot, const Partition& partition,
                      const JobRequest& request, JobRequirements& requirements) {
  SlurmNumber limit = request.time_limit_seconds;
  if (limit.absent()) limit = partition.default_time_seconds;
  if (limit.absent()) limit = partition.max_time_seconds;
  requirements.duration =
      limit.has_value() ? std::max<int64_t>(RoundUp(limit.value(), 60), 60) : kNever;
  requirements.earliest = std::max<int64_t>(request.begin_time.value_or(0) - snapshot.taken_at, 0);
  requirements.latest = kNever;
  requirements.reservation = -1;
  if (request.reservation.empty()) return {};
  requirements.reservation = pool.FindReservation(request.reservation);
  if (requirements.reservation < 0)
    return NoSuchReservation(pool, request.reservation,
                             HasFlag(snapshot.config.private_data, "reservations"));
  const Reservation& reservation =
      pool.reservations()[static_cast<size_t>(requirements.reservation)];
  if (HasFlag(reservation.flags, "TIME_FLOAT")) {
    return Fail(ErrorCode::kInfeasible,
                "reservation '" + reservation.name +
                    "' has a floating start time, so no job can use it; leave it out");
  }
  if (reservation.start_time) {
    requirements.earliest =
        std::max(requirements.earliest, *reservation.start_time - snapshot.taken_at);
  }
  if (reservation.end_time) requirements.latest = *reservation.end_time - snapshot.taken_at;
  if (requirements.latest > requirements.earliest) return {};
  return Fail(ErrorCode::kInfeasible, "reservation '" + reservation.name +
                                          "' is over before the job may start; leave it out");
}

Result<JobRequirements> ResolveRequirements(const NodePool& pool, const Snapshot& snapshot,
                                            const Partition& partition,
                                            const std::vector<int32_t>& members,
                                            const JobRequest& request) {
  JobRequirements requirements;
  requirements.cpus_per_task = std::max<int64_t>(request.cpus_per_task, 1);
  requirements.nodes_min = std::max<int64_t>({request.nodes_min, partition.min_nodes, 1,
                                              static_cast<int64_t>(request.required_nodes.size())});
  requirements.nodes_max = std::max(request.nodes_max, requirements.nodes_min);
  requirements.tasks =
      std::max(RoundUp(std::max<int64_t>(request.cpus, 1), requirements.cpus_per_task) /
                   requirements.cpus_per_task,
               requirements.nodes_min);
  requirements.max_cpus_per_node = partition.max_cpus_per_node.value_or(kNever);
  if (requirements.max_cpus_per_node <= 0) requirements.max_cpus_per_node = kNever;
  requirements.partition = static_cast<int32_t>(&partition - snapshot.partitions.data());
  requirements.shards_per_node = request.shards_per_node;
  requirements.mps_per_node = request.mps_per_node;
  // OverSubscribe=FORCE rules out whole nodes for users. A node shared only by jobs of one user,
  // label or block counts as whole.
  const bool shared = SharedBy(partition) > 1;
  requirements.whole_node = (request.exclusive && !shared) || partition.exclusive ||
                            !request.exclusive_to.empty() || !partition.exclusive_to.empty() ||
                            pool.whole_nodes_only();
  FillMemory(pool, snapshot.config, partition, request, requirements);
  if (auto filled = FillGpus(pool, partition, members, request, requirements); !filled) {
    return tl::unexpected(filled.error());
  }
  if (auto timed = SetTimes(pool, snapshot, partition, request, requirements); !timed) {
    return tl::unexpected(timed.error());
  }
  if (auto chosen = ChooseNodes(pool, partition, members, request, requirements); !chosen) {
    return tl::unexpected(chosen.error());
  }
  return requirements;
}

}  // namespace gpuadvise
