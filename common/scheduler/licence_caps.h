// Licences as limits on use (usage_limits.h): a job that wants more than are left waits, and holds
// nobody else back. So does Slurm without bf_licenses.
//
// What reservations set aside is for their own jobs, until they end. Built once per snapshot, then
// immutable; safe from any thread. https://slurm.schedmd.com/licenses.html
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/base/error.h"
#include "common/base/unix_time.h"
#include "common/scheduler/usage_limits.h"
#include "common/slurm/snapshot.h"

namespace gpuadvise {

// What a reservation that has begun sets aside.
struct LicencesAside {
  LimitUse use;
  int64_t until = kNever;  // seconds from the snapshot
};

class LicenceCaps {
 public:
  LicenceCaps() = default;

  // Adds a cap to `limits` for each licence of the cluster, less what somebody unseen uses.
  LicenceCaps(const Snapshot& snapshot, UsageLimits& limits);

  // What a job with `request` counts against. Where one of several licences is enough, the one that
  // the cluster has most of counts. Licences that the snapshot does not have are left out.
  CapUses Count(const JobRequest& request) const;

  const std::vector<LicencesAside>& aside() const { return aside_; }

  // Errors: kInfeasible for a licence that the cluster does not have, or has too few of. Without
  // any licence in the snapshot nothing is known, and nothing is wrong.
  Result<void> Check(const JobRequest& request) const;

 private:
  struct Pool {
    int32_t cap = -1;
    int64_t total = 0;
  };
  const Pool* Find(const std::string& reservation, const std::string& name) const;

  std::map<std::pair<std::string, std::string>, Pool> pools_;  // by reservation ("") and licence
  std::vector<LicencesAside> aside_;
};

// The licence of `config` that a job means by `name`: "matlab" also stands for "matlab@server".
const License* FindLicence(const SchedulerConfig& config, const std::string& name);

}  // namespace gpuadvise
