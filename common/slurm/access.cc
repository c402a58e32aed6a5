#include "common/slurm/access.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "common/base/text.h"
#include "common/base/words.h"
#include "common/slurm/policy.h"
#include "common/slurm/tres.h"

namespace gpuadvise {
namespace {

tl::unexpected<Error> No(std::string message) {
  return Fail(ErrorCode::kInfeasible, std::move(message));
}

// Callers without a name (over TCP) see no accounts or QOS: these are for users with a login.
bool HasName(const Submitter& submitter) { return submitter.uid >= 0 || !submitter.user.empty(); }

Result<void> CheckState(const Partition& partition, const Submitter& submitter) {
  if (partition.state != PartitionState::kUp) {
    return No(fmt::format("partition {} is {}: it starts no jobs until an administrator opens it",
                          partition.name,
                          partition.state == PartitionState::kDown    ? "down"
                          : partition.state == PartitionState::kDrain ? "draining"
                                                                      : "inactive"));
  }
  if (partition.root_only && submitter.uid != 0) {
    return No(fmt::format("partition {} is for root only", partition.name));
  }
  return {};
}

Result<void> CheckAccount(const Snapshot& snapshot, const Partition& partition,
                          const Submitter& submitter, const EffectiveLimits& authority) {
  const bool enforced = EnforcedBy(snapshot.config.enforce).associations;
  if (enforced && authority.association == nullptr) {
    if (!HasName(submitter)) {
      return No(fmt::format("partition {} is for users with an account: ask on the cluster itself",
                            partition.name));
    }
    std::vector<std::string> accounts;
    for (const Association& assoc : snapshot.associations) {
      if (assoc.user == submitter.user && !assoc.user.empty()) accounts.push_back(assoc.account);
    }
    return No(fmt::format(
        "user {} has no account{} for partition {}; {}", submitter.user,
        submitter.account.empty() ? "" : " " + submitter.account, partition.name,
        accounts.empty() ? "ask an administrator for one" : "allowed: " + JoinNames(accounts)));
  }
  std::string account = submitter.account;
  if (authority.association != nullptr) account = authority.association->account;
  const auto& allow = partition.allow_accounts;
  if (!allow.empty() && !IsOneOf(account, allow)) {
    if (!HasName(submitter)) {
      return No(fmt::format("partition {} is for certain accounts: ask on the cluster itself",
                            partition.name));
    }
    return No(fmt::format("partition {} is for the accounts {}, not {}", partition.name,
                          JoinNames(allow), account.empty() ? "without one" : account));
  }
  if (allow.empty() && IsOneOf(account, partition.deny_accounts)) {
    return No(fmt::format("partition {} is closed to account {}", partition.name, account));
  }
  return {};
}

bool TakesQos(const Partition& partition, const std::string& qos) {
  return partition.allow_qos.empty() ? !IsOneOf(qos, partition.deny_qos)
                                     : IsOneOf(qos, partition.allow_qos);
}

// The job's QOS in `partition`: of several requested, the best that the partition accepts.
std::string QosIn(const Snapshot& snapshot, const Partition& partition, const Submitter& submitter,
                  const Association* association) {
  std::string taken;
  for (std::string_view part : SplitAt(submitter.qos, ',')) {
    const std::string name(part);
    if (TakesQos(partition, name)) taken += (taken.empty() ? "" : ",") + name;
  }
  return taken.empty() ? EffectiveQos(snapshot, submitter, association) : BestQos(snapshot, taken);
}

// Slurm compares the short name of the submitting host.
Result<void> CheckHost(const Partition& partition, const Submitter& submitter) {
  const std::string host = submitter.host.substr(0, submitter.host.find('.'));
  const std::vector<std::string>& hosts = partition.alloc_nodes;
  if (hosts.empty() || host.empty() || IsOneOf(host, hosts) || IsOneOf(submitter.host, hosts))
    return {};
  return No(fmt::format("partition {} accepts jobs only from {}, not from this host ({})",
                        partition.name, JoinNames(hosts), host));
}

// Checks that the QOS exists and the submitter may use it.
Result<void> CheckOneQos(const Snapshot& snapshot, const Submitter& submitter,
                         const Association* assoc, const std::string& qos) {
  if (!submitter.qos.empty() && !snapshot.qos.empty() && FindQos(snapshot, qos) == nullptr) {
    if (!HasName(submitter)) return No("QOS are checked for users only: ask on the cluster itself");
    std::vector<std::string> names;
    for (const Qos& known : snapshot.qos) names.push_back(known.name);
    return No(fmt::format("there is no QOS {}{}; QOS: {}", Quoted(qos), DidYouMean(qos, names),
                          JoinNames(names)));
  }
  const bool enforced = EnforcedBy(snapshot.config.enforce).qos;
  if (assoc != nullptr && StandsIn(submitter, *assoc)) return {};  // these are not told
  if (enforced && assoc != nullptr && !assoc->qos.empty() && !IsOneOf(qos, assoc->qos)) {
    return No(fmt::format("account {} of user {} may not use QOS {}; allowed: {}", assoc->account,
                          assoc->user, qos, JoinNames(assoc->qos)));
  }
  return {};
}

Result<void> CheckPartitionsQos(const Partition& partition, const Submitter& submitter,
                                const std::string& qos) {
  if (TakesQos(partition, qos)) return {};
  if (partition.allow_qos.empty())
    return No(fmt::format("partition {} is closed to QOS {}", partition.name, qos));
  if (!HasName(submitter)) {
    return No(
        fmt::format("partition {} is for certain QOS: ask on the cluster itself", partition.name));
  }
  return No(fmt::format("partition {} is for the QOS {}, not {}", partition.name,
                        JoinNames(partition.allow_qos), qos));
}

Result<void> CheckQos(const Snapshot& snapshot, const Partition& partition,
                      const Submitter& submitter, const EffectiveLimits& authority) {
  const Association* assoc = authority.association;
  const std::string effective = QosIn(snapshot, partition, submitter, assoc);
  for (std::string_view qos : SplitAt(submitter.qos.empty() ? effective : submitter.qos, ',')) {
    if (auto good = CheckOneQos(snapshot, submitter, assoc, std::string(qos)); !good) return good;
  }
  return CheckPartitionsQos(partition, submitter, effective);
}

Result<void> CheckTime(const Partition& partition, const JobRequest& request,
                       const EffectiveLimits& authority) {
  const SlurmNumber asked = request.time_limit_seconds.absent() ? partition.default_time_seconds
                                                                : request.time_limit_seconds;
  if (asked.absent()) return {};
  const auto over = [&](SlurmNumber most) {
    return most.has_value() && (asked.infinite() || asked.value() > most.value());
  };
  const auto say = [&](SlurmNumber most, const std::string& whose) {
    return No(fmt::format(
        "time limit {} exceeds the {} that {} allows",
        asked.infinite() ? "unlimited" : DurationInWords(static_cast<double>(asked.value())),
        DurationInWords(static_cast<double>(most.value())), whose));
  };
  const bool exempt =
      authority.qos != nullptr && HasFlag(authority.qos->flags, "PartitionTimeLimit");
  if (!exempt && over(partition.max_time_seconds)) {
    return say(partition.max_time_seconds, "partition " + partition.name);
  }
  for (const Limits* limits : authority.by_precedence) {
    if (!limits->max_wall_seconds.has_value()) continue;
    if (over(limits->max_wall_seconds)) {
      return say(limits->max_wall_seconds, "your QOS or account (MaxWall)");
    }
    break;
  }
  return {};
}

Result<void> CheckNodes(const Partition& partition, const JobRequest& request,
                        const EffectiveLimits& authority) {
  const bool exempt =
      authority.qos != nullptr && HasFlag(authority.qos->flags, "PartitionMaxNodes");
  if (exempt || !partition.max_nodes.has_value()) return {};
  if (request.nodes_min <= partition.max_nodes.value()) return {};
  return No(fmt::format("partition {} allows a job at most {}, not {}", partition.name,
                        Plural(partition.max_nodes.value(), "node"), request.nodes_min));
}

Result<void> CheckTres(const Snapshot& snapshot, const Partition& partition,
                       const JobRequest& request, const EffectiveLimits& authority) {
  const TresCounts wanted = RequestTres(request, partition, snapshot.config);
  TresCounts most;
  TresCounts per_node;
  for (const Limits* limits : authority.by_precedence) {
    most.insert(limits->max_tres_per_job.begin(), limits->max_tres_per_job.end());
    per_node.insert(limits->max_tres_per_node.begin(), limits->max_tres_per_node.end());
    // A job that alone exceeds a limit per user or group can never run.
    for (const TresCounts* all :
         {&limits->max_tres_per_user, &limits->max_tres_per_account, &limits->group_tres}) {
      for (const auto& [name, count] : *all) {
        const auto [at, fresh] = most.emplace(name, count);
        if (!fresh) at->second = std::min(at->second, count);
      }
    }
    for (const auto& [name, least] : limits->min_tres_per_job) {
      const auto have = wanted.find(CanonicalTres(name));
      if ((have == wanted.end() ? 0 : have->second) >= least) continue;
      return No(fmt::format("a job here must ask for at least {} of {}", least, name));
    }
  }
  const int64_t nodes = std::max<int64_t>(request.nodes_min, 1);
  for (const auto& [name, count] : wanted) {
    if (const auto limit = most.find(name); limit != most.end() && count > limit->second) {
      return No(fmt::format("your QOS or account allows {} of {}, and this job needs {}",
                            limit->second, name, count));
    }
    if (const auto limit = per_node.find(name);
        limit != per_node.end() && count > limit->second * nodes) {
      return No(fmt::format("your QOS or account allows {} of {} per node, and this job needs {}",
                            limit->second, name, count / nodes));
    }
  }
  return {};
}

}  // namespace

std::vector<std::string> VisiblePartitions(const Submitter& submitter, const Snapshot& snapshot) {
  std::vector<std::string> names;
  if (!HasName(submitter) && HasFlag(snapshot.config.private_data, "partitions")) return names;
  for (const Partition& partition : snapshot.partitions) {
    if (!partition.hidden) names.push_back(partition.name);
  }
  return names;
}

bool CanSeePartition(const Submitter& submitter, const Snapshot& snapshot, std::string_view name) {
  const Partition* partition = FindPartition(snapshot, name);
  return partition != nullptr && (HasName(submitter) || !partition->hidden);
}

EffectiveLimits FindEffectiveLimits(const Snapshot& snapshot, const Partition& partition,
                                    const Submitter& submitter) {
  EffectiveLimits authority;
  authority.association = FindAssociation(snapshot, submitter, partition.name);
  authority.qos = FindQos(snapshot, QosIn(snapshot, partition, submitter, authority.association));
  if (!partition.qos.empty()) authority.partition_qos = FindQos(snapshot, partition.qos);
  if (!EnforcedBy(snapshot.config.enforce).limits) return authority;
  if (authority.association != nullptr) {
    authority.chain = WithParents(snapshot, *authority.association);
  }
  const Qos* first = authority.partition_qos;
  const Qos* second = authority.qos;
  if (second != nullptr && HasFlag(second->flags, "OverPartQOS")) std::swap(first, second);
  for (const Qos* qos : {first, second}) {
    if (qos != nullptr) authority.by_precedence.push_back(&qos->limits);
  }
  for (const Association* assoc : authority.chain)
    authority.by_precedence.push_back(&assoc->limits);
  return authority;
}

Result<void> CheckAccess(const Snapshot& snapshot, const Partition& partition,
                         const JobRequest& request, const Submitter& submitter,
                         const EffectiveLimits& authority) {
  auto good = CheckState(partition, submitter);
  if (good) good = CheckHost(partition, submitter);
  if (good) good = CheckAccount(snapshot, partition, submitter, authority);
  if (good) good = CheckQos(snapshot, partition, submitter, authority);
  if (good) good = CheckTime(partition, request, authority);
  if (good) good = CheckNodes(partition, request, authority);
  if (good) good = CheckTres(snapshot, partition, request, authority);
  return good;
}

}  // namespace gpuadvise
