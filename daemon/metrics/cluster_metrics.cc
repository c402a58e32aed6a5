#include "daemon/metrics/cluster_metrics.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/gpu/gpu_labels.h"
#include "common/scheduler/node_pool.h"
#include "common/slurm/node_state.h"
#include "common/slurm/policy.h"
#include "daemon/answers/pool_counts.h"
#include "daemon/answers/visibility.h"

namespace gpuadvise::daemon {
namespace {

constexpr const char* kOther = "other";

// What all families are made from.
struct MetricsWorld {
  const Snapshot& snapshot;
  const MetricsReader& reader;
  const Visibility& seen;
  const KeptNodes& kept;
  GpuLabels& labels;
};

// sinfo's word for a node's state (%T), without its suffixes: the order is that of Slurm's
// node_state_string() (src/common/slurm_protocol_defs.c).
std::string_view SinfoWord(const NodeState& state) {
  const bool is_free = state.base == NodeBase::kIdle || state.base == NodeBase::kUnknown;
  if (state.Has(NodeFlag::kDrain)) return "drain";
  if (state.Has(NodeFlag::kMaintenance) && is_free) return "maint";
  if (state.Has(NodeFlag::kReserved) && is_free) return "resv";
  if (state.Has(NodeFlag::kFail)) return "fail";
  if (state.base == NodeBase::kDown) return "down";
  if (state.base == NodeBase::kError) return "err";
  if (state.base == NodeBase::kAllocated) return "alloc";
  if (state.Has(NodeFlag::kCompleting)) return "comp";
  if (state.base == NodeBase::kMixed) return "mix";
  if (state.base != NodeBase::kIdle) return kOther;
  return state.Has(NodeFlag::kPlanned) ? "plnd" : "idle";
}

// sinfo's long word (StateLong), as exporters that have a series a node label it.
std::string_view SinfoLongWord(const NodeState& state) {
  const std::string_view word = SinfoWord(state);
  if (word == "drain") {
    const bool has_jobs = state.base == NodeBase::kAllocated || state.base == NodeBase::kMixed ||
                          state.Has(NodeFlag::kCompleting);
    return has_jobs ? "draining" : "drained";
  }
  constexpr std::pair<std::string_view, std::string_view> kLong[] = {
      {"alloc", "allocated"}, {"comp", "completing"}, {"err", "error"},
      {"mix", "mixed"},       {"plnd", "planned"},    {"resv", "reserved"}};
  for (const auto& [brief, full] : kLong) {
    if (word == brief) return full;
  }
  return word;
}

constexpr std::pair<const char*, const char*> kNodeFamilies[] = {
    {"alloc", "slurm_nodes_alloc"}, {"comp", "slurm_nodes_comp"},   {"down", "slurm_nodes_down"},
    {"drain", "slurm_nodes_drain"}, {"err", "slurm_nodes_err"},     {"fail", "slurm_nodes_fail"},
    {"idle", "slurm_nodes_idle"},   {"maint", "slurm_nodes_maint"}, {"mix", "slurm_nodes_mix"},
    {"plnd", "slurm_nodes_plnd"},   {"resv", "slurm_nodes_resv"},   {"other", "slurm_nodes_other"}};

// CPUs or GPUs: total = allocated + idle + other (idle, on nodes that get no job).
struct Units {
  int64_t allocated = 0;
  int64_t idle = 0;
  int64_t other = 0;

  void Add(int64_t total, int64_t used, bool is_usable) {
    allocated += used;
    (is_usable ? idle : other) += std::max<int64_t>(total - used, 0);
  }
  int64_t total() const { return allocated + idle + other; }
};

void AddNode(const Node& node, Units& cpus, Units& gpus) {
  const bool is_usable = IsUsable(node.state);
  cpus.Add(node.cpus, node.cpus_allocated, is_usable);
  for (const GpuCount& type : node.gpus) {
    const GpuTally tally = GpuTallyOf(node, type.type, false);
    gpus.Add(tally.total, tally.used, is_usable);
  }
}

void ExporterNodes(const MetricsWorld& world, MetricFamilies& into) {
  std::map<std::string_view, int64_t> by_word;
  Units cpus, gpus;
  int64_t total = 0;
  for (const Node& node : world.snapshot.nodes) {
    if (!world.seen.SeesOneOf(world.labels.PartitionsOf(node.name))) continue;
    ++by_word[SinfoWord(node.state)];
    ++total;
    AddNode(node, cpus, gpus);
  }
  for (const auto& [word, name] : kNodeFamilies) {
    AddGauge(name, "Nodes in this state, as sinfo has it", static_cast<double>(by_word[word]),
             into);
  }
  AddGauge("slurm_nodes_total", "Nodes", static_cast<double>(total), into);
  AddGauge("slurm_cpus_alloc", "CPUs that jobs hold", static_cast<double>(cpus.allocated), into);
  AddGauge("slurm_cpus_idle", "CPUs that no job holds, on nodes that take jobs",
           static_cast<double>(cpus.idle), into);
  AddGauge("slurm_cpus_other", "CPUs that no job holds, on nodes that take none",
           static_cast<double>(cpus.other), into);
  AddGauge("slurm_cpus_total", "CPUs", static_cast<double>(cpus.total()), into);
  AddGauge("slurm_gpus_alloc", "GPUs that jobs hold, whole or in shards",
           static_cast<double>(gpus.allocated), into);
  AddGauge("slurm_gpus_idle", "GPUs that no job holds, on nodes that take jobs",
           static_cast<double>(gpus.idle), into);
  AddGauge("slurm_gpus_other", "GPUs that no job holds, on nodes that take none",
           static_cast<double>(gpus.other), into);
  AddGauge("slurm_gpus_total", "GPUs", static_cast<double>(gpus.total()), into);
  AddGauge("slurm_gpus_utilization", "Share of GPUs that jobs hold, 0 to 1",
           gpus.total() > 0
               ? static_cast<double>(gpus.allocated) / static_cast<double>(gpus.total())
               : 0,
           into);
}

void ExporterPartitions(const MetricsWorld& world, MetricFamilies& into) {
  Gauges cpus_allocated("slurm_partition_cpus_allocated", "CPUs that jobs hold", {"partition"});
  Gauges cpus_idle("slurm_partition_cpus_idle", "CPUs that no job holds, on nodes that take jobs",
                   {"partition"});
  Gauges cpus_other("slurm_partition_cpus_other", "CPUs that no job holds, on nodes that take none",
                    {"partition"});
  Gauges cpus_total("slurm_partition_cpus_total", "CPUs", {"partition"});
  Gauges gpus_allocated("slurm_partition_gpus_allocated", "GPUs that jobs hold", {"partition"});
  Gauges gpus_idle("slurm_partition_gpus_idle", "GPUs that no job holds, on nodes that take jobs",
                   {"partition"});
  for (const Partition& partition : world.snapshot.partitions) {
    if (!world.seen.Sees(partition)) continue;
    Units cpus, gpus;
    for (const std::string& name : partition.nodes) {
      const Node* node = world.labels.FindNode(name);
      if (node != nullptr) AddNode(*node, cpus, gpus);
    }
    cpus_allocated.Add({partition.name}, static_cast<double>(cpus.allocated));
    cpus_idle.Add({partition.name}, static_cast<double>(cpus.idle));
    cpus_other.Add({partition.name}, static_cast<double>(cpus.other));
    cpus_total.Add({partition.name}, static_cast<double>(cpus.total()));
    gpus_allocated.Add({partition.name}, static_cast<double>(gpus.allocated));
    gpus_idle.Add({partition.name}, static_cast<double>(gpus.idle));
  }
  for (Gauges* gauges :
       {&cpus_allocated, &cpus_idle, &cpus_other, &cpus_total, &gpus_allocated, &gpus_idle}) {
    std::move(*gauges).MoveTo(into);
  }
}

// "ReqNodeNotAvail, UnavailableNodes:n[1-9]" without what changes from job to job.
std::string ReasonWord(const std::string& reason) {
  const std::string word = reason.substr(0, reason.find_first_of(", "));
  return word.empty() ? "None" : word;
}

void ExporterReasons(const std::map<std::string, int64_t>& reasons, MetricFamilies& into) {
  Gauges gauge("slurm_pending_reason_total", "Jobs that wait, by Slurm's reason", {"reason"});
  size_t told = 0;
  for (const auto& [reason, jobs] : reasons) {
    gauge.Add({told++ < kMostReasons ? reason : kOther}, static_cast<double>(jobs));
  }
  std::move(gauge).MoveTo(into);
}

// A pending array counts as its tasks, as in `squeue -r`.
void ExporterQueue(const MetricsWorld& world, MetricFamilies& into) {
  int64_t pending = 0, dependent = 0, running = 0, suspended = 0, completing = 0, configuring = 0;
  std::map<std::string, int64_t> reasons;
  Gauges partition_pending("slurm_partition_jobs_pending", "Jobs that wait for the partition",
                           {"partition"});
  Gauges partition_running("slurm_partition_jobs_running", "Jobs that run in the partition",
                           {"partition"});
  for (const Job& job : world.snapshot.jobs) {
    if (!world.seen.SeesOneOf(job.request.partitions)) continue;
    const int64_t count = HoldsNodes(job) ? 1 : job.array_task_count;
    switch (job.state) {
      case JobState::kPending: {
        const std::string reason = ReasonWord(job.reason);
        pending += count;
        if (reason == "Dependency") dependent += count;
        reasons[reason] += count;
        break;
      }
      case JobState::kRunning:
        running += count;
        break;
      case JobState::kSuspended:
        suspended += count;
        break;
      case JobState::kCompleting:
        completing += count;
        break;
      case JobState::kConfiguring:
        configuring += count;
        break;
    }
    for (const std::string& partition : world.seen.SeenOf(job.request.partitions)) {
      if (job.state == JobState::kPending) {
        partition_pending.Add({partition}, static_cast<double>(count));
      } else if (job.state == JobState::kRunning) {
        partition_running.Add({partition}, static_cast<double>(count));
      }
    }
  }
  AddGauge("slurm_queue_pending", "Jobs that wait, array tasks one by one",
           static_cast<double>(pending), into);
  AddGauge("slurm_queue_pending_dependency", "Of them those that wait for other jobs",
           static_cast<double>(dependent), into);
  AddGauge("slurm_queue_running", "Jobs that run", static_cast<double>(running), into);
  AddGauge("slurm_queue_suspended", "Suspended jobs", static_cast<double>(suspended), into);
  AddGauge("slurm_queue_completing", "Jobs whose nodes are being cleaned up",
           static_cast<double>(completing), into);
  AddGauge("slurm_queue_configuring", "Jobs whose nodes are booting",
           static_cast<double>(configuring), into);
  std::move(partition_pending).MoveTo(into);
  std::move(partition_running).MoveTo(into);
  ExporterReasons(reasons, into);
}

void ExporterNodeGres(const MetricsWorld& world, MetricFamilies& into) {
  const std::vector<std::string> labels = {"node", "status", "partition", "gres_type"};
  Gauges total("slurm_node_gres_total", "GPUs of a node", labels);
  Gauges used("slurm_node_gres_used", "GPUs of a node that jobs hold", labels);
  const bool are_private =
      HasFlag(world.snapshot.config.private_data, "nodes") && !world.reader.sees_hidden;
  for (const Node& node : world.snapshot.nodes) {
    if (are_private) break;
    const std::string status(SinfoLongWord(node.state));
    for (const std::string& partition : world.seen.SeenOf(world.labels.PartitionsOf(node.name))) {
      for (const GpuCount& gpus : node.gpus) {
        const GpuTally tally = GpuTallyOf(node, gpus.type, false);
        const std::vector<std::string> of = {node.name, status, partition,
                                             gpus.type.empty() ? "gpu" : "gpu:" + gpus.type};
        total.Add(of, static_cast<double>(tally.total));
        used.Add(of, static_cast<double>(tally.used));
      }
    }
  }
  std::move(total).MoveTo(into);
  std::move(used).MoveTo(into);
}

void AddTally(Gauges& gauges, std::vector<std::string> of, const GpuTally& tally) {
  of.emplace_back();
  for (const auto& [state, count] : {std::pair{"used", tally.used},
                                     {"free", tally.free},
                                     {"promised", tally.promised},
                                     {"unavailable", tally.unavailable}}) {
    of.back() = state;
    gauges.Add(of, static_cast<double>(count));
  }
}

void OwnGpus(const MetricsWorld& world, MetricFamilies& into) {
  Gauges by_type("gpuadvise_gpus", "GPUs by type, each counted once", {"gpu", "state"});
  for (const Node& node : world.snapshot.nodes) {
    if (!world.seen.SeesOneOf(world.labels.PartitionsOf(node.name))) continue;
    for (const GpuCount& gpus : node.gpus) {
      AddTally(by_type, {world.labels.LabelOf(node, gpus.type).id},
               GpuTallyOf(node, gpus.type, world.kept.contains(node.name)));
    }
  }
  std::move(by_type).MoveTo(into);
  Gauges by_partition("gpuadvise_partition_gpus",
                      "GPUs by partition and type; partitions may share nodes",
                      {"partition", "gpu", "state"});
  for (const PoolCount& pool : CountPools(world.snapshot, world.seen, world.kept, world.labels)) {
    if (!pool.gpu.id.empty()) AddTally(by_partition, {pool.partition, pool.gpu.id}, pool.gpus);
  }
  std::move(by_partition).MoveTo(into);
}

void OwnJobs(const MetricsWorld& world, MetricFamilies& into) {
  const std::vector<std::string> labels = {"partition", "gpu", "state"};
  Gauges jobs("gpuadvise_jobs", "Jobs by partition and GPU type; gpu is empty without GPUs",
              labels);
  Gauges gpus("gpuadvise_job_gpus", "GPUs that these jobs hold, or wait for", labels);
  for (const Job& job : world.snapshot.jobs) {
    const std::string& gpu = world.labels.LabelOfJob(job).id;
    const bool runs = HoldsNodes(job);
    const auto count = static_cast<double>(runs ? 1 : job.array_task_count);
    const auto held = static_cast<double>(GpusOfJob(job));
    for (const std::string& partition : world.seen.SeenOf(job.request.partitions)) {
      const std::vector<std::string> of = {partition, gpu, runs ? "running" : "pending"};
      jobs.Add(of, count);
      gpus.Add(of, held * count);
    }
  }
  std::move(jobs).MoveTo(into);
  std::move(gpus).MoveTo(into);
}

struct AccountUse {
  int64_t pending = 0, running = 0;  // jobs
  int64_t pending_gpus = 0, running_gpus = 0;
  int64_t cpus = 0;

  AccountUse& operator+=(const AccountUse& more) {
    pending += more.pending;
    running += more.running;
    pending_gpus += more.pending_gpus;
    running_gpus += more.running_gpus;
    cpus += more.cpus;
    return *this;
  }
};

using AccountRows = std::vector<std::pair<std::string, AccountUse>>;

// Those with most to show, and the rest as one.
AccountRows AccountsOf(const MetricsWorld& world) {
  std::map<std::string, AccountUse> all;
  for (const Job& job : world.snapshot.jobs) {
    if (!world.seen.SeesOneOf(job.request.partitions)) continue;
    AccountUse& use = all[LabelValue(job.account)];
    if (HoldsNodes(job)) {
      ++use.running;
      use.running_gpus += GpusOfJob(job);
      use.cpus += job.request.cpus;
    } else {
      use.pending += job.array_task_count;
      use.pending_gpus += GpusOfJob(job) * job.array_task_count;
    }
  }
  AccountRows rows(all.begin(), all.end());
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return a.second.running_gpus + a.second.pending_gpus >
           b.second.running_gpus + b.second.pending_gpus;
  });
  if (rows.size() <= kMostAccountLabels) return rows;
  AccountUse rest;
  for (size_t i = kMostAccountLabels; i < rows.size(); ++i) rest += rows[i].second;
  rows.resize(kMostAccountLabels);
  rows.emplace_back(kOther, rest);
  return rows;
}

void Accounts(const MetricsWorld& world, bool exporter_names, MetricFamilies& into) {
  Gauges pending("slurm_account_jobs_pending", "Jobs of the account that wait", {"account"});
  Gauges running("slurm_account_jobs_running", "Jobs of the account that run", {"account"});
  Gauges cpus("slurm_account_cpus_running", "CPUs that the account's jobs hold", {"account"});
  Gauges gpus("gpuadvise_account_gpus", "GPUs that the account's jobs hold, or wait for",
              {"account", "state"});
  for (const auto& [account, use] : AccountsOf(world)) {
    pending.Add({account}, static_cast<double>(use.pending));
    running.Add({account}, static_cast<double>(use.running));
    cpus.Add({account}, static_cast<double>(use.cpus));
    gpus.Add({account, "pending"}, static_cast<double>(use.pending_gpus));
    gpus.Add({account, "running"}, static_cast<double>(use.running_gpus));
  }
  if (exporter_names) {
    for (Gauges* gauges : {&pending, &running, &cpus}) std::move(*gauges).MoveTo(into);
  }
  std::move(gpus).MoveTo(into);
}

}  // namespace

MetricFamilies ClusterMetrics(const Snapshot& snapshot, const GpuNaming& naming,
                              const MetricsReader& reader, const MetricsNames& names) {
  Submitter caller;
  if (reader.sees_hidden) caller.uid = 0;
  const Visibility seen(snapshot, caller);
  const KeptNodes kept = NodesKeptNow(snapshot);
  GpuLabels labels(snapshot, naming);
  const MetricsWorld world{snapshot, reader, seen, kept, labels};
  MetricFamilies families;
  if (names.exporter_names) {
    ExporterNodes(world, families);
    ExporterPartitions(world, families);
    ExporterQueue(world, families);
    if (names.per_node) ExporterNodeGres(world, families);
  }
  OwnGpus(world, families);
  OwnJobs(world, families);
  if (reader.sees_accounts) Accounts(world, names.exporter_names, families);
  return families;
}

}  // namespace gpuadvise::daemon
