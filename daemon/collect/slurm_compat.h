// Differences between Slurm releases, and functions that every libslurm has but no public header
// declares. Included only by slurm_api*.cc. Releases: 20.11 to 26.05; tests/releases compiles it
// against the headers of each.
#pragma once

#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <slurm/slurmdb.h>

extern "C" {
int slurm_bit_test(bitstr_t* bits, int64_t bit);
int64_t slurm_bit_size(bitstr_t* bits);
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 5, 0)
char* slurm_job_state_reason_string(enum job_state_reason reason);
#else
char* slurm_job_reason_string(enum job_state_reason reason);
#endif
}

namespace gpuadvise::collect::slurm_compat {

inline const char* ReasonString(uint32_t reason) {
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 5, 0)
  return slurm_job_state_reason_string(static_cast<enum job_state_reason>(reason));
#else
  return slurm_job_reason_string(static_cast<enum job_state_reason>(reason));
#endif
}

inline void FreeConf(slurm_conf_t* conf) {
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(26, 5, 0)
  slurm_free_conf(conf);
#else
  slurm_free_ctl_conf(conf);
#endif
}

// The types were hidden pointers before they became structs.
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 11, 0)
using ListPointer = list_t*;
using ListIteratorPointer = list_itr_t*;
#else
using ListPointer = List;
using ListIteratorPointer = ListIterator;
#endif

// ---- fields added by a release -------------------------------------------------------------

// Who may share a job's nodes.
struct Sharing {
  bool exclusive = false;         // the job has whole nodes
  const char* exclusive_to = "";  // "user", "mcs", "topo"
  bool over_subscribe = false;
};

#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(26, 5, 0)
inline Sharing SharingOf(const slurm_job_info_t& info) {
  Sharing sharing;
  sharing.over_subscribe = info.oversubscribe == JOB_OVERSUBSCRIBE_YES;
  sharing.exclusive = info.exclusive == JOB_EXCLUSIVE_NODE || info.exclusive == JOB_EXCLUSIVE_TOPO;
  if (info.exclusive == JOB_EXCLUSIVE_USER) sharing.exclusive_to = "user";
  if (info.exclusive == JOB_EXCLUSIVE_MCS) sharing.exclusive_to = "mcs";
  if (info.exclusive == JOB_EXCLUSIVE_TOPO) sharing.exclusive_to = "topo";
  return sharing;
}
#else
inline Sharing SharingOf(const slurm_job_info_t& info) {
  constexpr uint16_t kSharedTopo = 4;  // JOB_SHARED_TOPO, since 24.05
  Sharing sharing;
  sharing.over_subscribe = info.shared == JOB_SHARED_OK;
  sharing.exclusive = info.shared == JOB_SHARED_NONE || info.shared == kSharedTopo;
  if (info.shared == JOB_SHARED_USER) sharing.exclusive_to = "user";
  if (info.shared == JOB_SHARED_MCS) sharing.exclusive_to = "mcs";
  if (info.shared == kSharedTopo) sharing.exclusive_to = "topo";
  return sharing;
}
#endif

// Allocated licences (since 25.05), else the requested ones.
inline const char* LicensesOf(const slurm_job_info_t& info) {
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 5, 0)
  if (info.licenses_allocated != nullptr && *info.licenses_allocated != '\0')
    return info.licenses_allocated;
#endif
  return info.licenses;
}

inline uint16_t SegmentOf([[maybe_unused]] const slurm_job_info_t& info) {
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 5, 0)
  return info.segment_size;
#else
  return 0;
#endif
}

inline bool HasExpeditedRequeue([[maybe_unused]] const slurm_job_info_t& info) {
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 11, 0)
  return (info.bitflags & EXPEDITED_REQUEUE) != 0;
#else
  return false;
#endif
}

// QOS_FLAG_RELATIVE, since 23.11: first a macro, later an enumerator.
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 11, 0)
inline constexpr uint64_t kQosRelative = static_cast<uint64_t>(QOS_FLAG_RELATIVE);
#else
inline constexpr uint64_t kQosRelative = 0;
#endif

// ---- what a job holds on each node ---------------------------------------------------------

// The beginning of struct job_resources, to which a job's record points. 24.11 removed the public
// functions that read it, without replacement. Its layout never changed within a release; newer
// releases than listed here get the newest layout. Readers first check its consistency (IsWhole in
// slurm_api_jobs.cc), which detects another layout.
struct JobResources {
  bitstr_t* core_bitmap;  // cores of all its nodes, node by node
  bitstr_t* core_bitmap_used;
  uint32_t cpu_array_cnt;
  uint16_t* cpu_array_value;
  uint32_t* cpu_array_reps;  // nodes per value; sum: `nhosts`
  uint16_t* cpus;            // by node
  uint16_t* cpus_used;
  uint16_t* cores_per_socket;  // by group of like nodes, as are the last two members
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(21, 8, 0)
  uint16_t cr_type;
#endif
  uint64_t* memory_allocated;  // by node, MiB; null: memory is not tracked
  uint64_t* memory_used;
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 11, 0)
  uint32_t next_step_node_inx;
#endif
  uint32_t nhosts;
  bitstr_t* node_bitmap;
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(26, 5, 0)
  uint32_t* node_ranks;
#endif
  uint32_t node_req;
  char* nodes;
  uint32_t ncpus;
  uint32_t* sock_core_rep_count;  // nodes in the group
  uint16_t* sockets_per_node;
};

inline const JobResources* ResourcesOf(const slurm_job_info_t& info) {
  return reinterpret_cast<const JobResources*>(info.job_resrcs);
}

}  // namespace gpuadvise::collect::slurm_compat
