// What one Slurm cluster looked like at one moment: a plain value.
//
// Built by a collector from Slurm's answers, kept by the daemon, read by the forecast and the
// advice. Every field is what Slurm says, in Slurm's words; nothing is inferred. Times are unix
// seconds, durations seconds, memory MiB (Slurm's "MB"), and each name ends in its unit.
// Absent, infinite and number are three different things (SlurmNumber); a missing time is nullopt.
//
// Canonical form, which collectors produce and `ToJson` keeps: nodes, partitions, reservations and
// QOS sorted by name, jobs and associations by id, node lists expanded and in Slurm's own order,
// GpuCounts sorted by type without duplicates or zeros. Two collectors that look at the same
// cluster give equal snapshots except for `source` and `taken_at`.
// The JSON form and its version are in common/slurm/snapshot_json.h and docs/snapshot.md.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/slurm_number.h"
#include "common/base/unix_time.h"

namespace gpuadvise {

inline constexpr int kSnapshotVersion = 1;

// So many GPUs of one GRES type. `type` is Slurm's ("gpu4090", "h100_1g.11gb"); "" is untyped.
struct GpuCount {
  std::string type;
  int64_t count = 0;
  friend bool operator==(const GpuCount&, const GpuCount&) = default;
};
using GpuCounts = std::vector<GpuCount>;

// ---- nodes ---------------------------------------------------------------------------------

enum class NodeBase { kUnknown, kDown, kIdle, kAllocated, kError, kMixed, kFuture };

// The flags that Slurm adds to a base state; bits of NodeState::flags.
enum class NodeFlag : uint32_t {
  kDrain = 1u << 0,
  kCompleting = 1u << 1,
  kMaintenance = 1u << 2,
  kReserved = 1u << 3,
  kPlanned = 1u << 4,
  kNotResponding = 1u << 5,
  kPoweredDown = 1u << 6,
  kPoweringUp = 1u << 7,
  kPoweringDown = 1u << 8,
  kPowerUp = 1u << 9,
  kPowerDown = 1u << 10,
  kPowerDrain = 1u << 11,
  kRebootRequested = 1u << 12,
  kRebootIssued = 1u << 13,
  kFail = 1u << 14,
  kInvalidRegistration = 1u << 15,
  kBlocked = 1u << 16,
  kCloud = 1u << 17,
  kDynamicNormal = 1u << 18,
  kDynamicFuture = 1u << 19,
};

struct NodeState {
  NodeBase base = NodeBase::kUnknown;
  uint32_t flags = 0;

  bool Has(NodeFlag flag) const { return (flags & static_cast<uint32_t>(flag)) != 0; }
  void Add(NodeFlag flag) { flags |= static_cast<uint32_t>(flag); }
  friend bool operator==(const NodeState&, const NodeState&) = default;
};

struct Node {
  std::string name;
  NodeState state;
  std::string reason;  // why it is down or drained; "" when no reason is set
  int64_t cpus = 0;    // that jobs can be given (without specialised ones)
  int64_t cpus_allocated = 0;
  int64_t threads_per_core = 1;
  int64_t memory_mib = 0;  // that jobs can be given (RealMemory - MemSpecLimit)
  int64_t memory_allocated_mib = 0;
  GpuCounts gpus;            // configured
  GpuCounts gpus_allocated;  // handed out, whole
  int64_t shards = 0;        // gres/shard: a GPU is handed out whole or as shards
  int64_t shards_allocated = 0;
  int64_t mps = 0;  // gres/mps: the same with percents of a GPU, as a site numbers them
  int64_t mps_allocated = 0;
  std::vector<std::string> features;  // active ones
  int64_t weight = 1;                 // Slurm fills low weights first
  friend bool operator==(const Node&, const Node&) = default;
};

// TRES name ("cpu", "gres/gpu", "gres/gpu:gpu4090") to amount.
using TresCounts = std::map<std::string, int64_t>;

// ---- jobs ----------------------------------------------------------------------------------

enum class JobState {
  kPending,
  kRunning,
  kSuspended,
  kCompleting,  // any end state whose nodes are still being cleaned up
  kConfiguring,
};

// What a job asks for. A question about a job that does not exist yet is the same value.
struct JobRequest {
  std::vector<std::string> partitions;  // any of these
  int64_t nodes_min = 1;
  int64_t nodes_max = 0;  // 0: as nodes_min
  int64_t cpus = 1;       // in all
  int64_t cpus_per_task = 1;
  int64_t tasks = 1;
  SlurmNumber memory_per_node_mib;  // at most one of the two memories has a value
  SlurmNumber memory_per_cpu_mib;   // both absent: the partition's default
  GpuCounts gpus_per_node;          // --gres, --gpus-per-node
  GpuCounts gpus_total;             // --gpus (and --gpus-per-task × tasks)
  int64_t shards_per_node = 0;
  int64_t mps_per_node = 0;
  std::string features;  // -C expression as given
  std::vector<std::string> required_nodes;
  std::vector<std::string> excluded_nodes;
  bool exclusive = false;       // whole nodes
  std::string exclusive_to;     // who may share its nodes: "user", "mcs", "topo"; "": no such bound
  bool over_subscribe = false;  // --oversubscribe
  TresCounts licenses;          // name to count; of a running job what it holds
  bool any_license = false;     // "a|b": one of them is enough
  int64_t switches = 0;         // --switches: at most so many leaf switches; 0: any
  int64_t switches_wait_seconds = 0;      // for so long; then any
  int64_t segment_nodes = 0;              // --segment: nodes of one block stay together; 0: any
  SlurmNumber time_limit_seconds;         // absent: the partition's default
  std::optional<UnixSeconds> begin_time;  // not before
  std::string reservation;
  friend bool operator==(const JobRequest&, const JobRequest&) = default;
};

// What a running job holds on one node.
struct Allocation {
  std::string node;
  int64_t cpus = 0;
  int64_t memory_mib = 0;
  GpuCounts gpus;
  int64_t shards = 0;
  int64_t mps = 0;
  friend bool operator==(const Allocation&, const Allocation&) = default;
};

struct Job {
  int64_t id = 0;
  int64_t array_job_id = 0;      // 0: not an array
  std::string array_tasks;       // pending record: task expression ("5-7"); one running task: "5"
  int64_t array_task_count = 1;  // how many jobs a pending array record still stands for
  int64_t array_throttle = 0;    // the N of "%N"; 0: none
  int64_t het_job_id = 0;        // 0: not heterogeneous
  std::string name;
  std::string user;
  int64_t uid = 0;
  std::string account;
  std::string qos;  // several, where the job may run in any: "high,normal" (from 24.11 on)
  JobState state = JobState::kPending;
  std::string reason;    // Slurm's word ("Priority", "Resources", "QOSMaxGRESPerUser"); "" for None
  int64_t priority = 0;  // 0: held
  int64_t nice = 0;
  std::string dependency;  // as Slurm prints it; "" none
  std::optional<UnixSeconds> submit_time;
  std::optional<UnixSeconds> eligible_time;
  std::optional<UnixSeconds> start_time;  // running: real; pending: what backfill published
  std::optional<UnixSeconds> end_time;    // running: start + limit; nullopt when unlimited
  bool requeue = true;
  bool expedited_requeue = false;  // --requeue=expedite: on failure it starts before all others
  JobRequest request;
  std::vector<Allocation> allocations;  // running jobs only, in node order
  friend bool operator==(const Job&, const Job&) = default;
};

// Whether the job holds nodes now.
inline bool HoldsNodes(const Job& job) { return job.state != JobState::kPending; }

// ---- partitions and reservations ----------------------------------------------------------

enum class PartitionState { kUp, kDown, kDrain, kInactive };

struct Partition {
  std::string name;
  PartitionState state = PartitionState::kUp;
  bool is_default = false;
  bool hidden = false;
  bool root_only = false;
  std::vector<std::string> nodes;
  SlurmNumber max_time_seconds;
  SlurmNumber default_time_seconds;
  SlurmNumber max_nodes;
  int64_t min_nodes = 1;
  SlurmNumber max_cpus_per_node;
  SlurmNumber max_cpus_per_socket;
  SlurmNumber default_memory_per_node_mib;  // at most one of each pair has a value
  SlurmNumber default_memory_per_cpu_mib;
  SlurmNumber max_memory_per_node_mib;
  SlurmNumber max_memory_per_cpu_mib;
  std::vector<std::string> allow_accounts;  // empty: all
  std::vector<std::string> deny_accounts;
  std::vector<std::string> allow_qos;
  std::vector<std::string> deny_qos;
  std::vector<std::string> allow_groups;
  std::vector<std::string> alloc_nodes;  // hosts that may submit to it; empty: all
  std::string qos;                       // the partition's own
  int64_t priority_tier = 1;
  int64_t priority_job_factor = 1;
  bool exclusive = false;      // OverSubscribe=EXCLUSIVE, Exclusive=NODE: jobs get whole nodes
  std::string exclusive_to;    // as of a job: "user", "topo"; "": no such bound
  std::string over_subscribe;  // as Slurm prints it: NO, YES:4, FORCE:1, EXCLUSIVE
  std::string preempt_mode;
  std::string billing_weights;         // TRESBillingWeights
  std::string topology;                // from 25.05 on: a name of topology.yaml; "": the default
  SlurmNumber resume_timeout_seconds;  // absent: the cluster's
  SlurmNumber suspend_time_seconds;    // absent: the cluster's
  friend bool operator==(const Partition&, const Partition&) = default;
};

struct Reservation {
  std::string name;
  std::optional<UnixSeconds> start_time;
  std::optional<UnixSeconds> end_time;
  std::vector<std::string> nodes;
  std::vector<std::string> users;
  std::vector<std::string> accounts;
  std::vector<std::string> groups;
  std::vector<std::string> allowed_partitions;  // jobs of these only; empty: no such bound
  std::vector<std::string> allowed_qos;
  std::vector<std::string> flags;
  std::string partition;
  int64_t node_count = 0;  // that it is to have; of a floating one `nodes` is empty until it begins
  TresCounts tres;         // what of `nodes` it holds; empty: all of them
  TresCounts licenses;
  friend bool operator==(const Reservation&, const Reservation&) = default;
};

// ---- policy: configuration, associations, QOS (changes slowly, polled every few minutes) -----

struct PriorityWeights {
  int64_t age = 0;
  int64_t association = 0;
  int64_t fair_share = 0;
  int64_t job_size = 0;
  int64_t partition = 0;
  int64_t qos = 0;
  std::map<std::string, double> tres;
  friend bool operator==(const PriorityWeights&, const PriorityWeights&) = default;
};

// Licences of one name, counted by slurmctld.
struct License {
  std::string name;  // "matlab", "ansys@server"
  int64_t total = 0;
  int64_t used = 0;
  int64_t reserved = 0;
  bool remote = false;  // shared with other clusters: others may take some unseen
  friend bool operator==(const License&, const License&) = default;
};

struct SchedulerConfig {
  std::string slurm_version;         // "22.05.8"
  std::string scheduler_type;        // "sched/backfill"
  std::string scheduler_parameters;  // as configured
  std::string select_type;           // "select/cons_tres", "select/linear"
  std::string select_type_parameters;
  std::string priority_type;  // "priority/basic", "priority/multifactor"
  std::string priority_flags;
  PriorityWeights weights;
  int64_t priority_max_age_seconds = 0;
  int64_t priority_decay_half_life_seconds = 0;
  bool priority_favor_small = false;
  std::string preempt_type;
  std::string preempt_mode;
  std::string enforce;  // AccountingStorageEnforce
  std::string private_data;
  // What the collector does not see: words of private_data, and those of policy.h.
  std::vector<std::string> hidden;
  std::string topology_plugin;  // "topology/tree", "topology/block"
  std::string topology_param;
  std::vector<License> licenses;        // sorted by name
  SlurmNumber suspend_time_seconds;     // idle nodes are powered down after it; absent: never
  SlurmNumber suspend_timeout_seconds;  // powering down takes at most this
  SlurmNumber resume_timeout_seconds;   // powering up takes at most this
  SlurmNumber default_memory_per_node_mib;
  SlurmNumber default_memory_per_cpu_mib;
  SlurmNumber over_time_limit_seconds;
  int64_t kill_wait_seconds = 0;
  int64_t min_job_age_seconds = 0;
  friend bool operator==(const SchedulerConfig&, const SchedulerConfig&) = default;
};

// Limits that hold a job back, with what counts against them where Slurm says so.
struct Limits {
  TresCounts group_tres;       // GrpTRES
  TresCounts group_tres_used;  // running now
  SlurmNumber group_jobs;
  int64_t group_jobs_used = 0;
  SlurmNumber group_submit_jobs;
  SlurmNumber max_jobs;         // per user
  SlurmNumber max_submit_jobs;  // per user
  TresCounts max_tres_per_job;  // MaxTRES / MaxTRESPerJob
  TresCounts max_tres_per_node;
  TresCounts max_tres_per_user;     // QOS only
  TresCounts max_tres_per_account;  // QOS only
  TresCounts min_tres_per_job;      // QOS only
  SlurmNumber max_wall_seconds;     // per job
  friend bool operator==(const Limits&, const Limits&) = default;
};

struct Association {
  int64_t id = 0;
  std::string account;
  std::string user;  // "": the account's own record
  std::string parent_account;
  std::string partition;  // "": every one
  int64_t shares = 1;     // raw
  double shares_normalised = 0;
  double usage_raw = 0;  // decayed TRES seconds
  double usage_effective = 0;
  double fair_share = 0;  // factor 0..1 that multifactor uses (users only)
  int64_t priority = 0;
  std::string default_qos;
  std::vector<std::string> qos;  // allowed; empty: none listed
  bool is_default = false;       // the user's default account
  Limits limits;
  friend bool operator==(const Association&, const Association&) = default;
};

struct Qos {
  std::string name;
  int64_t priority = 0;
  double usage_factor = 1;
  std::vector<std::string> flags;
  std::vector<std::string> preempt;  // QOS that this one preempts
  std::string preempt_mode;
  Limits limits;
  friend bool operator==(const Qos&, const Qos&) = default;
};

// ---- the whole -----------------------------------------------------------------------------

struct Snapshot {
  std::string cluster;
  std::string source;  // "slurm-api", "slurm-cli", "slurm-rest", "sim", "replay"
  UnixSeconds taken_at = 0;
  int64_t requests = 0;  // that Slurm got for it, and for what failed since the one before
  std::vector<Node> nodes;
  std::vector<Job> jobs;  // pending and running; ended ones are gone
  std::vector<Partition> partitions;
  std::vector<Reservation> reservations;
  SchedulerConfig config;
  std::vector<Association> associations;
  std::vector<Qos> qos;
  friend bool operator==(const Snapshot&, const Snapshot&) = default;
};

}  // namespace gpuadvise
