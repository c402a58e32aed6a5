#include "daemon/collect/rest_policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "common/base/text.h"
#include "daemon/collect/accounting_text.h"
#include "daemon/collect/slurm_text.h"
#include "daemon/collect/slurm_values.h"

namespace gpuadvise::collect {
namespace {

// PriorityFlags as Slurm prints them: fair tree, its default, appears only if off.
std::string PriorityFlagsText(const RestJson& words) {
  std::string joined;
  bool has_fair_tree = false;
  for (const RestJson& word : words) {
    if (word == "FAIR_TREE") {
      has_fair_tree = true;
    } else if (word.is_string()) {
      joined += (joined.empty() ? "" : ",") + word.get<std::string>();
    }
  }
  if (!has_fair_tree) joined += joined.empty() ? "NO_FAIR_TREE" : ",NO_FAIR_TREE";
  return joined;
}

// A setting in the form of slurm.conf.
std::string ConfText(const RestJson& conf, const std::string& key) {
  const RestJson& value = conf.at(key);
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "Yes" : "No";
  if (value.is_array()) {
    std::string joined;
    for (const std::string& word : RestList(conf, key)) {
      joined += (joined.empty() ? "" : ",") + word;
    }
    if (key == "PriorityFlags") return PriorityFlagsText(value);
    return joined == "DISABLED" ? "OFF" : joined;  // of PreemptMode
  }
  const SlurmNumber number = RestNumber(conf, key);
  if (number.infinite()) return "INFINITE";
  return number.has_value() ? std::to_string(number.value()) : "";
}

// The precision of sshare, so that all sources agree.
double RoundToSixDigits(double value) { return ToDouble(fmt::format("{:.6f}", value)); }

// [{type: gres, name: gpu, count: 8}, {type: mem, name: "", count: 102400}]
TresCounts RestTres(const RestJson& object, std::string_view path) {
  TresCounts counts;
  for (const RestJson& item : RestTable(object, path)) {
    const std::string name = RestText(item, "name");
    const SlurmNumber count = RestNumber(item, "count");
    if (!count.has_value()) continue;
    counts[RestText(item, "type") + (name.empty() ? "" : "/" + name)] = count.value();
  }
  return counts;
}

// A limit; absent if infinite.
SlurmNumber RestLimit(const RestJson& object, std::string_view path) {
  const SlurmNumber number = RestNumber(object, path);
  return number.has_value() ? number : SlurmNumber::Absent();
}

SlurmNumber WallSeconds(const RestJson& object, std::string_view path) {
  const SlurmNumber minutes = RestLimit(object, path);
  return minutes.has_value() ? SlurmNumber(minutes.value() * 60) : minutes;
}

std::vector<std::string> Sorted(std::vector<std::string> items) {
  std::sort(items.begin(), items.end());
  return items;
}

Limits RestAssociationLimits(const RestJson& record) {
  Limits limits;
  limits.group_tres = RestTres(record, "max/tres/total");
  limits.group_jobs = RestLimit(record, "max/jobs/per/count");
  limits.group_submit_jobs = RestLimit(record, "max/jobs/per/submitted");
  limits.max_jobs = RestLimit(record, "max/jobs/active");
  limits.max_submit_jobs = RestLimit(record, "max/jobs/total");
  limits.max_tres_per_job = RestTres(record, "max/tres/per/job");
  limits.max_tres_per_node = RestTres(record, "max/tres/per/node");
  limits.max_wall_seconds = WallSeconds(record, "max/jobs/per/wall_clock");
  return limits;
}

using RestAssociationKey = std::tuple<std::string, std::string, std::string>;

Association ReadRestAssociation(const RestJson& record) {
  Association association;
  association.id = RestCount(record, "id");
  association.account = RestText(record, "account");
  association.user = RestText(record, "user");
  association.partition = RestText(record, "partition");
  association.parent_account = RestText(record, "parent_account");
  association.shares = RestCount(record, "shares_raw", 1);
  association.priority = RestLimit(record, "priority").value_or(0);
  association.default_qos = RestText(record, "default/qos");
  association.qos = Sorted(RestList(record, "qos"));
  association.is_default = !association.user.empty() && RestIsTrue(record, "is_default");
  association.limits = RestAssociationLimits(record);
  return association;
}

void AddShare(const RestJson& share, Association& association) {
  association.id = RestCount(share, "id");
  association.shares_normalised = RoundToSixDigits(RestReal(share, "shares_normalized"));
  association.usage_raw = RestReal(share, "usage");
  association.usage_effective = KnownUsage(RoundToSixDigits(RestReal(share, "effective_usage")));
  if (!association.user.empty()) {
    association.fair_share = RoundToSixDigits(RestReal(share, "fairshare/factor"));
  }
}

// A user's share has the user and the account; an account's has itself and its parent.
RestAssociationKey ShareKey(const RestJson& share) {
  std::string name = RestText(share, "name");
  std::string parent = RestText(share, "parent");
  std::string partition = RestText(share, "partition");
  if (RestHasWord(share, "type", "USER")) return {parent, name, partition};
  return {name, "", partition};
}

}  // namespace

ConfKeys RestConfKeys(const RestJson& answer) {
  ConfKeys keys;
  const RestJson* conf = RestValue(answer, "slurm_conf");
  if (conf == nullptr || !conf->is_object()) return keys;
  for (const auto& [key, value] : conf->items()) keys[LowerCase(key)] = ConfText(*conf, key);
  return keys;
}

std::vector<Association> RestAssociations(const RestJson& shares, const RestJson& associations,
                                          const std::string& cluster) {
  std::map<RestAssociationKey, const RestJson*> share_of;
  for (const RestJson& share : RestTable(shares, "shares/shares")) {
    share_of[ShareKey(share)] = &share;
  }
  std::vector<Association> read;
  for (const RestJson& record : RestTable(associations, "associations")) {
    const std::string whose = RestText(record, "cluster");
    if (!whose.empty() && whose != cluster) continue;
    Association association = ReadRestAssociation(record);
    const auto found =
        share_of.find({association.account, association.user, association.partition});
    if (found != share_of.end()) AddShare(*found->second, association);
    // Up to v0.0.44 every association has id 0, so one without a share has no identity.
    if (association.id > 0) read.push_back(std::move(association));
  }
  return read;
}

// ---- QOS ---------------------------------------------------------------------------------------

namespace {

// slurmrestd's words and sacctmgr's, which the snapshot uses.
constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kQosFlags = {{
    {"DENY_LIMIT", "DenyOnLimit"},
    {"ENFORCE_USAGE_THRESHOLD", "EnforceUsageThreshold"},
    {"NO_DECAY", "NoDecay"},
    {"NO_RESERVE", "NoReserve"},
    {"OVERRIDE_PARTITION_QOS", "OverPartQOS"},
    {"PARTITION_MAXIMUM_NODE", "PartitionMaxNodes"},
    {"PARTITION_MINIMUM_NODE", "PartitionMinNodes"},
    {"PARTITION_TIME_LIMIT", "PartitionTimeLimit"},
    {"RELATIVE", "Relative"},
    {"REQUIRED_RESERVATION", "RequiresReservation"},
    {"USAGE_FACTOR_SAFE", "UsageFactorSafe"},
}};

std::string RestQosPreemptMode(const RestJson& record) {
  for (const char* mode : {"SUSPEND", "REQUEUE", "CANCEL"}) {
    if (RestHasWord(record, "preempt/mode", mode)) return LowerCase(mode);
  }
  return "";
}

Qos ReadRestQos(const RestJson& record) {
  Qos qos;
  qos.name = RestText(record, "name");
  qos.priority = RestLimit(record, "priority").value_or(0);
  qos.usage_factor = RestReal(record, "usage_factor", 1);
  for (const auto& [word, name] : kQosFlags) {
    if (RestHasWord(record, "flags", word)) qos.flags.emplace_back(name);
  }
  qos.flags = Sorted(std::move(qos.flags));
  qos.preempt = Sorted(RestList(record, "preempt/list"));
  qos.preempt_mode = RestQosPreemptMode(record);
  Limits& limits = qos.limits;
  limits.group_tres = RestTres(record, "limits/max/tres/total");
  limits.group_jobs = RestLimit(record, "limits/max/active_jobs/count");
  limits.group_submit_jobs = RestLimit(record, "limits/max/jobs/count");
  limits.max_jobs = RestLimit(record, "limits/max/jobs/active_jobs/per/user");
  limits.max_submit_jobs = RestLimit(record, "limits/max/jobs/per/user");
  limits.max_tres_per_job = RestTres(record, "limits/max/tres/per/job");
  limits.max_tres_per_node = RestTres(record, "limits/max/tres/per/node");
  limits.max_tres_per_user = RestTres(record, "limits/max/tres/per/user");
  limits.max_tres_per_account = RestTres(record, "limits/max/tres/per/account");
  limits.min_tres_per_job = RestTres(record, "limits/min/tres/per/job");
  limits.max_wall_seconds = WallSeconds(record, "limits/max/wall_clock/per/job");
  return qos;
}

}  // namespace

std::vector<Qos> RestQos(const RestJson& answer) {
  std::vector<Qos> all;
  for (const RestJson& record : RestTable(answer, "qos")) {
    Qos qos = ReadRestQos(record);
    if (!qos.name.empty()) all.push_back(std::move(qos));
  }
  return all;
}

// ---- usage against limits ----------------------------------------------------------------------

std::vector<RestUse> RestUses(const RestJson& jobs_answer) {
  std::vector<RestUse> uses;
  for (const RestJson& record : RestTable(jobs_answer, "jobs")) {
    // A completing job still holds nodes but no longer counts against limits.
    const bool counts = (RestHasWord(record, "job_state", "RUNNING") ||
                         RestHasWord(record, "job_state", "SUSPENDED")) &&
                        !RestHasWord(record, "job_state", "COMPLETING");
    if (!counts) continue;
    uses.push_back({RestCount(record, "association_id"), RestText(record, "qos"),
                    RestText(record, "partition"),
                    ParseTresCounts(RestText(record, "tres_alloc_str")),
                    Hosts(RestText(record, "nodes"))});
  }
  return uses;
}

namespace {

// Sums the usage against one record's limits; counts each node once.
class UsageCounter {
 public:
  explicit UsageCounter(Limits& limits) : limits_(&limits) {
    limits.group_jobs_used = 0;
    limits.group_tres_used.clear();
  }

  void Add(const RestUse& use) {
    ++limits_->group_jobs_used;
    for (const auto& [name, count] : use.tres) {
      if (count != 0 && name != "node") limits_->group_tres_used[name] += count;
    }
    nodes_.insert(use.nodes.begin(), use.nodes.end());
    if (!nodes_.empty()) limits_->group_tres_used["node"] = static_cast<int64_t>(nodes_.size());
  }

 private:
  Limits* limits_;
  std::set<std::string> nodes_;
};

struct AssociationUse {
  const Association* association;
  UsageCounter use;
};

}  // namespace

void CountUses(const std::vector<RestUse>& uses, Snapshot& snapshot) {
  std::unordered_map<int64_t, AssociationUse> by_id;
  std::unordered_map<std::string, int64_t> account_ids;
  for (Association& association : snapshot.associations) {
    by_id.try_emplace(association.id,
                      AssociationUse{&association, UsageCounter(association.limits)});
    if (association.user.empty()) account_ids[association.account] = association.id;
  }
  std::unordered_map<std::string, UsageCounter> qos_of;
  for (Qos& qos : snapshot.qos) qos_of.try_emplace(qos.name, UsageCounter(qos.limits));
  std::unordered_map<std::string, std::string> partition_qos;
  for (const Partition& partition : snapshot.partitions) {
    partition_qos[partition.name] = partition.qos;
  }
  for (const RestUse& use : uses) {
    std::set<int64_t> passed;  // stops at a cycle
    for (auto at = by_id.find(use.association);
         at != by_id.end() && passed.insert(at->first).second;) {
      at->second.use.Add(use);
      const Association& association = *at->second.association;
      const std::string& above =
          association.user.empty() ? association.parent_account : association.account;
      const auto next = account_ids.find(above);
      at = next != account_ids.end() ? by_id.find(next->second) : by_id.end();
    }
    for (const std::string& name : std::set<std::string>{use.qos, partition_qos[use.partition]}) {
      if (const auto found = qos_of.find(name); found != qos_of.end()) found->second.Add(use);
    }
  }
}

}  // namespace gpuadvise::collect
