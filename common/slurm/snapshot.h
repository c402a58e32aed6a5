// State of one Slurm cluster at one moment: a plain value.
//
// Built by a collector from Slurm's answers, kept by the daemon, read by forecast and advice. All
// fields but those of idle GPUs are Slurm's, in Slurm's words; nothing is inferred. Times are
// unix seconds, durations seconds, memory MiB (Slurm's "MB"); names end in their unit. Absent,
// infinite and a number are different (SlurmNumber); a missing time is nullopt.
//
// Canonical form, produced by collectors and kept by `ToJson`: nodes, partitions, reservations and
// QOS sorted by name, jobs and associations by id, node lists expanded in Slurm's order, GpuCounts
// sorted by type without duplicates or zeros. Two collectors of the same cluster give snapshots
// equal but for `source` and `taken_at`. JSON form and version: common/slurm/snapshot_json.h and
// docs/snapshot.md.
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

// GPUs of one GRES type. `type` is Slurm's ("gpu4090", "h100_1g.11gb"); "" is untyped.
struct GpuCount {
  std::string type;
  int64_t count = 0;
  friend bool operator==(const GpuCount&, const GpuCount&) = default;
};
using GpuCounts = std::vector<GpuCount>;

// ---- nodes ---------------------------------------------------------------------------------

enum class NodeBase { kUnknown, kDown, kIdle, kAllocated, kError, kMixed, kFuture };

// Flags that Slurm adds to a base state; bits of NodeState::flags.
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
  std::string reason;                      // why it is down or drained; "": not set
  std::string reason_user;                 // who set it
  std::optional<UnixSeconds> reason_time;  // when
  int64_t cpus = 0;                        // available to jobs (without specialised ones)
  int64_t cpus_allocated = 0;
  int64_t threads_per_core = 1;
  int64_t memory_mib = 0;  // available to jobs (RealMemory - MemSpecLimit)
  int64_t memory_allocated_mib = 0;
  GpuCounts gpus;            // configured
  GpuCounts gpus_allocated;  // as whole GPUs
  int64_t shards = 0;        // gres/shard: a GPU is allocated whole or as shards
  int64_t shards_allocated = 0;
  int64_t mps = 0;  // gres/mps: likewise, in percent of a GPU as numbered by the site
  int64_t mps_allocated = 0;
  // GPUs that did nothing for 30 minutes, allocated or not: not Slurm's, from the site's
  // Prometheus.
  int64_t gpus_idle = 0;
  std::vector<std::string> features;  // active
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
  kCompleting,  // ended, nodes still being cleaned up
  kConfiguring,
};

// What a job asks for. Also the form of a question about a hypothetical job.
struct JobRequest {
  std::vector<std::string> partitions;  // any of these
  int64_t nodes_min = 1;
  int64_t nodes_max = 0;  // 0: equals nodes_min
  int64_t cpus = 1;       // total
  int64_t cpus_per_task = 1;
  int64_t tasks = 1;
  SlurmNumber memory_per_node_mib;  // at most one of the two memory values is set
  SlurmNumber memory_per_cpu_mib;   // both absent: the partition's default
  GpuCounts gpus_per_node;          // --gres, --gpus-per-node
  GpuCounts gpus_total;             // --gpus (and --gpus-per-task × tasks)
  int64_t shards_per_node = 0;
  int64_t mps_per_node = 0;
  std::string features;  // -C expression
  std::vector<std::string> required_nodes;
  std::vector<std::string> excluded_nodes;
  bool exclusive = false;    // whole nodes
  std::string exclusive_to;  // who may share its nodes: "user", "mcs", "topo"; "": not restricted
  bool over_subscribe = false;            // --oversubscribe
  TresCounts licenses;                    // name to count; held ones for a running job
  bool any_license = false;               // "a|b": one of them suffices
  int64_t switches = 0;                   // --switches: most leaf switches; 0: any
  int64_t switches_wait_seconds = 0;      // after this time any
  int64_t segment_nodes = 0;              // --segment: nodes kept in one block; 0: any
  SlurmNumber time_limit_seconds;         // absent: the partition's default
  std::optional<UnixSeconds> begin_time;  // earliest start
  std::string reservation;
  // Of a job that is asked about only: of a queued job Job has both.
  int64_t nice = 0;            // --nice: taken off the priority
  std::vector<int64_t> after;  // --dependency: queued or running jobs that must end first
  friend bool operator==(const JobRequest&, const JobRequest&) = default;
};

// Resources of a running job on one node.
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
  std::string array_tasks;       // pending record: task expression ("5-7"); running task: "5"
  int64_t array_task_count = 1;  // tasks left in a pending array record
  int64_t array_throttle = 0;    // the N of "%N"; 0: none
  int64_t het_job_id = 0;        // 0: not heterogeneous
  std::string name;
  std::string user;
  int64_t uid = 0;
  std::string account;
  std::string qos;  // several if any will do: "high,normal" (since 24.11)
  JobState state = JobState::kPending;
  std::string reason;    // Slurm's word ("Priority", "Resources", "QOSMaxGRESPerUser"); "" for None
  int64_t priority = 0;  // 0: held
  int64_t nice = 0;
  std::string dependency;  // as printed by Slurm; "": none
  std::optional<UnixSeconds> submit_time;
  std::optional<UnixSeconds> eligible_time;
  std::optional<UnixSeconds> start_time;  // running: actual; pending: published by backfill
  std::optional<UnixSeconds> end_time;    // running: start + limit; nullopt if unlimited
  bool requeue = true;
  bool expedited_requeue = false;  // --requeue=expedite: after a failure it starts first
  JobRequest request;
  std::vector<Allocation> allocations;  // running jobs only, in node order
  friend bool operator==(const Job&, const Job&) = default;
};

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
  SlurmNumber default_memory_per_node_mib;  // at most one of each pair is set
  SlurmNumber default_memory_per_cpu_mib;
  SlurmNumber max_memory_per_node_mib;
  SlurmNumber max_memory_per_cpu_mib;
  std::vector<std::string> allow_accounts;  // empty: all
  std::vector<std::string> deny_accounts;
  std::vector<std::string> allow_qos;
  std::vector<std::string> deny_qos;
  std::vector<std::string> allow_groups;
  std::vector<std::string> alloc_nodes;  // hosts allowed to submit; empty: all
  std::string qos;                       // the partition QOS
  int64_t priority_tier = 1;
  int64_t priority_job_factor = 1;
  bool exclusive = false;      // OverSubscribe=EXCLUSIVE, Exclusive=NODE: whole nodes only
  std::string exclusive_to;    // as for jobs: "user", "topo"; "": not restricted
  std::string over_subscribe;  // as printed by Slurm: NO, YES:4, FORCE:1, EXCLUSIVE
  std::string preempt_mode;
  std::string billing_weights;         // TRESBillingWeights
  std::string topology;                // since 25.05: a name in topology.yaml; "": default
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
  std::vector<std::string> allowed_partitions;  // jobs of these only; empty: any
  std::vector<std::string> allowed_qos;
  std::vector<std::string> flags;
  std::string partition;
  int64_t node_count = 0;  // intended size; a floating one has no `nodes` until it begins
  TresCounts tres;         // part of `nodes` that it holds; empty: all
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
  bool remote = false;  // shared with other clusters, whose use is not visible
  friend bool operator==(const License&, const License&) = default;
};

// Cycles of one of slurmctld's schedulers since SchedulerHealth::since; absent: not printed.
struct SchedulerCycles {
  std::optional<int64_t> last_us;
  std::optional<int64_t> mean_us;
  std::optional<int64_t> max_us;
  std::optional<int64_t> cycles;
  std::optional<int64_t> mean_depth;  // jobs that a cycle looks at
  std::optional<int64_t> queue_length;
  friend bool operator==(const SchedulerCycles&, const SchedulerCycles&) = default;
};

// What slurmctld says of its own work (sdiag).
struct SchedulerHealth {
  std::optional<UnixSeconds> read_at;  // absent: not read
  std::optional<UnixSeconds> since;
  SchedulerCycles main;
  SchedulerCycles backfill;
  std::optional<int64_t> backfilled_jobs;
  std::optional<int64_t> rpcs;
  std::optional<int64_t> rpc_us;  // of all of them together
  std::optional<int64_t> server_threads;
  std::optional<int64_t> agent_queue;
  std::string problem;  // why it could not be read; "": it was, or the source does not
  friend bool operator==(const SchedulerHealth&, const SchedulerHealth&) = default;
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
  int64_t priority_calc_period_seconds = 0;  // 0: not known
  bool priority_favor_small = false;
  std::string preempt_type;
  std::string preempt_mode;
  std::string enforce;  // AccountingStorageEnforce
  std::string private_data;
  // Data hidden from the collector: words of private_data and policy.h.
  std::vector<std::string> hidden;
  std::string topology_plugin;  // "topology/tree", "topology/block"
  std::string topology_param;
  std::vector<License> licenses;        // sorted by name
  SlurmNumber suspend_time_seconds;     // idle time before power-down; absent: never
  SlurmNumber suspend_timeout_seconds;  // maximum power-down time
  SlurmNumber resume_timeout_seconds;   // maximum power-up time
  SlurmNumber default_memory_per_node_mib;
  SlurmNumber default_memory_per_cpu_mib;
  SlurmNumber over_time_limit_seconds;
  int64_t kill_wait_seconds = 0;
  int64_t min_job_age_seconds = 0;
  SchedulerHealth health;
  bool counts_idle_gpus = false;  // whether Node::gpus_idle is known
  std::string idle_gpus_problem;  // why it is not; "": it is, or there is no Prometheus
  friend bool operator==(const SchedulerConfig&, const SchedulerConfig&) = default;
};

// Limits, with current use where Slurm reports it.
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
  std::string partition;  // "": all
  int64_t shares = 1;     // raw
  double shares_normalised = 0;
  double usage_raw = 0;  // decayed TRES seconds
  double usage_effective = 0;
  double fair_share = 0;  // multifactor's factor, 0..1 (users only)
  int64_t priority = 0;
  std::string default_qos;
  std::vector<std::string> qos;  // allowed; empty: none listed
  bool is_default = false;       // of the user's default account
  Limits limits;
  friend bool operator==(const Association&, const Association&) = default;
};

struct Qos {
  std::string name;
  int64_t priority = 0;
  double usage_factor = 1;
  std::vector<std::string> flags;
  std::vector<std::string> preempt;  // QOS that it may preempt
  std::string preempt_mode;
  Limits limits;
  friend bool operator==(const Qos&, const Qos&) = default;
};

// ---- the snapshot --------------------------------------------------------------------------

struct Snapshot {
  std::string cluster;
  std::string source;  // "slurm-api", "slurm-cli", "slurm-rest", "sim", "replay"
  UnixSeconds taken_at = 0;
  int64_t requests = 0;  // calls to Slurm for it, including failed ones since the previous snapshot
  std::vector<Node> nodes;
  std::vector<Job> jobs;  // pending and running ones only
  std::vector<Partition> partitions;
  std::vector<Reservation> reservations;
  SchedulerConfig config;
  std::vector<Association> associations;
  std::vector<Qos> qos;
  friend bool operator==(const Snapshot&, const Snapshot&) = default;
};

}  // namespace gpuadvise
