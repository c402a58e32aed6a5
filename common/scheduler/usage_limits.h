// Limits on what a user, an account or a QOS may use at the same time, as counters that a
// simulation can keep: a job that would push one over its limit waits, and holds nobody else back.
//
// A cap is one such counter. Which caps a job counts against follows from its association, QOS and
// partition alone. Built once per snapshot, then immutable; safe from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/slurm/access.h"
#include "common/slurm/snapshot.h"

namespace gpuadvise {

// What one job adds to one counter while it runs.
struct LimitUse {
  int32_t cap = 0;
  int64_t amount = 0;
};
using CapUses = std::vector<LimitUse>;

class UsageLimits {
 public:
  // Keeps no books at all where AccountingStorageEnforce has no limits.
  explicit UsageLimits(const Snapshot& snapshot);
  bool keeps_books() const { return keeps_books_; }

  // The caps that a job under `authority` counts against, which are created as needed.
  CapUses Count(const EffectiveLimits& authority, const std::string& user, const TresCounts& tres);

  // The same for a job that is not in the snapshot: caps that nobody else counts against are left
  // out, unless the job alone is over one of them, which sets `over`.
  CapUses CountRequest(const EffectiveLimits& authority, const std::string& user,
                       const TresCounts& tres, bool& over) const;

  // A counter of its own, such as an array's "%N" or the licences of one name.
  int32_t AddCap(int64_t most, std::string name);

  // Whether a cap is a limit of a QOS or association.
  bool IsPolicy(int32_t cap) const { return is_policy_[static_cast<size_t>(cap)]; }

  // How much each cap allows.
  const std::vector<int64_t>& most() const { return most_; }

  // What each cap limits: "QOS gpu4 for user ann on gres/gpu".
  const std::vector<std::string>& names() const { return names_; }

 private:
  bool keeps_books_ = false;
  std::unordered_map<std::string, int32_t> caps_;
  std::vector<int64_t> most_;
  std::vector<std::string> names_;
  std::vector<bool> is_policy_;
};

}  // namespace gpuadvise
