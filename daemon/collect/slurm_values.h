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
#include <vector>

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

// Fills GPUs, shards, mps and memory per GPU of `request`, whose tasks and nodes are already set.
void FillTres(const TresRequest& tres, JobRequest& request);

// Gives the GPU types of jobs and of what nodes handed out the spelling that the nodes'
// configuration has: Slurm compares them in one case up to 24.05, and prints what was written
// from 24.11 on.
void SpellTypesAsNodes(Snapshot& snapshot);

// How a job shares its nodes. `over_subscribe` is NO, YES, OK, USER, MCS or TOPO; from 26.05 on it
// is NO, YES or OK, and `exclusive` is there: NO, NODE, USER, MCS or TOPO. Before, `exclusive` is
// "" and NO says that the job has whole nodes; from then on it says nothing of that.
void FillSharing(std::string_view over_subscribe, std::string_view exclusive, JobRequest& request);

// The same of a partition. `over_subscribe` is NO, YES:4, FORCE:2, EXCLUSIVE; `exclusive` is NO,
// NODE, USER or TOPO from 26.05 on and "" before, when `user` and `topo` (ExclusiveUser=YES,
// ExclusiveTopo=YES) say the rest.
void FillSharing(std::string_view over_subscribe, std::string_view exclusive, bool user, bool topo,
                 Partition& partition);

// What of PrivateData somebody does not see, in its own words and order, by his administrator's
// level ("None", "Operator", "Administrator", or the numbers 1, 2, 3); root and SlurmUser see all.
std::vector<std::string> HiddenFrom(bool is_root_or_slurm_user, std::string_view admin_level,
                                    std::string_view private_data);

// The memory of "gres:gpu:3000" or "gres/gpu=3G" in MiB.
int64_t MemoryPerGpuMib(std::string_view memory_per_tres);

}  // namespace gpuadvise::collect
