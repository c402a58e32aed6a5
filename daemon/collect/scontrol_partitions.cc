#include "common/slurm_time.h"
#include "daemon/collect/scontrol.h"
#include "daemon/collect/slurm_values.h"

namespace gpuadvise {
namespace {

PartitionState StateOf(std::string_view word) {
  if (word == "DOWN") return PartitionState::kDown;
  if (word == "DRAIN") return PartitionState::kDrain;
  if (word == "INACTIVE") return PartitionState::kInactive;
  return PartitionState::kUp;
}

SlurmNumber Limit(const TextRecord& record, std::string_view key) {
  return ParseSlurmDuration(record.Get(key)).value_or(SlurmNumber::Absent());
}

/// Of a default memory UNLIMITED says that none is set.
SlurmNumber DefaultMemory(const TextRecord& record, std::string_view key) {
  const SlurmNumber number = ToCount(record.Get(key));
  return number.has_value() ? number : SlurmNumber::Absent();
}

void ParseLimits(const TextRecord& record, Partition& partition) {
  partition.max_time_seconds = Limit(record, "MaxTime");
  partition.default_time_seconds = Limit(record, "DefaultTime");
  partition.max_nodes = ToCount(record.Get("MaxNodes"));
  partition.min_nodes = record.Integer("MinNodes", 1);
  partition.max_cpus_per_node = ToCount(record.Get("MaxCPUsPerNode"));
  partition.default_memory_per_node_mib = DefaultMemory(record, "DefMemPerNode");
  partition.default_memory_per_cpu_mib = DefaultMemory(record, "DefMemPerCPU");
  partition.max_memory_per_node_mib = ToCount(record.Get("MaxMemPerNode"));
  partition.max_memory_per_cpu_mib = ToCount(record.Get("MaxMemPerCPU"));
}

void ParseAccess(const TextRecord& record, Partition& partition) {
  partition.allow_accounts = record.List("AllowAccounts");
  partition.deny_accounts = record.List("DenyAccounts");
  partition.allow_qos = record.List("AllowQos");
  partition.deny_qos = record.List("DenyQos");
  partition.allow_groups = record.List("AllowGroups");
  partition.hidden = record.IsYes("Hidden");
  partition.root_only = record.IsYes("RootOnly");
}

Partition ParsePartition(const TextRecord& record) {
  Partition partition;
  partition.name = record.Get("PartitionName");
  partition.state = StateOf(record.Get("State"));
  partition.is_default = record.IsYes("Default");
  partition.nodes = Hosts(record.Get("Nodes"));
  ParseLimits(record, partition);
  ParseAccess(record, partition);
  partition.qos = record.Get("QoS");
  partition.priority_tier = record.Integer("PriorityTier", 1);
  partition.priority_job_factor = record.Integer("PriorityJobFactor", 1);
  partition.over_subscribe = record.Get("OverSubscribe");
  partition.exclusive = partition.over_subscribe == "EXCLUSIVE";
  partition.preempt_mode = record.Get("PreemptMode");
  partition.billing_weights = record.Get("TRESBillingWeights");
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
  reservation.flags = record.List("Flags");
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

std::vector<Reservation> ParseReservations(std::string_view text) {
  std::vector<Reservation> reservations;
  for (const TextRecord& record : ParseRecords(text, "ReservationName")) {
    Reservation reservation = ParseReservation(record);
    if (!reservation.name.empty()) reservations.push_back(std::move(reservation));
  }
  return reservations;
}

}  // namespace gpuadvise
