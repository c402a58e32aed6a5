// Usage limits of users, accounts and QOS as simulation counters: a job that would exceed one waits
// without holding back others.
//
// A cap is one counter. Association, QOS and partition determine a job's caps. Built once per
// snapshot, then immutable; safe from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/slurm/access.h"
#include "common/slurm/snapshot.h"

namespace gpuadvise {

// Amount that a running job adds to one cap.
struct LimitUse {
  int32_t cap = 0;
  int64_t amount = 0;
};
using CapUses = std::vector<LimitUse>;

class UsageLimits {
 public:
  // Inactive unless AccountingStorageEnforce has limits.
  explicit UsageLimits(const Snapshot& snapshot);
  bool is_enforced() const { return keeps_books_; }

  // Caps that a job under `authority` counts against; created on demand.
  CapUses Count(const EffectiveLimits& authority, const std::string& user, const TresCounts& tres);

  // Like Count(), for a hypothetical job: omits caps that only it would use. Sets `over` if the job
  // alone exceeds one.
  CapUses CountRequest(const EffectiveLimits& authority, const std::string& user,
                       const TresCounts& tres, bool& over) const;

  // A separate counter, such as an array's "%N" or a licence.
  int32_t AddCap(int64_t most, std::string name);

  // Whether the cap is a QOS or association limit.
  bool IsPolicy(int32_t cap) const { return is_policy_[static_cast<size_t>(cap)]; }

  // Limit of each cap.
  const std::vector<int64_t>& most() const { return most_; }

  // Description of each cap: "QOS gpu4 for user ann on gres/gpu".
  const std::vector<std::string>& names() const { return names_; }

 private:
  bool keeps_books_ = false;
  std::unordered_map<std::string, int32_t> caps_;
  std::vector<int64_t> most_;
  std::vector<std::string> names_;
  std::vector<bool> is_policy_;
};

}  // namespace gpuadvise
