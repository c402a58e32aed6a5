// Ids of jobs as squeue shows them: "65", the task "65_5" of an array, the part "61+1" of a
// heterogeneous job.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "common/slurm/snapshot.h"

namespace gpuadvise {

struct JobId {
  int64_t id = 0;                    // of an array: its own
  std::optional<int64_t> task = {};  // of an array
};

// nullopt: none of these. Slurm numbers the parts of a heterogeneous job one after the other, so
// that "61+1" is job 62.
std::optional<JobId> ParseJobId(std::string_view text);

// Whether a list of tasks as Slurm writes it ("5", "1,3,5-7", "0-30:2%4") has `task`.
bool HasTask(std::string_view tasks, int64_t task);

// Whether `job` is the job, the array or its task. An array's waiting tasks are one job.
bool IsOf(const Job& job, const JobId& id);

}  // namespace gpuadvise
