#include "common/slurm/fair_share.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <unordered_set>
#include <vector>

#include "tests/fakes/snapshot_text.h"

namespace gpuadvise {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;

// What sshare said on a real Slurm 22.05, accounts of 1, 2 and 4 shares.
constexpr const char* kRecorded =
    "config priority multifactor fairshare 10000 half-life 24h\n"
    "node n1 a100:4\n"
    "assoc root usage 1262047\n"
    "assoc root user root fair 1.0\n"
    "assoc a0 parent root usage 556004\n"
    "assoc a0 user u00 usage 118306 fair 0.157895\n"
    "assoc a0 user u03 usage 155721 fair 0.052632\n"
    "assoc a0 user u06 usage 64202 fair 0.263158\n"
    "assoc a0 user u09 usage 83040 fair 0.210526\n"
    "assoc a0 user u12 usage 9134 fair 0.315789\n"
    "assoc a0 user u15 usage 125598 fair 0.105263\n"
    "assoc a1 parent root shares 2 usage 246677\n"
    "assoc a1 user u01 usage 22694 fair 0.473684\n"
    "assoc a1 user u04 usage 9851 fair 0.631579\n"
    "assoc a1 user u07 usage 12012 fair 0.578947\n"
    "assoc a1 user u10 usage 13915 fair 0.526316\n"
    "assoc a1 user u13 usage 41258 fair 0.421053\n"
    "assoc a1 user u16 usage 146944 fair 0.368421\n"
    "assoc a2 parent root shares 4 usage 459365\n"
    "assoc a2 user u02 usage 190009 fair 0.684211\n"
    "assoc a2 user u05 usage 101258 fair 0.736842\n"
    "assoc a2 user u08 usage 14093 fair 0.947368\n"
    "assoc a2 user u11 usage 29108 fair 0.894737\n"
    "assoc a2 user u14 usage 53263 fair 0.842105\n"
    "assoc a2 user u17 usage 71632 fair 0.789474\n";

// In which every user has a leaf of his own.
FairShareTree WholeTree(const Snapshot& snapshot) {
  std::unordered_set<std::string> users;
  for (const Association& each : snapshot.associations) users.insert(each.user);
  return {snapshot, users};
}

std::vector<double> FactorsOf(const FairShareTree& tree) {
  std::vector<double> factors;
  tree.FindFactors(tree.usage(), 1, factors);
  return factors;
}

const Association* UserOf(const Snapshot& snapshot, const std::string& user) {
  return &*std::find_if(snapshot.associations.begin(), snapshot.associations.end(),
                        [&](const Association& each) { return each.user == user; });
}

TEST(FairShareTree, GivesTheFactorsOfARealSlurm) {
  const Snapshot snapshot = SnapshotOf(kRecorded);
  const FairShareTree tree = WholeTree(snapshot);
  ASSERT_FALSE(tree.empty());
  const std::vector<double> factors = FactorsOf(tree);
  ASSERT_EQ(factors.size(), 19u);
  for (const Association& each : snapshot.associations) {
    const int32_t leaf = tree.LeafOf(&each);
    EXPECT_EQ(leaf < 0, each.user.empty());
    if (leaf < 0) continue;
    EXPECT_NEAR(factors[static_cast<size_t>(leaf)], each.fair_share, 1e-6) << each.user;
  }
}

TEST(FairShareTree, MoreUsageCostsAUserHisPlaceAndHisAccountItsPlaceForAllOfIt) {
  const Snapshot snapshot = SnapshotOf(kRecorded);
  const FairShareTree tree = WholeTree(snapshot);
  const auto place = [&](const std::string& user, const std::vector<double>& factors) {
    return std::lround(19 * factors[static_cast<size_t>(tree.LeafOf(UserOf(snapshot, user)))]);
  };
  std::vector<double> usage = tree.usage(), factors;
  usage[static_cast<size_t>(tree.LeafOf(UserOf(snapshot, "u08")))] += 20'000;
  tree.FindFactors(usage, 1, factors);
  EXPECT_EQ(place("u08", factors), 17);  // behind u11
  EXPECT_EQ(place("u11", factors), 18);
  EXPECT_EQ(place("u04", factors), 12);  // of another account
  usage[static_cast<size_t>(tree.LeafOf(UserOf(snapshot, "u08")))] += 50'000;
  tree.FindFactors(usage, 1, factors);
  EXPECT_EQ(place("u08", factors), 9);  // a2 is behind a1 now
  EXPECT_EQ(place("u11", factors), 12);
  EXPECT_EQ(place("u04", factors), 18);
}

// Who has used nothing is tied, and so are accounts that have used nothing, with all users in them.
TEST(FairShareTree, EqualsShareAPlace) {
  const Snapshot snapshot = SnapshotOf(
      "config priority multifactor fairshare 1000\nnode n1\n"
      "assoc root usage 10\n"
      "assoc a parent root\nassoc a user ann fair 1\nassoc a user bob fair 1\n"
      "assoc b parent root shares 3\nassoc b user cat fair 1\n"
      "assoc c parent root usage 10\nassoc c user dan usage 10 fair 0.25\n");
  EXPECT_THAT(FactorsOf(WholeTree(snapshot)), ElementsAre(1, 1, 1, .25));
}

TEST(FairShareTree, UsageOfAnAccountThatNoUserHasCountsAndDecays) {
  const Snapshot snapshot = SnapshotOf(
      "config priority multifactor fairshare 1000\nnode n1\n"
      "assoc root usage 30\n"
      "assoc a parent root usage 20\nassoc a user ann usage 5 fair 0.5\n"  // 15 of a user who left
      "assoc b parent root usage 10\nassoc b user bob usage 10 fair 1\n");
  const FairShareTree tree = WholeTree(snapshot);
  EXPECT_THAT(FactorsOf(tree), ElementsAre(.5, 1));
  std::vector<double> factors;
  tree.FindFactors(tree.usage(), .25, factors);
  EXPECT_THAT(factors, ElementsAre(1, .5));
}

TEST(FairShareTree, ClassicFairShareHalvesForEachOwnShareUsed) {
  const Snapshot snapshot = SnapshotOf(
      "config priority multifactor fairshare 1000 flags NO_FAIR_TREE\nnode n1\n"
      "assoc root usage 100\n"
      "assoc a parent root usage 75\nassoc a user ann usage 75 fair 0.125\nassoc a user bob fair "
      "0.353553\n"
      "assoc b parent root usage 25\nassoc b user cat usage 25 fair 0.707107\n");
  // ann: U = .75 + (.75 - .75) / 2, S = 1/4; bob: U = (.75 - 0) / 2.
  EXPECT_THAT(FactorsOf(WholeTree(snapshot)),
              ElementsAre(DoubleNear(std::exp2(-3), 1e-9), DoubleNear(std::exp2(-1.5), 1e-9),
                          DoubleNear(std::exp2(-.5), 1e-9)));
}

TEST(FairShareTree, HasNoLeavesWhereItCannotTell) {
  const std::string site = kRecorded;
  const auto is_empty = [](const std::string& text) {
    const Snapshot snapshot = SnapshotOf(text);
    return WholeTree(snapshot).empty();
  };
  EXPECT_TRUE(is_empty("node n1"));
  EXPECT_TRUE(is_empty("config priority multifactor fairshare 10\nnode n1"));
  std::string basic = site, unweighted = site, other = site;
  basic.replace(basic.find("multifactor"), 11, "basic");
  unweighted.replace(unweighted.find("10000"), 5, "0");
  EXPECT_TRUE(is_empty(basic));
  EXPECT_TRUE(is_empty(unweighted));
  for (size_t at = other.find("fair 0."); at != std::string::npos; at = other.find("fair 0.", at)) {
    other.replace(at, 8, "fair 0.000");  // another rule than ours
    at += 8;
  }
  EXPECT_TRUE(is_empty(other));
  const Snapshot snapshot = SnapshotOf(site);
  EXPECT_EQ(WholeTree(snapshot).LeafOf(nullptr), -1);
  EXPECT_EQ(FairShareTree().LeafOf(&snapshot.associations.front()), -1);
  EXPECT_TRUE(FactorsOf(FairShareTree()).empty());
}

// Of 1,000 users in 20 accounts two are active.
TEST(FairShareTree, UsersWhoseUsageStaysShareLeaves) {
  std::string site = "config priority multifactor fairshare 1000\nnode n1\nassoc root usage 1e9\n";
  for (int account = 0; account < 20; ++account) {
    const std::string name = "assoc a" + std::to_string(account);
    site += name + " parent root usage " + std::to_string(50'000 * (account + 1)) + "\n";
    for (int user = 0; user < 50; ++user) {
      const int place = account * 50 + user;
      site += name + " user u" + std::to_string(place) + " usage " +
              std::to_string((975.5 + user) * (account + 1)) + " fair " +
              std::to_string((1000 - place) / 1000.0) + "\n";
    }
  }
  const Snapshot snapshot = SnapshotOf(site);
  const FairShareTree tree(snapshot, {"u120", "u700"});
  ASSERT_FALSE(tree.empty());
  EXPECT_LE(tree.usage().size(), 2 + 3 * FairShareTree::kGroups);
  const auto leaf = [&](const std::string& user) {
    return static_cast<size_t>(tree.LeafOf(UserOf(snapshot, user)));
  };
  std::vector<double> usage = tree.usage(), factors = FactorsOf(tree);
  for (const Association& each : snapshot.associations) {
    if (each.user.empty()) continue;
    EXPECT_NEAR(factors[leaf(each.user)], each.fair_share, .1);
  }
  EXPECT_NE(leaf("u120"), leaf("u121"));
  EXPECT_EQ(leaf("u100"), leaf("u101"));
  const double before = factors[leaf("u700")];
  usage[leaf("u120")] *= 1000;
  tree.FindFactors(usage, 1, factors);
  EXPECT_NEAR(factors[leaf("u120")], .001, 1e-9);
  EXPECT_NEAR(factors[leaf("u700")], before + .05, 1e-9);
}

// A circle of parents ends somewhere.
TEST(FairShareTree, BrokenParentsDoNoHarm) {
  const Snapshot snapshot = SnapshotOf(
      "config priority multifactor fairshare 10\nnode n1\n"
      "assoc root\nassoc a parent b\nassoc b parent a\nassoc a user ann fair 1\n"
      "assoc root user root fair 1\nassoc c parent nowhere\nassoc c user cat fair 1\n");
  const FairShareTree tree = WholeTree(snapshot);
  EXPECT_EQ(tree.usage().size(), 1u);
  EXPECT_EQ(tree.LeafOf(UserOf(snapshot, "ann")), -1);
  std::string deep = "config priority multifactor fairshare 10\nnode n1\nassoc root\n";
  deep += "assoc root user root fair 1\nassoc a0 parent root\n";
  for (int i = 1; i < 20'000; ++i) {
    deep += "assoc a" + std::to_string(i) + " parent a" + std::to_string(i - 1) + "\n";
  }
  EXPECT_EQ(WholeTree(SnapshotOf(deep + "assoc a19999 user ann fair 1\n")).usage().size(), 2u);
}

// Whatever a collector says, also of accounts that there are twice: a factor is between 0 and 1.
RC_GTEST_PROP(FairShareTree, FactorsAreFactors, ()) {
  Snapshot snapshot = SnapshotOf(kRecorded);
  const std::vector<double> nothing = {0, -1, -1e308, std::nan("")};
  const std::vector<double> much = {0, 1, 5e7, 1e18};
  for (Association& each : snapshot.associations) {
    each.usage_raw = *rc::gen::elementOf(nothing);
    each.shares =
        *rc::gen::element<int64_t>(1, 1, 1, 1, 1, 7, 0, -5, INT64_MAX, INT64_MIN, 0x7FFFFFFF);
    if (!each.user.empty() || each.account != "root") {
      each.account = *rc::gen::element<std::string>("root", "a0", "a1", "a2");
    }
    if (!each.parent_account.empty()) {
      each.parent_account = *rc::gen::element<std::string>("root", "root", "a0", "a1", "gone");
    }
    each.fair_share = 1;  // of who has used nothing
  }
  snapshot.config.priority_flags = *rc::gen::element<std::string>("", "NO_FAIR_TREE");
  const FairShareTree tree(snapshot, {"u00", "u01", "u17"});
  RC_CLASSIFY(tree.empty());
  std::vector<double> usage, factors;
  for (size_t i = 0; i < tree.usage().size(); ++i) usage.push_back(*rc::gen::elementOf(much));
  tree.FindFactors(usage, 1, factors);
  RC_ASSERT(factors.size() == usage.size());
  for (const double factor : factors) RC_ASSERT(factor >= 0 && factor <= 1);
}

}  // namespace
}  // namespace gpuadvise
