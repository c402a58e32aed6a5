#include "common/slurm/policy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>

#include "common/base/text.h"

namespace gpuadvise {
namespace {

template <typename T>
const T* FindByName(const std::vector<T>& values, std::string_view name) {
  const auto found = std::find_if(values.begin(), values.end(),
                                  [&](const T& value) { return value.name == name; });
  return found == values.end() ? nullptr : &*found;
}

const Association* Root(const Snapshot& snapshot) {
  for (const Association& assoc : snapshot.associations) {
    if (assoc.user.empty() && assoc.account == "root") return &assoc;
  }
  return nullptr;
}

}  // namespace

const Partition* FindPartition(const Snapshot& snapshot, std::string_view name) {
  return FindByName(snapshot.partitions, name);
}

const Partition* DefaultPartition(const Snapshot& snapshot) {
  for (const Partition& partition : snapshot.partitions) {
    if (partition.is_default) return &partition;
  }
  return nullptr;
}

const Qos* FindQos(const Snapshot& snapshot, std::string_view name) {
  return FindByName(snapshot.qos, name);
}

bool IsAnybody(const Submitter& submitter) {
  return submitter.uid == 0 || (submitter.uid < 0 && submitter.user.empty());
}

bool HasAccount(const Snapshot& snapshot, std::string_view account) {
  return std::ranges::any_of(snapshot.associations,
                             [&](const Association& one) { return one.account == account; });
}

const Association* FindPlainAssociation(const Snapshot& snapshot, std::string_view partition,
                                        std::string_view account) {
  const bool of_any = !HasAccount(snapshot, account);
  const Partition* const there = of_any ? FindPartition(snapshot, partition) : nullptr;
  const Association* plainest = nullptr;
  const auto rights = [](const Association& assoc) {
    return std::tuple(assoc.user.empty(), assoc.priority, assoc.fair_share, assoc.qos.size());
  };
  for (const Association& assoc : snapshot.associations) {
    if (of_any ? assoc.user.empty() || assoc.user == "root" : assoc.account != account) continue;
    if (!assoc.partition.empty() && assoc.partition != partition) continue;
    if (there != nullptr && !there->allow_accounts.empty() &&
        !IsOneOf(assoc.account, there->allow_accounts)) {
      continue;
    }
    if (there != nullptr && IsOneOf(assoc.account, there->deny_accounts)) continue;
    if (plainest == nullptr || rights(assoc) < rights(*plainest)) plainest = &assoc;
  }
  return plainest;
}

const Association* FindAssociation(const Snapshot& snapshot, const Submitter& submitter,
                                   std::string_view partition) {
  const Association* best = nullptr;
  int best_fit = -1;
  for (const Association& assoc : snapshot.associations) {
    if (assoc.user.empty() || assoc.user != submitter.user) continue;
    if (!submitter.account.empty() && assoc.account != submitter.account) continue;
    if (!assoc.partition.empty() && assoc.partition != partition) continue;
    // The default account has precedence over the partition: it selects the account.
    const bool default_account = submitter.account.empty() && assoc.is_default;
    const int fit = (default_account ? 2 : 0) + (assoc.partition.empty() ? 0 : 1);
    if (fit <= best_fit) continue;
    best = &assoc;
    best_fit = fit;
  }
  const bool stands_in = best == nullptr && submitter.account.empty() && IsAnybody(submitter) &&
                         EnforcedBy(snapshot.config.enforce).associations;
  return stands_in ? FindPlainAssociation(snapshot, partition, submitter.public_account) : best;
}

bool StandsIn(const Submitter& submitter, const Association& association) {
  return IsAnybody(submitter) && (association.user.empty() || association.user != submitter.user);
}

std::vector<const Association*> WithParents(const Snapshot& snapshot, const Association& leaf) {
  std::vector<const Association*> chain = {&leaf};
  std::string account = leaf.user.empty() ? leaf.parent_account : leaf.account;
  while (!account.empty() && chain.size() < 64) {
    const auto next =
        std::find_if(snapshot.associations.begin(), snapshot.associations.end(),
                     [&](const Association& a) { return a.user.empty() && a.account == account; });
    if (next == snapshot.associations.end()) break;
    chain.push_back(&*next);
    account = next->parent_account;
  }
  return chain;
}

std::string BestQos(const Snapshot& snapshot, std::string_view list) {
  const Qos* best = nullptr;
  for (std::string_view name : SplitAt(list, ',')) {
    const Qos* qos = FindQos(snapshot, name);
    if (qos != nullptr && (best == nullptr || qos->priority > best->priority)) best = qos;
  }
  return best != nullptr ? best->name : std::string(list.substr(0, list.find(',')));
}

std::string EffectiveQos(const Snapshot& snapshot, const Submitter& submitter,
                         const Association* association) {
  if (!submitter.qos.empty()) return BestQos(snapshot, submitter.qos);
  if (association != nullptr) {
    const bool is_public = StandsIn(submitter, *association);
    if (is_public && FindQos(snapshot, submitter.public_qos) != nullptr)
      return submitter.public_qos;
    if (!association->default_qos.empty()) return association->default_qos;
    if (association->qos.size() == 1) return association->qos.front();
  }
  const Association* root = Root(snapshot);
  if (root != nullptr && !root->default_qos.empty()) return root->default_qos;
  return "normal";
}

std::string DescribeHiddenData(const SchedulerConfig& config) {
  const auto hides = [&](std::string_view word) { return HasFlag(config.hidden, word); };
  std::vector<std::string> what;
  if (hides("jobs")) what.emplace_back("other users' jobs");
  if (hides("nodes")) what.emplace_back("nodes");
  if (hides("reservations")) what.emplace_back("reservations for others");
  if (hides("usage") || hides("users") || hides("accounts")) {
    what.emplace_back("what others have used");
  }
  std::vector<std::string> sentences;
  if (!what.empty()) {
    sentences.push_back(fmt::format(
        "PrivateData hides {} from gpuadvised's Slurm user, so their part in the "
        "forecast is a guess; an administrator can make that user an operator (sacctmgr "
        "add user NAME account=ANY adminlevel=operator)",
        fmt::join(what, ", ")));
  }
  if (hides(kHiddenConf)) {
    sentences.emplace_back(
        "slurmrestd does not provide slurm.conf, so Slurm's scheduling defaults are assumed; an "
        "administrator can set slurm_conf in gpuadvised's settings");
  }
  if (hides(kHiddenLimits)) {
    sentences.emplace_back(
        "slurmrestd provides neither associations nor QOS, so limits and fair share are not "
        "simulated; an administrator can load its slurmdbd plugin");
  }
  return fmt::format("{}", fmt::join(sentences, ". "));
}

Enforced EnforcedBy(std::string_view accounting_storage_enforce) {
  const auto has = [&](std::string_view word) { return HasFlag(accounting_storage_enforce, word); };
  Enforced enforced;
  const bool all = has("all");
  enforced.limits = all || has("limits") || has("safe");
  enforced.qos = all || has("qos");
  enforced.associations = enforced.limits || enforced.qos || has("associations") || has("wckeys");
  return enforced;
}

bool HasFlag(const std::vector<std::string>& flags, std::string_view flag) {
  return std::any_of(flags.begin(), flags.end(),
                     [&](const std::string& word) { return EqualIgnoringCase(word, flag); });
}

bool HasFlag(std::string_view flags, std::string_view flag) {
  while (!flags.empty()) {
    const size_t end = std::min(flags.find_first_of(",| "), flags.size());
    if (EqualIgnoringCase(flags.substr(0, end), flag)) return true;
    flags.remove_prefix(std::min(end + 1, flags.size()));
  }
  return false;
}

}  // namespace gpuadvise
