// Which pools of GPUs a job may be sent to that leaves GPU type or partition open. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/advise/one_job.h"
#include "common/slurm/submitter.h"

namespace gpuadvise {

struct OpenJob {
  JobRequest request;                // partitions empty: open; time limit absent: the partition's
  Submitter submitter;               // who asks
  std::vector<std::string> groups;   // of the caller, as he says; Slurm checks them again
  std::vector<std::string> avoided;  // partitions that are never chosen
  int64_t min_gpu_memory_bytes = 0;  // 0: any
  std::string name = {};             // of the job, for what is known of its like

  bool partition_fixed() const { return !request.partitions.empty(); }
  bool types_fixed() const {
    return NamesAType(request.gpus_per_node) || NamesAType(request.gpus_total);
  }
  int64_t gpus() const;  // that it asks for, per node or in all
};

// One kind of GPU in one partition; in all of them where the job names several.
struct Selectable {
  std::vector<const GpuPool*> pools;
  JobOptions options;
};

struct Unselectable {
  const GpuPool* pool = nullptr;
  std::string reason;
};

struct Selectables {
  std::vector<Selectable> possible;
  std::vector<Unselectable> impossible;
};

// Every pool that `job` may be sent to, and why not to the others. `pools` must outlive it.
Selectables FindSelectable(const OpenJob& job, const OneJob& one_job, const Snapshot& snapshot,
                           const std::vector<GpuPool>& pools);

}  // namespace gpuadvise
