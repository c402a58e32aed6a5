// Conversion of Slurm's strings to values of the snapshot, for all sources.
//
// libslurm and the command-line tools use the same strings. They are parsed here, so that the
// sources give equal snapshots. Parsing never fails: unknown parts are left out, because one
// unusual job must not hide a cluster. Pure functions, any thread.
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

// From "RUNNING", "COMPLETING", "REQUEUE_HOLD" …; nullopt: the job has ended.
std::optional<JobState> JobStateFromWord(std::string_view word);

// The reason's word; "": none.
std::string ReasonWord(std::string_view text);

// "1,3,5-9:2%2" without the throttle, and its number of tasks: from 1 to the largest MaxArraySize.
std::string ArrayTasks(std::string_view expression);
int64_t CountArrayTasks(std::string_view expression);

// Host names of an expression; empty if malformed.
std::vector<std::string> Hosts(std::string_view expression);

// GPUs of a GRES or TRES list; none if malformed.
Gres GresOf(std::string_view text);

// TRES requested by a job, as stored by Slurm ("gres:gpu:l40s:3").
struct TresRequest {
  std::string_view per_job = {};
  std::string_view per_node = {};
  std::string_view per_socket = {};
  std::string_view per_task = {};
  std::string_view memory_per_tres = {};  // "gres:gpu:3000", MiB
  int64_t sockets_per_node = 1;
};

// Fills GPUs, shards, mps and memory per GPU. REQUIRES: tasks and nodes of `request` are set.
void FillTres(const TresRequest& tres, JobRequest& request);

// Spells the GPU types of jobs and allocations as in the nodes' configuration: Slurm compares them
// case-insensitively up to 24.05 and prints the user's spelling since 24.11.
void SpellTypesAsNodes(Snapshot& snapshot);

// Fills how a job shares its nodes. Before 26.05, `over_subscribe` is NO, YES, OK, USER, MCS or
// TOPO, where NO means whole nodes, and `exclusive` is "". Since 26.05, `over_subscribe` is NO, YES
// or OK, and only `exclusive` (NO, NODE, USER, MCS or TOPO) tells whether the job has whole nodes.
void FillSharing(std::string_view over_subscribe, std::string_view exclusive, JobRequest& request);

// Fills how jobs share a partition's nodes. `over_subscribe` is NO, YES:4, FORCE:2 or EXCLUSIVE.
// `exclusive` is NO, NODE, USER or TOPO since 26.05; before it is "", and `user` and `topo` stand
// for ExclusiveUser=YES and ExclusiveTopo=YES.
void FillSharing(std::string_view over_subscribe, std::string_view exclusive, bool user, bool topo,
                 Partition& partition);

// The words of PrivateData, in order, that apply to a user of administrator level `admin_level`
// ("None", "Operator", "Administrator", or 1, 2, 3). root and SlurmUser see everything.
std::vector<std::string> HiddenFrom(bool is_root_or_slurm_user, std::string_view admin_level,
                                    std::string_view private_data);

// The memory of "gres:gpu:3000" or "gres/gpu=3G" in MiB.
int64_t MemoryPerGpuMib(std::string_view memory_per_tres);

}  // namespace gpuadvise::collect
