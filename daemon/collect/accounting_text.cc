#include "daemon/collect/accounting_text.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "common/base/slurm_time.h"
#include "common/base/text.h"
#include "common/slurm/policy.h"
#include "common/slurm/tres.h"
#include "daemon/collect/slurm_text.h"

namespace gpuadvise::collect {
namespace {

// "7(1)": a limit and its usage; "N(1)": no limit.
struct LimitAndUse {
  SlurmNumber limit;
  int64_t used = 0;
};

LimitAndUse ParseLimitAndUse(std::string_view text) {
  const size_t open = text.find('(');
  LimitAndUse both;
  both.limit = ToCount(text.substr(0, open));
  if (open != std::string_view::npos) both.used = ToInteger(text.substr(open + 1));
  return both;
}

// The counts in the parentheses of "cpu=N(9),gres/gpu=8(3)", without zeros.
TresCounts ParseTresUse(std::string_view text) {
  TresCounts used;
  for (std::string_view part : SplitAt(text, ',')) {
    const size_t equals = part.find('=');
    if (equals == std::string_view::npos) continue;
    const int64_t count = ParseLimitAndUse(part.substr(equals + 1)).used;
    if (count != 0) used[std::string(part.substr(0, equals))] = count;
  }
  return used;
}

// assoc_mgr prints walls in minutes, sacctmgr as D-HH:MM:SS: Slurm's duration reads both.
SlurmNumber Wall(std::string_view text) {
  return ParseSlurmDuration(text).value_or(SlurmNumber::Absent());
}

// Limits that associations and QOS share in assoc_mgr's text.
Limits ParseLimits(const TextRecord& record) {
  Limits limits;
  limits.group_tres = ParseTresCounts(record.Get("GrpTRES"));
  limits.group_tres_used = ParseTresUse(record.Get("GrpTRES"));
  const LimitAndUse jobs = ParseLimitAndUse(record.Get("GrpJobs"));
  limits.group_jobs = jobs.limit;
  limits.group_jobs_used = jobs.used;
  limits.group_submit_jobs = ParseLimitAndUse(record.Get("GrpSubmitJobs")).limit;
  limits.max_tres_per_job = ParseTresCounts(record.Get("MaxTRESPJ"));
  limits.max_tres_per_node = ParseTresCounts(record.Get("MaxTRESPN"));
  limits.min_tres_per_job = ParseTresCounts(record.Get("MinTRESPJ"));
  limits.max_wall_seconds = Wall(record.Get("MaxWallPJ"));
  return limits;
}

Association ParseAssociation(const TextRecord& record) {
  Association association;
  association.id = record.Integer("ID");
  association.account = record.Get("Account");
  association.user = BeforeParenthesis(record.Get("UserName"));
  association.partition = record.Get("Partition");
  association.parent_account = BeforeParenthesis(record.Get("ParentAccount"));
  association.priority = record.Integer("Priority");
  // 24.11 sets it in an account's own row too.
  association.is_default = !association.user.empty() && record.IsYes("DefAssoc");
  const auto shares = SplitAt(record.Get("SharesRaw/Norm/Level/Factor"), '/');
  if (shares.size() == 4) {
    association.shares = ToInteger(shares[0]);
    association.shares_normalised = ToDouble(shares[1]);
    if (!association.user.empty()) association.fair_share = ToDouble(shares[3]);
  }
  const auto usage = SplitAt(record.Get("UsageRaw/Norm/Efctv"), '/');
  if (usage.size() == 3) {
    association.usage_raw = static_cast<double>(ToInteger(usage[0]));
    association.usage_effective = KnownUsage(ToDouble(usage[2]));
  }
  association.limits = ParseLimits(record);
  association.limits.max_jobs = ParseLimitAndUse(record.Get("MaxJobs")).limit;
  association.limits.max_submit_jobs = ParseLimitAndUse(record.Get("MaxSubmitJobs")).limit;
  return association;
}

using AssociationKey = std::tuple<std::string, std::string, std::string>;

void AddShares(std::string_view text, std::vector<Association>& associations) {
  std::map<AssociationKey, TextRecord> rows;
  for (const TextRecord& row : ParsePipeTable(text)) {
    rows[{std::string(row.Get("Account")), std::string(row.Get("User")),
          std::string(row.Get("Partition"))}] = row;
  }
  for (Association& association : associations) {
    const auto found = rows.find({association.account, association.user, association.partition});
    if (found == rows.end()) continue;
    const TextRecord& row = found->second;
    association.shares_normalised = ToDouble(row.Get("NormShares"));
    association.usage_raw = static_cast<double>(row.Integer("RawUsage"));
    association.usage_effective = KnownUsage(ToDouble(row.Get("EffectvUsage")));
    association.fair_share = ToDouble(row.Get("FairShare"));
  }
}

void AddAllowedQos(std::string_view text, std::vector<Association>& associations) {
  std::map<int64_t, TextRecord> rows;
  for (const TextRecord& row : ParsePipeTable(text)) rows[row.Integer("ID")] = row;
  for (Association& association : associations) {
    const auto found = rows.find(association.id);
    if (found == rows.end()) continue;
    association.default_qos = found->second.Get("Def QOS");
    association.qos = found->second.List("QOS");
    std::sort(association.qos.begin(), association.qos.end());
  }
}

// "": a QOS with "cluster" or OFF has no mode of its own.
std::string QosPreemptMode(std::string_view text) {
  std::string mode = LowerCase(text);
  return mode == "cluster" || mode == "off" ? "" : mode;
}

std::vector<std::string> SortedList(const TextRecord& row, std::string_view key) {
  std::vector<std::string> items = row.List(key);
  std::sort(items.begin(), items.end());
  return items;
}

void AddLimits(const TextRecord& row, Limits& limits) {
  limits.group_tres = ParseTresCounts(row.Get("GrpTRES"));
  limits.group_jobs = ToCount(row.Get("GrpJobs"));
  limits.group_submit_jobs = ToCount(row.Get("GrpSubmit"));
  limits.max_jobs = ToCount(row.Get("MaxJobsPU"));
  limits.max_submit_jobs = ToCount(row.Get("MaxSubmitPU"));
  limits.max_tres_per_job = ParseTresCounts(row.Get("MaxTRES"));
  limits.max_tres_per_node = ParseTresCounts(row.Get("MaxTRESPerNode"));
  limits.max_tres_per_user = ParseTresCounts(row.Get("MaxTRESPU"));
  limits.max_tres_per_account = ParseTresCounts(row.Get("MaxTRESPA"));
  limits.min_tres_per_job = ParseTresCounts(row.Get("MinTRES"));
  limits.max_wall_seconds = Wall(row.Get("MaxWall"));
}

void AddQosRow(const TextRecord& row, Qos& qos) {
  qos.priority = row.Integer("Priority");
  qos.usage_factor = ToDouble(row.Get("UsageFactor"), 1);
  qos.flags = SortedList(row, "Flags");
  qos.preempt = SortedList(row, "Preempt");
  qos.preempt_mode = QosPreemptMode(row.Get("PreemptMode"));
  AddLimits(row, qos.limits);
}

}  // namespace

TresCounts ParseTresCounts(std::string_view text) {
  TresCounts counts;
  for (std::string_view part : SplitAt(text, ',')) {
    const size_t equals = part.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view name = part.substr(0, equals);
    const std::string_view value = part.substr(equals + 1);
    if (!ToCount(value).has_value()) continue;
    counts[std::string(name)] =
        name == "mem" ? ToMib(value.substr(0, value.find('('))) : ToInteger(value);
  }
  return counts;
}

std::vector<Association> ParseAssociations(const AccountingText& text) {
  std::vector<Association> associations;
  for (const TextRecord& record :
       ParseRecords(text.assoc_mgr, "ClusterName", RecordStart::kAnyLine)) {
    if (record.Integer("ID") > 0) associations.push_back(ParseAssociation(record));
  }
  AddShares(text.shares, associations);
  AddAllowedQos(text.associations, associations);
  return associations;
}

std::vector<Qos> ParseQos(const AccountingText& text) {
  std::map<std::string, TextRecord> rows;
  for (const TextRecord& row : ParsePipeTable(text.qos)) {
    rows[std::string(row.Get("Name"))] = row;
  }
  std::vector<Qos> all;
  for (const TextRecord& record : ParseRecords(text.assoc_mgr, "QOS", RecordStart::kAnyLine)) {
    Qos& qos = all.emplace_back();
    qos.name = BeforeParenthesis(record.Get("QOS"));
    qos.priority = record.Integer("Priority");
    qos.preempt_mode = QosPreemptMode(record.Get("PreemptMode"));
    qos.limits = ParseLimits(record);
    const auto found = rows.find(qos.name);
    if (found != rows.end()) AddQosRow(found->second, qos);
  }
  return all;
}

namespace {

void TakePercents(TresCounts& limits, const TresCounts& totals) {
  constexpr int64_t kWhole = 100;
  for (auto& [name, count] : limits) {
    const auto total = totals.find(CanonicalTres(name));
    count = total == totals.end() ? 0 : total->second * std::min(count, kWhole) / kWhole;
  }
}

// TRES of all nodes, as if in one partition.
TresCounts ClusterTres(const Snapshot& snapshot) {
  Partition all;
  for (const Node& node : snapshot.nodes) all.nodes.push_back(node.name);
  return PartitionTres(snapshot, all);
}

}  // namespace

void MakeLimitsAbsolute(Snapshot& snapshot) {
  for (Qos& qos : snapshot.qos) {
    if (!HasFlag(qos.flags, "Relative")) continue;
    const auto partition =
        std::find_if(snapshot.partitions.begin(), snapshot.partitions.end(),
                     [&](const Partition& each) { return each.qos == qos.name; });
    const TresCounts totals = partition == snapshot.partitions.end()
                                  ? ClusterTres(snapshot)
                                  : PartitionTres(snapshot, *partition);
    Limits& limits = qos.limits;
    for (TresCounts* each :
         {&limits.group_tres, &limits.max_tres_per_job, &limits.max_tres_per_node,
          &limits.max_tres_per_user, &limits.max_tres_per_account, &limits.min_tres_per_job}) {
      TakePercents(*each, totals);
    }
  }
}

std::string AdminLevelOf(std::string_view assoc_mgr, std::string_view user) {
  for (const TextRecord& record : ParseRecords(assoc_mgr, "UserName", RecordStart::kAnyLine)) {
    const bool is_theirs = BeforeParenthesis(record.Raw("UserName")) == user;
    if (is_theirs && !record.Raw("AdminLevel").empty())
      return std::string(record.Get("AdminLevel"));
  }
  return "";
}

}  // namespace gpuadvise::collect
