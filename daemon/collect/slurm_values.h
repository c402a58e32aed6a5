// How Slurm's own words become values of the snapshot, for every source that asks Slurm.
//
// The library and the command line tools say the same in the same strings; what is read from them
// is read here once, so that both sources give equal snapshots. Reading is total: a part that is
// not understood is left out, because one strange job must not hide a cluster.
// Pure functions, safe from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/slurm/gres.h"
#include "common/slurm/snapshot.h"
#include "daemon/collect/slurm_text.h"

namespace gpuadvise::collect {

// From "RUNNING", "COMPLETING", "REQUEUE_HOLD" …; nullopt for a job that has ended.
std::optional<JobState> JobStateFromWord(std::string_view word);

// The reason's one word; "" when there is none.
std::string ReasonWord(std::string_view text);

// "1,3,5-9:2%2" without the throttle, and how many tasks that is: 1 to the most that Slurm's
// MaxArraySize allows.
std::string ArrayTasks(std::string_view expression);
int64_t CountArrayTasks(std::string_view expression);

// Host names of an expression, none when it cannot be read.
std::vector<std::string> Hosts(std::string_view expression);

// GPUs of a GRES or TRES list, none when it cannot be read.
Gres GresOf(std::string_view text);

// What a job asked for in TRES, as Slurm keeps it ("gres:gpu:l40s:3").
struct TresRequest {
  std::string_view per_job = {};
  std::string_view per_node = {};
  std::string_view per_socket = {};
  std::string_view per_task = {};
  std::string_view memory_per_tres = {};  // "gres:gpu:3000", MiB
  int64_t sockets_per_node = 1;
};

// Fills GPUs, shards and memory per GPU of `request`, whose tasks and nodes are already set.
void FillTres(const TresRequest& tres, JobRequest& request);

// The memory of "gres:gpu:3000" or "gres/gpu=3G" in MiB.
int64_t MemoryPerGpuMib(std::string_view memory_per_tres);

}  // namespace gpuadvise::collect
