#include "common/slurm_time.h"
#include "daemon/collect/scontrol.h"
#include "daemon/collect/slurm_values.h"

namespace gpuadvise {
namespace {

int64_t Seconds(const TextRecord& record, std::string_view key) {
  return ParseSlurmDuration(record.Get(key)).value_or(SlurmNumber::Absent()).value_or(0);
}

/// "CPU=500,GRES/gpu=2000", names in lower case as the TRES are.
std::map<std::string, double> TresWeights(std::string_view text) {
  std::map<std::string, double> weights;
  for (std::string_view part : Split(text, ',')) {
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
  config.priority_favor_small = record.IsYes("PriorityFavorSmall");
}

/// "0 min", "5 min", "UNLIMITED".
SlurmNumber OverTimeLimit(std::string_view text) {
  const SlurmNumber minutes = ToCount(text);
  return minutes.has_value() ? SlurmNumber(minutes.value() * 60) : minutes;
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
  config.select_type_parameters = record.Get("SelectTypeParameters");
  ParsePriority(record, config);
  config.preempt_type = record.Get("PreemptType");
  config.preempt_mode = record.Get("PreemptMode");
  config.enforce = record.Get("AccountingStorageEnforce");
  config.private_data = record.Get("PrivateData") == "none" ? "" : record.Get("PrivateData");
  ParseMemory(record, config);
  config.over_time_limit_seconds = OverTimeLimit(record.Get("OverTimeLimit"));
  config.kill_wait_seconds = record.Integer("KillWait");
  config.min_job_age_seconds = record.Integer("MinJobAge");
  return result;
}

}  // namespace gpuadvise
