// Looks up policy tables of a snapshot as Slurm does: a user's association, a job's default QOS,
// what is enforced. Pure; safe from any thread.
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

// Whether nobody's rights are meant: a caller who is not known, or root, who runs no jobs.
bool IsAnybody(const Submitter& submitter);

// Whether the site's associations include `account`, of a user or of the account itself.
bool HasAccount(const Snapshot& snapshot, std::string_view account);

// Of the associations that may use `partition` the one with the fewest rights: priority, fair
// share, QOS. Of the users', or, whatever its partitions, of `account`. nullptr if there is none.
const Association* FindPlainAssociation(const Snapshot& snapshot, std::string_view partition,
                                        std::string_view account = {});

// The association of `submitter` in `partition`: one for that partition, or else for all; without
// an account, of the user's default account. Where associations are enforced, anybody's is the
// plain one of the submitter's public account. nullptr if there is none.
const Association* FindAssociation(const Snapshot& snapshot, const Submitter& submitter,
                                   std::string_view partition);

// The association, its account's record, and parents up to the root.
std::vector<const Association*> WithParents(const Snapshot& snapshot, const Association& leaf);

// Of "high,normal" the QOS that Slurm tries first: the one of highest priority, or the first if
// none is known.
std::string BestQos(const Snapshot& snapshot, std::string_view list);

// Whether `association` is another's, in whose place anybody asks.
bool StandsIn(const Submitter& submitter, const Association& association);

// The job's QOS: the (best) one requested, with an association in anybody's place the submitter's
// public one, the association's default, its only allowed one, the root's default, or "normal".
std::string EffectiveQos(const Snapshot& snapshot, const Submitter& submitter,
                         const Association* association);

// AccountingStorageEnforce, with what each word implies.
struct Enforced {
  bool associations = false;
  bool limits = false;
  bool qos = false;
};
Enforced EnforcedBy(std::string_view accounting_storage_enforce);

// Further words in SchedulerConfig::hidden besides those of PrivateData: slurm.conf, and limits and
// fair share.
inline constexpr std::string_view kHiddenConf = "conf";
inline constexpr std::string_view kHiddenLimits = "limits";

// Data hidden from the collector, by PrivateData or its source, with the remedy: sentences joined
// by ". "; "" if nothing is hidden.
std::string DescribeHiddenData(const SchedulerConfig& config);

// Whether `flags` (of a QOS, a reservation, PriorityFlags) contains `flag`, ignoring case.
bool HasFlag(const std::vector<std::string>& flags, std::string_view flag);
bool HasFlag(std::string_view flags, std::string_view flag);

}  // namespace gpuadvise
