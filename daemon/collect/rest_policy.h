// The slow-changing part of what slurmrestd tells: configuration, associations, QOS, and what of
// their limits running jobs use up.
//
// Limits come from slurmdbd; ids, shares and usage from slurmctld's shares. What counts against a
// limit is in neither: it is added up from the running jobs, as slurmctld does. Pure functions, any
// thread.
#pragma once

#include <string>
#include <vector>

#include "common/slurm/snapshot.h"
#include "daemon/collect/rest_json.h"
#include "daemon/collect/slurm_conf_file.h"

namespace gpuadvise::collect {

// The keys of /slurm/vX/conf (v0.0.45 and later) as slurm.conf has them.
ConfKeys RestConfKeys(const RestJson& answer);

// `shares`: of /slurm/vX/shares; `associations`: of /slurmdb/vX/associations, of which only those
// of `cluster` count.
std::vector<Association> RestAssociations(const RestJson& shares, const RestJson& associations,
                                          const std::string& cluster);

std::vector<Qos> RestQos(const RestJson& answer);

// What one running job holds, and of whom.
struct RestUse {
  int64_t association = 0;
  std::string qos;
  std::string partition;
  TresCounts tres;
  std::vector<std::string> nodes;  // one that several jobs share counts once
};
std::vector<RestUse> RestUses(const RestJson& jobs_answer);

// Adds them up where they count: the association and those above it, the job's QOS, the
// partition's.
void CountUses(const std::vector<RestUse>& uses, Snapshot& snapshot);

}  // namespace gpuadvise::collect
