#include "common/scheduler/usage_limits.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "common/slurm/policy.h"
#include "common/slurm/tres.h"

namespace gpuadvise {
namespace {

// Calls visit(key, limit, amount) for each aggregate limit of one owner.
template <typename Visit>
void ForEachLimit(const std::string& owner, const TresCounts& limits, const TresCounts& tres,
                  const Visit& visit) {
  for (const auto& [name, most] : limits) {
    const auto used = tres.find(CanonicalTres(name));
    if (used != tres.end() && used->second > 0) visit(owner + " on " + name, most, used->second);
  }
}

template <typename Visit>
void EachJobLimit(const std::string& owner, SlurmNumber most, const Visit& visit) {
  if (most.has_value()) visit(owner + " on jobs", most.value(), 1);
}

template <typename Visit>
void EachQosCap(const Qos& qos, const EffectiveLimits& authority, const std::string& user,
                const TresCounts& tres, const Visit& visit) {
  const Limits& limits = qos.limits;
  const std::string name = "QOS " + qos.name;
  ForEachLimit(name, limits.group_tres, tres, visit);
  EachJobLimit(name, limits.group_jobs, visit);
  ForEachLimit(name + " for user " + user, limits.max_tres_per_user, tres, visit);
  EachJobLimit(name + " for user " + user, limits.max_jobs, visit);
  if (authority.association == nullptr) return;
  ForEachLimit(name + " for account " + authority.association->account, limits.max_tres_per_account,
               tres, visit);
}

std::string NameOf(const Association& association) {
  std::string name = "account " + association.account;
  if (!association.user.empty()) name += ", user " + association.user;
  if (!association.partition.empty()) name += ", partition " + association.partition;
  return name;
}

// All caps of a job; QOS limits precede association limits on the same TRES.
template <typename Visit>
void ForEachCap(const EffectiveLimits& authority, const std::string& user, const TresCounts& tres,
                const Visit& visit) {
  std::set<std::string> grouped;
  const Qos* seen = nullptr;
  for (const Qos* qos : {authority.partition_qos, authority.qos}) {
    if (qos == nullptr || qos == seen) continue;
    seen = qos;
    EachQosCap(*qos, authority, user, tres, visit);
    for (const auto& [name, most] : qos->limits.group_tres) grouped.insert(name);
  }
  for (const Association* assoc : authority.chain) {
    const std::string name = NameOf(*assoc);
    TresCounts limits = assoc->limits.group_tres;
    for (const std::string& other : grouped) limits.erase(other);
    ForEachLimit(name, limits, tres, visit);
    EachJobLimit(name, assoc->limits.group_jobs, visit);
    if (!assoc->user.empty()) EachJobLimit(name + " at a time", assoc->limits.max_jobs, visit);
  }
}

}  // namespace

UsageLimits::UsageLimits(const Snapshot& snapshot)
    : keeps_books_(EnforcedBy(snapshot.config.enforce).limits) {}

int32_t UsageLimits::AddCap(int64_t most, std::string name) {
  most_.push_back(most);
  names_.push_back(std::move(name));
  is_policy_.push_back(false);
  return static_cast<int32_t>(most_.size()) - 1;
}

CapUses UsageLimits::Count(const EffectiveLimits& authority, const std::string& user,
                           const TresCounts& tres) {
  CapUses uses;
  if (!keeps_books_) return uses;
  ForEachCap(authority, user, tres, [&](const std::string& key, int64_t most, int64_t amount) {
    const auto known = caps_.find(key);
    const int32_t cap = known != caps_.end() ? known->second : AddCap(most, key);
    if (known == caps_.end()) {
      caps_.emplace(key, cap);
      is_policy_[static_cast<size_t>(cap)] = true;
    }
    uses.push_back({cap, amount});
  });
  return uses;
}

CapUses UsageLimits::CountRequest(const EffectiveLimits& authority, const std::string& user,
                                  const TresCounts& tres, bool& over) const {
  CapUses uses;
  over = false;
  if (!keeps_books_) return uses;
  ForEachCap(authority, user, tres, [&](const std::string& key, int64_t most, int64_t amount) {
    over = over || amount > most;
    const auto known = caps_.find(key);
    if (known != caps_.end()) uses.push_back({known->second, amount});
  });
  return uses;
}

}  // namespace gpuadvise
