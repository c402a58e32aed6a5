// The slow-changing tables of slurmrestd: configuration, associations, QOS, and the usage that
// counts against their limits.
//
// Limits come from slurmdbd; ids, shares and past usage from slurmctld's shares. Usage against
// limits is in neither: it is summed over the running jobs, as slurmctld does. Pure functions, any
// thread.
#pragma once

#include <string>
#include <vector>

#include "common/slurm/snapshot.h"
#include "daemon/collect/rest_json.h"
#include "daemon/collect/slurm_conf_file.h"

namespace gpuadvise::collect {

// The settings in /slurm/vX/conf (v0.0.45 and later) in the form of slurm.conf.
ConfKeys RestConfKeys(const RestJson& answer);

// `shares`: from /slurm/vX/shares; `associations`: from /slurmdb/vX/associations; reads only those
// of `cluster`.
std::vector<Association> RestAssociations(const RestJson& shares, const RestJson& associations,
                                          const std::string& cluster);

std::vector<Qos> RestQos(const RestJson& answer);

// Resources held by one running job, and what they count against.
struct RestUse {
  int64_t association = 0;
  std::string qos;
  std::string partition;
  TresCounts tres;
  std::vector<std::string> nodes;  // a node shared by several jobs counts once
};
std::vector<RestUse> RestUses(const RestJson& jobs_answer);

// Adds each use to the job's association and its ancestors, the job's QOS and the partition's QOS.
void CountUses(const std::vector<RestUse>& uses, Snapshot& snapshot);

}  // namespace gpuadvise::collect
