#include "daemon/collect/scontrol.h"

#include <algorithm>
#include <set>

#include "common/base/slurm_time.h"
#include "common/base/text.h"
#include "common/slurm/node_state.h"
#include "daemon/collect/accounting_text.h"
#include "daemon/collect/licenses.h"
#include "daemon/collect/slurm_values.h"

namespace gpuadvise::collect {
namespace {

// Takes the user and time apart that Slurm appends: "fan broken [root@1795218015]".
void ReadReason(std::string_view text, Node& node) {
  const size_t note = text.rfind(" [");
  const size_t at = note == std::string_view::npos ? note : text.find('@', note);
  if (at == std::string_view::npos || !text.ends_with(']')) {
    node.reason = Trim(text);
    return;
  }
  node.reason = Trim(text.substr(0, note));
  node.reason_user = text.substr(note + 2, at - note - 2);
  const std::string_view time = text.substr(at + 1, text.size() - at - 2);
  node.reason_time = ParseTimestamp(time).value_or(std::nullopt);
}

// CPUEfctv exists since 22.05; before, CPUTot includes the specialised cores.
int64_t UsableCpus(const TextRecord& record) {
  const int64_t specialised =
      record.Integer("CoreSpecCount") * std::max<int64_t>(record.Integer("ThreadsPerCore", 1), 1);
  return record.Integer("CPUEfctv", record.Integer("CPUTot") - specialised);
}

// Shards or mps in use. Up to 22.05 GresUsed counts the GPUs with some in use
// ("shard:l40s:2(IDX:0-1)"; Slurm fills one GPU before the next); later it counts the shards
// ("shard:l40s:5(4/4,1/4)").
int64_t SharesInUse(std::string_view used, std::string_view name, int64_t count, int64_t all,
                    const Node& node) {
  const size_t at = used.find(name);
  const size_t detail = at == std::string_view::npos ? at : used.find('(', at);
  const bool counts_gpus =
      detail != std::string_view::npos && used.substr(detail).starts_with("(IDX:");
  if (!counts_gpus || count == 0) return count;
  return (count - 1) * (all / std::max<int64_t>(TotalGpus(node.gpus), 1)) + 1;
}

Node ParseNode(const TextRecord& record) {
  Node node;
  node.name = record.Get("NodeName");
  node.state = ParseNodeState(record.Get("State"));
  ReadReason(record.Get("Reason"), node);
  node.cpus = UsableCpus(record);
  node.cpus_allocated = record.Integer("CPUAlloc");
  node.threads_per_core = record.Integer("ThreadsPerCore", 1);
  node.memory_mib = record.Integer("RealMemory") - record.Integer("MemSpecLimit");
  node.memory_allocated_mib = record.Integer("AllocMem");
  const Gres all = GresOf(record.Get("Gres"));
  const Gres used = GresOf(record.Get("GresUsed"));
  node.gpus = all.gpus;
  node.gpus_allocated = used.gpus;
  node.shards = all.shards;
  const std::string_view in_use = record.Get("GresUsed");
  node.shards_allocated = SharesInUse(in_use, "shard:", used.shards, all.shards, node);
  node.mps = all.mps;
  node.mps_allocated = SharesInUse(in_use, "mps:", used.mps, all.mps, node);
  node.features = record.List("ActiveFeatures");
  node.weight = record.Integer("Weight", 1);
  return node;
}

}  // namespace

std::vector<Node> ParseNodes(std::string_view text) {
  std::vector<Node> nodes;
  for (const TextRecord& record : ParseRecords(text, "NodeName")) {
    Node node = ParseNode(record);
    if (!node.name.empty()) nodes.push_back(std::move(node));
  }
  return nodes;
}

namespace {

PartitionState ParsePartitionState(std::string_view word) {
  if (word == "DOWN") return PartitionState::kDown;
  if (word == "DRAIN") return PartitionState::kDrain;
  if (word == "INACTIVE") return PartitionState::kInactive;
  return PartitionState::kUp;
}

// A default memory; absent if UNLIMITED, which means not set.
SlurmNumber DefaultMemory(const TextRecord& record, std::string_view key) {
  const SlurmNumber number = ToCount(record.Get(key));
  return number.has_value() ? number : SlurmNumber::Absent();
}

void ParseLimits(const TextRecord& record, Partition& partition) {
  partition.max_time_seconds = DurationOf(record, "MaxTime");
  partition.default_time_seconds = DurationOf(record, "DefaultTime");
  partition.max_nodes = ToCount(record.Get("MaxNodes"));
  partition.min_nodes = record.Integer("MinNodes", 1);
  partition.max_cpus_per_node = ToCount(record.Get("MaxCPUsPerNode"));
  partition.max_cpus_per_socket = ToCount(record.Get("MaxCPUsPerSocket"));
  partition.default_memory_per_node_mib = DefaultMemory(record, "DefMemPerNode");
  partition.default_memory_per_cpu_mib = DefaultMemory(record, "DefMemPerCPU");
  partition.max_memory_per_node_mib = ToCount(record.Get("MaxMemPerNode"));
  partition.max_memory_per_cpu_mib = ToCount(record.Get("MaxMemPerCPU"));
}

std::vector<std::string> HostsOrAll(std::string_view text) {
  return text == "ALL" ? std::vector<std::string>() : Hosts(text);
}

void ParseAccess(const TextRecord& record, Partition& partition) {
  partition.allow_accounts = record.List("AllowAccounts");
  partition.deny_accounts = record.List("DenyAccounts");
  partition.allow_qos = record.List("AllowQos");
  partition.deny_qos = record.List("DenyQos");
  partition.allow_groups = record.List("AllowGroups");
  partition.alloc_nodes = HostsOrAll(record.Get("AllocNodes"));
  partition.hidden = record.IsYes("Hidden");
  partition.root_only = record.IsYes("RootOnly");
}

Partition ParsePartition(const TextRecord& record) {
  Partition partition;
  partition.name = record.Get("PartitionName");
  partition.state = ParsePartitionState(record.Get("State"));
  partition.is_default = record.IsYes("Default");
  partition.nodes = Hosts(record.Get("Nodes"));
  ParseLimits(record, partition);
  ParseAccess(record, partition);
  partition.qos = record.Get("QoS");
  partition.priority_tier = record.Integer("PriorityTier", 1);
  partition.priority_job_factor = record.Integer("PriorityJobFactor", 1);
  FillSharing(record.Get("OverSubscribe"), record.Get("Exclusive"), record.IsYes("ExclusiveUser"),
              record.IsYes("ExclusiveTopo"), partition);
  partition.preempt_mode = record.Get("PreemptMode");
  partition.billing_weights = record.Get("TRESBillingWeights");
  partition.topology = record.Get("Topology");
  // GLOBAL (the cluster's setting) reads as absent.
  partition.resume_timeout_seconds = ToCount(record.Get("ResumeTimeout"));
  partition.suspend_time_seconds = ToCount(record.Get("SuspendTime"));
  return partition;
}

Reservation ParseReservation(const TextRecord& record) {
  Reservation reservation;
  reservation.name = record.Get("ReservationName");
  reservation.start_time = ParseTimestamp(record.Get("StartTime")).value_or(std::nullopt);
  reservation.end_time = ParseTimestamp(record.Get("EndTime")).value_or(std::nullopt);
  reservation.nodes = Hosts(record.Get("Nodes"));
  reservation.users = record.List("Users");
  reservation.accounts = record.List("Accounts");
  reservation.groups = record.List("Groups");
  reservation.allowed_partitions = record.List("AllowedPartitions");
  reservation.allowed_qos = record.List("QOS");
  reservation.flags = record.List("Flags");
  reservation.node_count = record.Integer("NodeCnt");
  reservation.tres = ParseTresCounts(record.Get("TRES"));
  reservation.licenses = LicensesOf(record.Get("Licenses"));
  reservation.partition = record.Get("PartitionName");
  return reservation;
}

}  // namespace

std::vector<Partition> ParsePartitions(std::string_view text) {
  std::vector<Partition> partitions;
  for (const TextRecord& record : ParseRecords(text, "PartitionName")) {
    Partition partition = ParsePartition(record);
    if (!partition.name.empty()) partitions.push_back(std::move(partition));
  }
  return partitions;
}

int64_t CountUnseenNodes(const Snapshot& snapshot) {
  std::set<std::string_view> unseen;
  for (const Partition& partition : snapshot.partitions) {
    unseen.insert(partition.nodes.begin(), partition.nodes.end());
  }
  for (const Node& node : snapshot.nodes) unseen.erase(node.name);
  return static_cast<int64_t>(unseen.size());
}

std::vector<License> ParseLicenses(std::string_view text) {
  std::vector<License> licenses;
  for (const TextRecord& record : ParseRecords(text, "LicenseName", RecordStart::kAnyLine)) {
    licenses.push_back({std::string(record.Raw("LicenseName")), record.Integer("Total"),
                        record.Integer("Used"), record.Integer("Reserved"),
                        record.IsYes("Remote")});
  }
  std::sort(licenses.begin(), licenses.end(),
            [](const License& a, const License& b) { return a.name < b.name; });
  return licenses;
}

std::vector<Reservation> ParseReservations(std::string_view text) {
  std::vector<Reservation> reservations;
  for (const TextRecord& record : ParseRecords(text, "ReservationName")) {
    Reservation reservation = ParseReservation(record);
    if (!reservation.name.empty()) reservations.push_back(std::move(reservation));
  }
  return reservations;
}

namespace {

int64_t Seconds(const TextRecord& record, std::string_view key) {
  return ParseSlurmDuration(record.Get(key)).value_or(SlurmNumber::Absent()).value_or(0);
}

// "CPU=500,GRES/gpu=2000"; names in lower case, as in TRES.
std::map<std::string, double> TresWeights(std::string_view text) {
  std::map<std::string, double> weights;
  for (std::string_view part : SplitAt(text, ',')) {
    const size_t equals = part.find('=');
    if (equals == std::string_view::npos) continue;
    std::string name(part.substr(0, equals));
    const size_t type = name.find(':');  // a GRES type keeps its case
    for (size_t i = 0; i < std::min(type, name.size()); ++i) {
      if (name[i] >= 'A' && name[i] <= 'Z') name[i] = static_cast<char>(name[i] - 'A' + 'a');
    }
    weights[name] = ToDouble(part.substr(equals + 1));
  }
  return weights;
}

PriorityWeights ParseWeights(const TextRecord& record) {
  PriorityWeights weights;
  weights.age = record.Integer("PriorityWeightAge");
  weights.association = record.Integer("PriorityWeightAssoc");
  weights.fair_share = record.Integer("PriorityWeightFairShare");
  weights.job_size = record.Integer("PriorityWeightJobSize");
  weights.partition = record.Integer("PriorityWeightPartition");
  weights.qos = record.Integer("PriorityWeightQOS");
  weights.tres = TresWeights(record.Get("PriorityWeightTRES"));
  return weights;
}

void ParsePriority(const TextRecord& record, SchedulerConfig& config) {
  config.priority_type = record.Get("PriorityType");
  config.priority_flags = record.Get("PriorityFlags");
  config.weights = ParseWeights(record);
  config.priority_max_age_seconds = Seconds(record, "PriorityMaxAge");
  config.priority_decay_half_life_seconds = Seconds(record, "PriorityDecayHalfLife");
  config.priority_calc_period_seconds = Seconds(record, "PriorityCalcPeriod");
  config.priority_favor_small = record.IsYes("PriorityFavorSmall");
}

// "0 min", "5 min", "UNLIMITED".
SlurmNumber OverTimeLimit(std::string_view text) {
  const SlurmNumber minutes = ToCount(text);
  return minutes.has_value() ? SlurmNumber(minutes.value() * 60) : minutes;
}

// Nodes are never powered down if the suspend time is INFINITE, or without a SuspendProgram, where
// the timeouts still have defaults.
void ParsePowerSaving(const TextRecord& record, SchedulerConfig& config) {
  if (record.Get("SuspendProgram").empty()) return;
  config.suspend_time_seconds = ToCount(record.Get("SuspendTime"));
  if (config.suspend_time_seconds.infinite()) config.suspend_time_seconds = SlurmNumber::Absent();
  config.suspend_timeout_seconds = ToCount(record.Get("SuspendTimeout"));
  config.resume_timeout_seconds = ToCount(record.Get("ResumeTimeout"));
}

void ParseMemory(const TextRecord& record, SchedulerConfig& config) {
  const SlurmNumber per_cpu = ToCount(record.Get("DefMemPerCPU"));
  const SlurmNumber per_node = ToCount(record.Get("DefMemPerNode"));
  if (per_cpu.has_value()) {
    config.default_memory_per_cpu_mib = per_cpu;
  } else if (per_node.has_value()) {
    config.default_memory_per_node_mib = per_node;
  }
}

}  // namespace

ClusterConfig ParseConfig(std::string_view text) {
  const TextRecord record = ParseConfigLines(text);
  ClusterConfig result;
  result.cluster = record.Get("ClusterName");
  result.has_accounting = record.Get("AccountingStorageType") == "accounting_storage/slurmdbd";
  SchedulerConfig& config = result.config;
  config.slurm_version = record.Get("SLURM_VERSION");
  config.scheduler_type = record.Get("SchedulerType");
  config.scheduler_parameters = record.Get("SchedulerParameters");
  config.select_type = record.Get("SelectType");
  config.select_type_parameters = record.Get("SelectTypeParameters");
  config.topology_plugin = record.Get("TopologyPlugin");
  config.topology_param = record.Get("TopologyParam");
  ParsePriority(record, config);
  ParsePowerSaving(record, config);
  config.preempt_type = record.Get("PreemptType");
  config.preempt_mode = record.Get("PreemptMode");
  config.enforce = record.Get("AccountingStorageEnforce");
  config.private_data = record.Get("PrivateData") == "none" ? "" : record.Get("PrivateData");
  result.slurm_user = BeforeParenthesis(record.Get("SlurmUser"));
  result.has_licenses = result.has_accounting || !record.Get("Licenses").empty();
  ParseMemory(record, config);
  config.over_time_limit_seconds = OverTimeLimit(record.Get("OverTimeLimit"));
  config.kill_wait_seconds = record.Integer("KillWait");
  config.min_job_age_seconds = record.Integer("MinJobAge");
  return result;
}

}  // namespace gpuadvise::collect
