// Looking things up in the policy tables of a snapshot the way Slurm does: which association a user
// works under, which QOS a job gets that names none, what is enforced. Pure; safe from any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/slurm/snapshot.h"
#include "common/slurm/submitter.h"

namespace gpuadvise {

const Partition* FindPartition(const Snapshot& snapshot, std::string_view name);
const Partition* DefaultPartition(const Snapshot& snapshot);
const Qos* FindQos(const Snapshot& snapshot, std::string_view name);

// The association of `submitter` in `partition`: one for just that partition before one for all;
// no account given means the user's default account. nullptr when there is none.
const Association* FindAssociation(const Snapshot& snapshot, const Submitter& submitter,
                                   std::string_view partition);

// The association, its account's own record, that account's parent, and so on to the root.
std::vector<const Association*> WithParents(const Snapshot& snapshot, const Association& leaf);

// The one of "high,normal" that Slurm tries first, that of the highest priority; of those that are
// not known the first. A single one is itself.
std::string BestQos(const Snapshot& snapshot, std::string_view list);

// The QOS a job runs under: the (best) one it names, the association's default, the only one
// allowed there, the root's default, else "normal".
std::string EffectiveQos(const Snapshot& snapshot, const Submitter& submitter,
                         const Association* association);

// AccountingStorageEnforce, with what each word implies.
struct Enforced {
  bool associations = false;
  bool limits = false;
  bool qos = false;
};
Enforced EnforcedBy(std::string_view accounting_storage_enforce);

// Words of SchedulerConfig::hidden beside those of PrivateData: slurm.conf, and limits and fair
// share.
inline constexpr std::string_view kHiddenConf = "conf";
inline constexpr std::string_view kHiddenLimits = "limits";

// What of the cluster the collector does not see, by PrivateData or because its source does not
// tell it, with the remedy: a sentence for each, joined by ". "; "" where everything is seen.
std::string UnseenInWords(const SchedulerConfig& config);

// Whether `flags` (of a QOS, a reservation, PriorityFlags) contains `flag`, in any case.
bool HasFlag(const std::vector<std::string>& flags, std::string_view flag);
bool HasFlag(std::string_view flags, std::string_view flag);

}  // namespace gpuadvise
