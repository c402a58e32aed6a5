#include "common/slurm/fair_share.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <unordered_map>
#include <utility>

#include "common/slurm/policy.h"
#include "common/slurm/priority.h"

namespace gpuadvise {
namespace {

constexpr int64_t kSharesOfParent = 0x7FFFFFFF;  // Fairshare=parent

// Factors are printed with six digits, and between two updates; more than this is another rule.
constexpr double kAgreement = .02;

constexpr int kDeepest = 64;  // accounts above each other

// Above what any cluster has used, and far from where sums overflow.
constexpr double kMostUsage = 1e18;

double Positive(double value) { return value > 0 ? std::min(value, kMostUsage) : 0; }

// Usage for each share: those with less of it come first.
double PerShare(double usage, double part) {
  return part > 0 ? usage / part : std::numeric_limits<double>::infinity();
}

}  // namespace

struct FairShareTree::Ranking {
  std::vector<double> levels;  // by member: its part of the shares over its part of the usage
  std::vector<double>* factors = nullptr;
  double next = 0;  // place of the next user, from the number of users down
  double last = 0;  // that of the one before, which those that are tied with him share
};

FairShareTree::FairShareTree(const Snapshot& snapshot,
                             const std::unordered_set<std::string>& active)
    : snapshot_(&snapshot) {
  const SchedulerConfig& config = snapshot.config;
  if (config.priority_type != "priority/multifactor" || config.weights.fair_share == 0) return;
  is_classic_ = HasFlag(config.priority_flags, "NO_FAIR_TREE");
  AddMembers(snapshot);
  users_ = static_cast<double>(usage_.size());
  AgreesWith(snapshot) ? Condense(snapshot, active) : usage_.clear();
}

// Accounts from the root down, each followed by its users.
void FairShareTree::AddMembers(const Snapshot& snapshot) {
  const std::vector<Association>& all = snapshot.associations;
  std::unordered_map<std::string, std::vector<size_t>> below;  // by account
  std::vector<size_t> level;
  for (size_t i = 0; i < all.size(); ++i) {
    const bool is_root = all[i].user.empty() && all[i].parent_account.empty();
    if (is_root) level.push_back(i);
    if (!is_root) below[all[i].user.empty() ? all[i].parent_account : all[i].account].push_back(i);
  }
  leaf_of_.assign(all.size(), -1);
  if (level.size() != 1) return;
  struct Open {
    size_t index;
    int32_t parent;
    int depth;
  };
  std::vector<Open> open = {{level.front(), -1, 0}};
  std::vector<bool> known(all.size(), false);
  for (size_t next = 0; next < open.size(); ++next) {
    const auto [index, parent, depth] = open[next];
    if (known[index]) continue;
    known[index] = true;
    const Association& association = all[index];
    const auto number = static_cast<int32_t>(members_.size());
    Member& member = members_.emplace_back();
    member.parent = parent;
    member.own = Positive(association.usage_raw);
    member.part = association.shares >= kSharesOfParent
                      ? 0
                      : Positive(static_cast<double>(association.shares));
    if (parent >= 0) {
      members_[static_cast<size_t>(parent)].children.push_back(number);
      members_[static_cast<size_t>(parent)].own -= Positive(association.usage_raw);
    }
    if (!association.user.empty()) {
      member.leaf = leaf_of_[index] = static_cast<int32_t>(usage_.size());
      usage_.push_back(Positive(association.usage_raw));
      continue;
    }
    if (depth == kDeepest) continue;
    std::vector<size_t>& children = below[association.account];
    for (const size_t child : children) open.push_back({child, number, depth + 1});
    children.clear();  // of the first account of that name
  }
  for (const Member& member : members_) {
    double shares = 0;
    for (const int32_t child : member.children) shares += members_[static_cast<size_t>(child)].part;
    for (const int32_t child : member.children) {
      if (shares > 0) members_[static_cast<size_t>(child)].part /= shares;
    }
  }
  for (Member& member : members_) member.own = member.leaf >= 0 ? 0 : std::max(member.own, 0.0);
}

// Of the children of an account, those without an active user become leaves together.
void FairShareTree::Condense(const Snapshot& snapshot,
                             const std::unordered_set<std::string>& active) {
  const std::vector<Member> whole = std::move(members_);
  std::vector<double> sums, users(whole.size(), 0);
  SumUp(whole, usage_, 1, sums);
  std::vector<bool> changes(whole.size(), false);
  std::vector<bool> is_active(usage_.size(), false);
  for (size_t i = 0; i < leaf_of_.size(); ++i) {
    if (leaf_of_[i] < 0) continue;
    is_active[static_cast<size_t>(leaf_of_[i])] = active.contains(snapshot.associations[i].user);
  }
  for (size_t i = whole.size(); i-- > 0;) {
    if (whole[i].leaf >= 0) {
      users[i] = 1;
      changes[i] = is_active[static_cast<size_t>(whole[i].leaf)];
    }
    if (whole[i].parent < 0) continue;
    users[static_cast<size_t>(whole[i].parent)] += users[i];
    if (changes[i]) changes[static_cast<size_t>(whole[i].parent)] = true;
  }
  members_.clear();
  usage_.clear();
  std::vector<int32_t> number(whole.size(), -1);  // of what a member has become
  const auto add = [&](int32_t parent) {
    members_.emplace_back().parent = parent;
    if (parent >= 0) {
      members_[static_cast<size_t>(parent)].children.push_back(
          static_cast<int32_t>(members_.size()) - 1);
    }
    return static_cast<int32_t>(members_.size()) - 1;
  };
  const auto join = [&](size_t from, int32_t to) {
    Member& member = members_[static_cast<size_t>(to)];
    if (member.leaf < 0) {
      member.leaf = static_cast<int32_t>(usage_.size());
      member.users = 0;
      usage_.push_back(0);
    }
    member.users += users[from];
    member.part += whole[from].part;
    usage_[static_cast<size_t>(member.leaf)] += sums[from];
    number[from] = to;
  };
  number[0] = add(-1);
  members_[0].own = whole[0].own;
  for (size_t i = 0; i < whole.size(); ++i) {
    if (whole[i].leaf >= 0 || (i > 0 && !changes[i])) continue;
    std::vector<size_t> still;
    for (const int32_t child : whole[i].children) {
      const auto at = static_cast<size_t>(child);
      if (!changes[at]) {
        still.push_back(at);
      } else if (whole[at].leaf >= 0) {
        join(at, add(number[i]));
      } else {
        number[at] = add(number[i]);
        members_.back().part = whole[at].part;
        members_.back().own = whole[at].own;
      }
    }
    std::sort(still.begin(), still.end(), [&](size_t a, size_t b) {
      return PerShare(sums[a], whole[a].part) < PerShare(sums[b], whole[b].part);
    });
    const size_t in_each = (still.size() + kGroups - 1) / kGroups;
    int32_t group = -1;
    for (size_t k = 0; k < still.size(); ++k) {
      if (k % in_each == 0) group = add(number[i]);
      join(still[k], group);
    }
  }
  // A member that is in no leaf of its own is in that of its account.
  std::vector<int32_t> leaf_of(is_active.size(), -1);
  for (size_t i = 0; i < whole.size(); ++i) {
    if (number[i] < 0 && whole[i].parent >= 0) {
      number[i] = number[static_cast<size_t>(whole[i].parent)];
    }
    if (whole[i].leaf >= 0) {
      leaf_of[static_cast<size_t>(whole[i].leaf)] = members_[static_cast<size_t>(number[i])].leaf;
    }
  }
  for (int32_t& leaf : leaf_of_) {
    if (leaf >= 0) leaf = leaf_of[static_cast<size_t>(leaf)];
  }
}

int32_t FairShareTree::LeafOf(const Association* association) const {
  if (association == nullptr || empty()) return -1;
  return leaf_of_[static_cast<size_t>(association - snapshot_->associations.data())];
}

void FairShareTree::SumUp(const std::vector<Member>& members, const std::vector<double>& usage,
                          double of_accounts, std::vector<double>& sums) {
  sums.assign(members.size(), 0);
  for (size_t i = members.size(); i-- > 0;) {
    const Member& member = members[i];
    sums[i] +=
        member.leaf >= 0 ? usage[static_cast<size_t>(member.leaf)] : member.own * of_accounts;
    if (member.parent >= 0) sums[static_cast<size_t>(member.parent)] += sums[i];
  }
}

void FairShareTree::FindFactors(const std::vector<double>& usage, double of_accounts,
                                std::vector<double>& factors) const {
  factors.assign(usage_.size(), 0);
  if (empty()) return;
  std::vector<double> sums;
  SumUp(members_, usage, of_accounts, sums);
  if (is_classic_) {
    std::vector<double> effective(members_.size(), 0), shares(members_.size(), 1);
    for (size_t i = 1; i < members_.size(); ++i) {
      const auto parent = static_cast<size_t>(members_[i].parent);
      const double used = sums[0] > 0 ? sums[i] / sums[0] : 0;
      shares[i] = shares[parent] * members_[i].part;
      // Children of the root have no usage but their own.
      effective[i] = parent == 0 ? used : used + (effective[parent] - used) * members_[i].part;
      if (members_[i].leaf < 0 || shares[i] <= 0) continue;
      factors[static_cast<size_t>(members_[i].leaf)] = std::exp2(-effective[i] / shares[i]);
    }
    return;
  }
  Ranking ranking;
  ranking.levels.assign(members_.size(), 0);
  for (size_t i = 1; i < members_.size(); ++i) {
    const double of_parent = sums[static_cast<size_t>(members_[i].parent)];
    const double used = of_parent > 0 ? sums[i] / of_parent : 0;
    ranking.levels[i] = members_[i].part <= 0 ? 0
                        : used > 0            ? members_[i].part / used
                                              : std::numeric_limits<double>::infinity();
  }
  ranking.factors = &factors;
  ranking.next = ranking.last = users_;
  RankSiblings(members_.front().children, false, ranking);
}

// Accounts that are equal are one, in which all their children are siblings.
void FairShareTree::RankSiblings(std::vector<int32_t> siblings, bool tied, Ranking& ranking) const {
  const auto level = [&](int32_t member) { return ranking.levels[static_cast<size_t>(member)]; };
  const auto member = [&](int32_t at) -> const Member& {
    return members_[static_cast<size_t>(at)];
  };
  std::stable_sort(siblings.begin(), siblings.end(), [&](int32_t a, int32_t b) {
    if (level(a) != level(b)) return level(a) > level(b);
    return member(a).leaf >= 0 && member(b).leaf < 0;
  });
  for (size_t i = 0; i < siblings.size(); ++i) {
    const bool is_tied = i == 0 ? tied : level(siblings[i]) == level(siblings[i - 1]);
    if (member(siblings[i]).leaf >= 0) {
      if (!is_tied) ranking.last = ranking.next;
      const double users = member(siblings[i]).users;
      (*ranking.factors)[static_cast<size_t>(member(siblings[i]).leaf)] =
          (ranking.last - std::max(users - 1, 0.0) / 2) / users_;
      ranking.next -= users;
      continue;
    }
    std::vector<int32_t> children = member(siblings[i]).children;
    while (i + 1 < siblings.size() && level(siblings[i + 1]) == level(siblings[i])) {
      const std::vector<int32_t>& more = member(siblings[++i]).children;
      children.insert(children.end(), more.begin(), more.end());
    }
    RankSiblings(std::move(children), is_tied, ranking);
  }
}

// Whether most users' factors are those that Slurm reports: between two updates some may differ.
bool FairShareTree::AgreesWith(const Snapshot& snapshot) const {
  if (usage_.empty()) return false;
  std::vector<double> factors;
  FindFactors(usage_, 1, factors);
  size_t same = 0;
  for (size_t i = 0; i < snapshot.associations.size(); ++i) {
    if (leaf_of_[i] < 0) continue;
    const double own = factors[static_cast<size_t>(leaf_of_[i])];
    const double reported =
        FairShareOf(snapshot.associations[i], snapshot.config, static_cast<int64_t>(usage_.size()));
    if (std::abs(own - reported) <= kAgreement) ++same;
  }
  return 2 * same > usage_.size();
}

}  // namespace gpuadvise
