// Associations and QOS from text: `scontrol show assoc_mgr` (limits and their usage, as known to
// slurmctld), `sshare -P` (fair share at full precision) and `sacctmgr -P` (allowed QOS, limits per
// user and account, preemption).
//
// The first exists on every cluster with accounting; the others add to it and may be empty.
// Missing fields keep their defaults; nothing here fails. Pure functions, any thread.
#pragma once

#include <string_view>
#include <vector>

#include "common/slurm/snapshot.h"

namespace gpuadvise::collect {

struct AccountingText {
  std::string_view assoc_mgr;     // scontrol show assoc_mgr
  std::string_view shares;        // sshare -a -m -P -o kShareColumns
  std::string_view associations;  // sacctmgr -P show assoc format=kAssociationColumns
  std::string_view qos;           // sacctmgr -P show qos format=kQosColumns
};

inline constexpr std::string_view kShareColumns =
    "Account,User,Partition,RawShares,NormShares,RawUsage,EffectvUsage,FairShare";
inline constexpr std::string_view kAssociationColumns = "ID,QOS,DefaultQOS";
inline constexpr std::string_view kQosColumns =
    "Name,Priority,Preempt,PreemptMode,Flags,UsageFactor,GrpTRES,GrpJobs,GrpSubmit,MaxTRES,"
    "MaxTRESPerNode,MaxWall,MaxTRESPU,MaxJobsPU,MaxSubmitPU,MaxTRESPA,MinTRES";

std::vector<Association> ParseAssociations(const AccountingText& text);
std::vector<Qos> ParseQos(const AccountingText& text);

// Converts limits of QOS with the flag Relative, percentages in sacctmgr's text, to amounts as
// slurmctld does: of the partition that has the QOS, else of the whole cluster; rounded down.
void MakeLimitsAbsolute(Snapshot& snapshot);

// AdminLevel of a user ("Operator"); "" if assoc_mgr does not list the user.
std::string AdminLevelOf(std::string_view assoc_mgr, std::string_view user);

// "cpu=16,mem=200G,gres/gpu=4" with memory in MiB. Parts without a number ("cpu=N") are left out.
TresCounts ParseTresCounts(std::string_view text);

}  // namespace gpuadvise::collect
