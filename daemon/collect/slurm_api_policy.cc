#include "daemon/collect/slurm_api_policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>

#include "daemon/collect/slurm_compat.h"
#include "daemon/collect/slurm_text.h"

namespace gpuadvise::collect {
namespace {

std::string Text(const char* text) { return text == nullptr ? "" : text; }

template <typename T, typename Use>
void ForEach(slurm_compat::ListPointer list, Use use) {
  if (list == nullptr) return;
  slurm_compat::ListIteratorPointer iterator = slurm_list_iterator_create(list);
  while (void* item = slurm_list_next(iterator)) use(*static_cast<T*>(item));
  slurm_list_iterator_destroy(iterator);
}

// The precision of sshare, so that all sources agree.
double SixDigits(long double value) {
  return ToDouble(fmt::format("{:.6f}", static_cast<double>(value)));
}

SlurmNumber Minutes(uint32_t minutes) {
  const SlurmNumber number = SlurmNumber::From32(minutes);
  return number.has_value() ? SlurmNumber(number.value() * 60) : SlurmNumber::Absent();
}

// A limit; absent if infinite.
SlurmNumber Limit(uint32_t raw) {
  const SlurmNumber number = SlurmNumber::From32(raw);
  return number.has_value() ? number : SlurmNumber::Absent();
}

class PolicyReader {
 public:
  explicit PolicyReader(const assoc_mgr_info_msg_t& message) : message_(message) {
    ForEach<slurmdb_qos_rec_t>(
        message.qos_list, [&](slurmdb_qos_rec_t& qos) { qos_names_[qos.id] = Text(qos.name); });
  }

  std::vector<Association> Associations() const;
  std::vector<Qos> AllQos() const;

 private:
  TresCounts Tres(const uint64_t* counts, bool is_limit) const;
  Association ReadAssociation(const slurmdb_assoc_rec_t& record) const;
  Limits ReadLimits(const slurmdb_assoc_rec_t& record) const;
  Qos ReadQos(const slurmdb_qos_rec_t& record) const;
  Limits ReadLimits(const slurmdb_qos_rec_t& record) const;
  std::string QosName(int64_t id) const;

  const assoc_mgr_info_msg_t& message_;
  std::map<int64_t, std::string> qos_names_;
};

// From an array in the order of the cluster's TRES: limits that are set, or non-zero usage.
TresCounts PolicyReader::Tres(const uint64_t* counts, bool is_limit) const {
  TresCounts tres;
  for (uint32_t i = 0; counts != nullptr && i < message_.tres_cnt; ++i) {
    const SlurmNumber count = SlurmNumber::From64(counts[i]);
    if (!count.has_value() || (!is_limit && count.value() == 0)) continue;
    tres[message_.tres_names[i]] = count.value();
  }
  return tres;
}

std::string PolicyReader::QosName(int64_t id) const {
  const auto found = qos_names_.find(id);
  return found == qos_names_.end() ? "" : found->second;
}

Limits PolicyReader::ReadLimits(const slurmdb_assoc_rec_t& record) const {
  Limits limits;
  limits.group_tres = Tres(record.grp_tres_ctld, true);
  limits.group_jobs = Limit(record.grp_jobs);
  limits.group_submit_jobs = Limit(record.grp_submit_jobs);
  limits.max_jobs = Limit(record.max_jobs);
  limits.max_submit_jobs = Limit(record.max_submit_jobs);
  limits.max_tres_per_job = Tres(record.max_tres_ctld, true);
  limits.max_tres_per_node = Tres(record.max_tres_pn_ctld, true);
  limits.max_wall_seconds = Minutes(record.max_wall_pj);
  if (record.usage != nullptr) {
    limits.group_tres_used = Tres(record.usage->grp_used_tres, false);
    limits.group_jobs_used = record.usage->used_jobs;
  }
  return limits;
}

Association PolicyReader::ReadAssociation(const slurmdb_assoc_rec_t& record) const {
  Association association;
  association.id = record.id;
  association.account = Text(record.acct);
  association.user = Text(record.user);
  association.parent_account = Text(record.parent_acct);
  association.partition = Text(record.partition);
  association.shares = record.shares_raw;
  association.priority = Limit(record.priority).value_or(0);
  association.default_qos = QosName(record.def_qos_id);
  association.is_default = !association.user.empty() && record.is_def == 1;
  ForEach<char>(record.qos_list, [&](char& id) {
    std::string name = QosName(ToInteger(&id));
    if (!name.empty()) association.qos.push_back(std::move(name));
  });
  std::sort(association.qos.begin(), association.qos.end());
  association.limits = ReadLimits(record);
  if (const slurmdb_assoc_usage_t* usage = record.usage; usage != nullptr) {
    association.shares_normalised = SixDigits(usage->shares_norm);
    association.usage_raw = static_cast<double>(static_cast<int64_t>(usage->usage_raw));
    association.usage_effective = KnownUsage(SixDigits(usage->usage_efctv));
    if (!association.user.empty()) association.fair_share = SixDigits(usage->fs_factor);
  }
  return association;
}

std::vector<Association> PolicyReader::Associations() const {
  std::vector<Association> associations;
  ForEach<slurmdb_assoc_rec_t>(message_.assoc_list, [&](const slurmdb_assoc_rec_t& record) {
    associations.push_back(ReadAssociation(record));
  });
  return associations;
}

Limits PolicyReader::ReadLimits(const slurmdb_qos_rec_t& record) const {
  Limits limits;
  limits.group_tres = Tres(record.grp_tres_ctld, true);
  limits.group_jobs = Limit(record.grp_jobs);
  limits.group_submit_jobs = Limit(record.grp_submit_jobs);
  limits.max_jobs = Limit(record.max_jobs_pu);
  limits.max_submit_jobs = Limit(record.max_submit_jobs_pu);
  limits.max_tres_per_job = Tres(record.max_tres_pj_ctld, true);
  limits.max_tres_per_node = Tres(record.max_tres_pn_ctld, true);
  limits.max_tres_per_user = Tres(record.max_tres_pu_ctld, true);
  limits.max_tres_per_account = Tres(record.max_tres_pa_ctld, true);
  limits.min_tres_per_job = Tres(record.min_tres_pj_ctld, true);
  limits.max_wall_seconds = Minutes(record.max_wall_pj);
  if (record.usage != nullptr) {
    limits.group_tres_used = Tres(record.usage->grp_used_tres, false);
    limits.group_jobs_used = record.usage->grp_used_jobs;
  }
  return limits;
}

std::vector<std::string> FlagNames(uint64_t flags) {
  constexpr std::array<std::pair<uint64_t, const char*>, 11> kNames = {{
      {QOS_FLAG_DENY_LIMIT, "DenyOnLimit"},
      {QOS_FLAG_ENFORCE_USAGE_THRES, "EnforceUsageThreshold"},
      {QOS_FLAG_NO_DECAY, "NoDecay"},
      {QOS_FLAG_NO_RESERVE, "NoReserve"},
      {QOS_FLAG_OVER_PART_QOS, "OverPartQOS"},
      {QOS_FLAG_PART_MAX_NODE, "PartitionMaxNodes"},
      {QOS_FLAG_PART_MIN_NODE, "PartitionMinNodes"},
      {QOS_FLAG_PART_TIME_LIMIT, "PartitionTimeLimit"},
      {slurm_compat::kQosRelative, "Relative"},  // slurmctld gives its limits as counts
      {QOS_FLAG_REQ_RESV, "RequiresReservation"},
      {QOS_FLAG_USAGE_FACTOR_SAFE, "UsageFactorSafe"},
  }};
  std::vector<std::string> names;
  for (const auto& [bit, name] : kNames) {
    if ((flags & bit) != 0) names.emplace_back(name);
  }
  return names;
}

std::string PreemptMode(uint16_t mode) {
  if ((mode & PREEMPT_MODE_SUSPEND) != 0) return "suspend";
  if ((mode & PREEMPT_MODE_REQUEUE) != 0) return "requeue";
  if ((mode & PREEMPT_MODE_CANCEL) != 0) return "cancel";
  return "";
}

Qos PolicyReader::ReadQos(const slurmdb_qos_rec_t& record) const {
  Qos qos;
  qos.name = Text(record.name);
  qos.priority = Limit(record.priority).value_or(0);
  qos.usage_factor = SixDigits(record.usage_factor);
  qos.flags = FlagNames(record.flags);
  for (const auto& [id, name] : qos_names_) {
    const bool known =
        record.preempt_bitstr != nullptr && id < slurm_bit_size(record.preempt_bitstr);
    if (known && slurm_bit_test(record.preempt_bitstr, id) != 0) qos.preempt.push_back(name);
  }
  std::sort(qos.preempt.begin(), qos.preempt.end());
  qos.preempt_mode = PreemptMode(record.preempt_mode);
  qos.limits = ReadLimits(record);
  return qos;
}

std::vector<Qos> PolicyReader::AllQos() const {
  std::vector<Qos> all;
  ForEach<slurmdb_qos_rec_t>(
      message_.qos_list, [&](const slurmdb_qos_rec_t& record) { all.push_back(ReadQos(record)); });
  return all;
}

}  // namespace

std::string LoadAccounting(Snapshot& snapshot, std::string_view user) {
  assoc_mgr_info_request_msg_t request{};
  request.flags = ASSOC_MGR_INFO_FLAG_ASSOC | ASSOC_MGR_INFO_FLAG_QOS | ASSOC_MGR_INFO_FLAG_USERS;
  assoc_mgr_info_msg_t* message = nullptr;
  if (slurm_load_assoc_mgr_info(&request, &message) != SLURM_SUCCESS) return "";
  const PolicyReader reader(*message);
  snapshot.associations = reader.Associations();
  snapshot.qos = reader.AllQos();
  std::string level;
  ForEach<slurmdb_user_rec_t>(message->user_list, [&](const slurmdb_user_rec_t& record) {
    if (Text(record.name) == user) level = std::to_string(record.admin_level);
  });
  slurm_free_assoc_mgr_info_msg(message);
  return level;
}

}  // namespace gpuadvise::collect
