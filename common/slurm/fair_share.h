// Fair share as slurmctld computes it, from shares and usage: what the factors will be once usage
// has changed.
//
// Fair Tree (https://slurm.schedmd.com/fair_tree.html): among siblings, those whose part of the
// usage is smallest for their part of the shares come first, then all of their own children; a
// user's factor is his place, counted from the end, over the number of users. Classic
// (PriorityFlags=NO_FAIR_TREE): 2^(-U/S) of the effective usage
// (https://slurm.schedmd.com/classic_fair_share.html). Immutable; safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "common/slurm/snapshot.h"

namespace gpuadvise {

class FairShareTree {
 public:
  FairShareTree() = default;  // without leaves

  // `active`: users whose usage will change. The others keep their order among themselves and share
  // leaves, at most kGroups in an account. Each of them has the factor of the middle of his leaf,
  // and the cost depends on the active users alone.
  //
  // A tree without leaves where priority does not depend on fair share, where associations are
  // hidden, or where the factors that Slurm reports do not follow from the usage that it reports.
  // REQUIRES: `snapshot` outlives it.
  FairShareTree(const Snapshot& snapshot, const std::unordered_set<std::string>& active);

  static constexpr size_t kGroups = 16;

  bool empty() const { return usage_.empty(); }

  // The leaf with a user's association; -1: none, or null. REQUIRES: it is one of the snapshot's.
  int32_t LeafOf(const Association* association) const;

  // Decayed usage (RawUsage: billing seconds) of each leaf in the snapshot.
  const std::vector<double>& usage() const { return usage_; }

  // The factor (0 to 1) of each leaf if its usage were `usage`. `of_accounts`: how much the usage
  // that accounts have beside that of their users has decayed (1: as in the snapshot).
  void FindFactors(const std::vector<double>& usage, double of_accounts,
                   std::vector<double>& factors) const;

 private:
  struct Member {
    int32_t parent = -1;  // -1: the root
    int32_t leaf = -1;    // -1: an account
    double users = 1;     // that a leaf stands for
    double part = 0;      // its shares, of those of all siblings
    double own = 0;       // usage that none of its children has
    std::vector<int32_t> children;
  };

  void AddMembers(const Snapshot& snapshot);
  void Condense(const Snapshot& snapshot, const std::unordered_set<std::string>& active);
  static void SumUp(const std::vector<Member>& members, const std::vector<double>& usage,
                    double of_accounts, std::vector<double>& sums);
  struct Ranking;
  void RankSiblings(std::vector<int32_t> siblings, bool tied, Ranking& ranking) const;
  bool AgreesWith(const Snapshot& snapshot) const;

  const Snapshot* snapshot_ = nullptr;
  bool is_classic_ = false;
  std::vector<Member> members_;   // parents before their children
  std::vector<int32_t> leaf_of_;  // by index in snapshot.associations
  std::vector<double> usage_;
  double users_ = 0;
};

}  // namespace gpuadvise
