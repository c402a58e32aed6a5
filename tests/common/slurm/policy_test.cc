#include "common/slurm/policy.h"

#include <gtest/gtest.h>

#include "tests/fakes/snapshot_text.h"

namespace gpuadvise {
namespace {

Snapshot Site() {
  return SnapshotOf(
      "node n1 a100:4\n"
      "partition p n1\n"
      "qos high\nqos normal\n"
      "assoc root default-qos normal\n"
      "assoc dept parent root\n"
      "assoc lab parent dept\n"
      "assoc lab user ann qos normal,high\n"
      "assoc lab user ann in p default-qos high\n"
      "assoc other user ann default qos normal,high\n"
      "assoc lab user bob qos high\n");
}

TEST(Policy, APartitionsOwnAssociationComesFirst) {
  const Snapshot site = Site();
  EXPECT_EQ(FindAssociation(site, {1, "ann", "lab", ""}, "p")->default_qos, "high");
  EXPECT_EQ(FindAssociation(site, {1, "ann", "lab", ""}, "q")->default_qos, "");
}

TEST(Policy, NoAccountMeansTheDefaultOne) {
  const Snapshot site = Site();
  EXPECT_EQ(FindAssociation(site, {1, "ann", "", ""}, "p")->account, "other");
  EXPECT_EQ(FindAssociation(site, {1, "bob", "", ""}, "p")->account, "lab");
  EXPECT_EQ(FindAssociation(site, {1, "eve", "", ""}, "p"), nullptr);
  EXPECT_EQ(FindAssociation(site, {1, "bob", "other", ""}, "p"), nullptr);
}

TEST(Policy, ParentsLeadToTheRoot) {
  const Snapshot site = Site();
  std::vector<std::string> accounts;
  for (const Association* a : WithParents(site, *FindAssociation(site, {1, "bob", "", ""}, "p"))) {
    accounts.push_back(a->account + "/" + a->user);
  }
  EXPECT_EQ(accounts, (std::vector<std::string>{"lab/bob", "lab/", "dept/", "root/"}));
}

TEST(Policy, AccountsThatAreTheirOwnParentEndSomewhere) {
  const Snapshot site = SnapshotOf("assoc x parent y\nassoc y parent x\nassoc x user ann");
  EXPECT_LE(WithParents(site, site.associations.back()).size(), 64u);
}

TEST(Policy, QosIsNamedOrDefaultOrTheOnlyOneOrTheRoots) {
  const Snapshot site = Site();
  const auto qos = [&](const Submitter& who, const char* partition) {
    return EffectiveQos(site, who, FindAssociation(site, who, partition));
  };
  EXPECT_EQ(qos({1, "ann", "lab", "gold"}, "p"), "gold");
  EXPECT_EQ(qos({1, "ann", "lab", ""}, "p"), "high");
  EXPECT_EQ(qos({1, "bob", "", ""}, "p"), "high");
  EXPECT_EQ(qos({1, "ann", "lab", ""}, "q"), "normal");
  EXPECT_EQ(EffectiveQos(Snapshot{}, {}, nullptr), "normal");
}

TEST(Policy, EnforcementImpliesWhatItNeeds) {
  EXPECT_FALSE(EnforcedBy("").associations);
  EXPECT_TRUE(EnforcedBy("associations,limits,qos").limits);
  EXPECT_TRUE(EnforcedBy("limits").associations);
  EXPECT_FALSE(EnforcedBy("limits").qos);
  EXPECT_TRUE(EnforcedBy("safe").limits);
  EXPECT_TRUE(EnforcedBy("ALL").qos);
}

TEST(Policy, FlagsAreWordsNotParts) {
  EXPECT_TRUE(HasFlag("FAIR_TREE,NO_NORMAL_QOS", "no_normal_qos"));
  EXPECT_FALSE(HasFlag("NO_FAIR_TREE", "FAIR_TREE"));
  EXPECT_TRUE(HasFlag(std::vector<std::string>{"DenyOnLimit"}, "denyonlimit"));
}

TEST(Policy, OfSeveralQosTheOneOfTheHighestPriorityIsTriedFirst) {
  const Snapshot site = SnapshotOf("node n1 a100:4\nqos low priority 1\nqos high priority 9");
  EXPECT_EQ(BestQos(site, "low,high"), "high");
  EXPECT_EQ(BestQos(site, "low"), "low");
  EXPECT_EQ(BestQos(site, "unknown,low"), "low");
  EXPECT_EQ(BestQos(site, "unknown,other"), "unknown");
  EXPECT_EQ(EffectiveQos(site, {1, "ann", "lab", "low,high"}, nullptr), "high");
}

TEST(Policy, WhatPrivateDataHidesIsSaidWithTheRemedy) {
  SchedulerConfig config;
  config.private_data = "jobs,usage";  // hidden from others, not from the collector's user
  EXPECT_EQ(DescribeHiddenData(config), "");
  config.hidden = {"jobs", "usage"};
  EXPECT_EQ(DescribeHiddenData(config),
            "PrivateData hides other users' jobs, what others have used from gpuadvised's Slurm "
            "user, so their part in the forecast is a guess; an administrator can make that user "
            "an operator (sacctmgr add user NAME account=ANY adminlevel=operator)");
  config.hidden = {"conf", "limits"};
  EXPECT_EQ(DescribeHiddenData(config),
            "slurmrestd does not provide slurm.conf, so Slurm's scheduling defaults are assumed; "
            "an administrator can set slurm_conf in gpuadvised's settings. slurmrestd provides "
            "neither associations nor QOS, so limits and fair share are not simulated; an "
            "administrator can load its slurmdbd plugin");
}

}  // namespace
}  // namespace gpuadvise
