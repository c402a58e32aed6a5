// Licences as usage limits (usage_limits.h): a job that wants more than are free waits without
// holding back others, as in Slurm without bf_licenses.
//
// Licences of a reservation are for its own jobs until it ends. Built once per snapshot, then
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

// Licences set aside by a reservation that has begun.
struct LicencesAside {
  LimitUse use;
  int64_t until = kNever;  // seconds from the snapshot
};

class LicenceCaps {
 public:
  LicenceCaps() = default;

  // Adds a cap to `limits` for each licence of the cluster, minus hidden use.
  LicenceCaps(const Snapshot& snapshot, UsageLimits& limits);

  // Caps that `request` counts against. Of alternative licences the most plentiful counts. Licences
  // missing from the snapshot are omitted.
  CapUses Count(const JobRequest& request) const;

  const std::vector<LicencesAside>& aside() const { return aside_; }

  // Errors: kInfeasible for a licence that the cluster lacks or has too few of. A snapshot without
  // licences passes everything.
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

// The licence of `config` that `name` means: "matlab" also matches "matlab@server".
const License* FindLicence(const SchedulerConfig& config, const std::string& name);

}  // namespace gpuadvise
