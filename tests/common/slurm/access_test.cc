#include "common/slurm/access.h"

#include <gtest/gtest.h>

#include "common/slurm/policy.h"
#include "tests/fakes/snapshot_text.h"

namespace gpuadvise {
namespace {

const Submitter kAnn{1001, "ann", "lab", "normal"};

std::string Why(const std::string& site, const std::string& request = "a100:1",
                const Submitter& who = kAnn) {
  const Snapshot snapshot = SnapshotOf("node n[1-4] a100:4\n" + site);
  const Partition& partition = snapshot.partitions.front();
  const auto good = CheckAccess(snapshot, partition, RequestOf(request), who,
                                FindEffectiveLimits(snapshot, partition, who));
  return good ? "may" : good.error().message;
}

TEST(Access, APlainPartitionIsOpenToAll) { EXPECT_EQ(Why(""), "may"); }

TEST(Access, ClosedPartitionsSayWhy) {
  EXPECT_EQ(Why("partition p ALL state DOWN"),
            "partition p is down: it starts no jobs until an administrator opens it");
  EXPECT_EQ(Why("partition p ALL root-only"), "partition p is for root only");
}

TEST(Access, AccountListsNameTheAllowedOnes) {
  EXPECT_EQ(Why("partition p ALL allow-accounts lab,phys"), "may");
  EXPECT_EQ(Why("partition p ALL allow-accounts phys"),
            "partition p is for the accounts phys, not lab");
  EXPECT_EQ(Why("partition p ALL deny-accounts lab"), "partition p is closed to account lab");
}

TEST(Access, TheDefaultAccountIsTheOneThatIsChecked) {
  const std::string site = "assoc phys user ann default\npartition p ALL allow-accounts phys";
  EXPECT_EQ(Why(site, "a100:1", {1001, "ann", "", ""}), "may");
}

TEST(Access, QosListsNameTheAllowedOnes) {
  EXPECT_EQ(Why("partition p ALL allow-qos high"), "partition p is for the QOS high, not normal");
  EXPECT_EQ(Why("partition p ALL deny-qos normal"), "partition p is closed to QOS normal");
  EXPECT_EQ(Why("qos normal\nqos high", "a100:1", {1001, "ann", "lab", "hihg"}),
            "there is no QOS 'hihg' (did you mean 'high'?); QOS: high and normal");
}

TEST(Access, EnforcedAssociationsMustExist) {
  EXPECT_EQ(Why("config enforce associations\nassoc phys user ann"),
            "user ann has no account lab for partition main; allowed: phys");
  EXPECT_EQ(Why("config enforce associations"),
            "user ann has no account lab for partition main; ask an administrator for one");
  EXPECT_EQ(Why("assoc phys user ann"), "may");
}

TEST(Access, AnybodyStandsForTheUserWithTheFewestRights) {
  const std::string site =
      "config enforce associations,limits\nassoc lab user ann priority 9\n"
      "assoc lab user bob per-job gres/gpu=1\nassoc phys user carol\n"
      "partition p ALL allow-accounts lab";
  const Submitter nobody, root = {0, "root", "", ""};
  for (const Submitter& anybody : {nobody, root}) {
    EXPECT_EQ(Why(site, "a100:1", anybody), "may");
    EXPECT_NE(Why(site, "a100:2", anybody), "may");  // bob's limit
  }
  EXPECT_EQ(Why("config enforce associations", "a100:1", nobody),
            "partition main is for users with an account: ask on the cluster itself");
  EXPECT_NE(Why(site, "a100:1", {1009, "eve", "", ""}), "may");
}

TEST(Access, APublicAccountAndQosChooseForWhomAnybodyStands) {
  const std::string site =
      "config enforce associations,limits,qos\nqos normal\nqos web max-wall 1h\n"
      "assoc lab user bob per-job gres/gpu=1\nassoc phys user carol priority 9 qos normal\n";
  Submitter anybody;
  anybody.public_account = "phys";
  EXPECT_EQ(Why(site, "a100:2", anybody), "may");  // bob's limit is not theirs
  anybody.public_qos = "web";
  EXPECT_EQ(Why(site, "a100:1 limit 1h", anybody), "may");
  EXPECT_NE(Why(site, "a100:1 limit 2h", anybody), "may");
  EXPECT_EQ(Why(site + "partition p ALL allow-accounts lab", "a100:1 limit 1h", anybody),
            "partition p is for certain accounts: ask on the cluster itself");
  anybody = {};
  anybody.public_account = "psy";  // there is none: those with the fewest rights
  anybody.public_qos = "wbe";
  EXPECT_NE(Why(site, "a100:2", anybody), "may");
  EXPECT_EQ(Why(site, "a100:1 limit 2h", anybody), "may");
  EXPECT_NE(Why(site, "a100:1", {1009, "eve", "", "", "", "phys", "web"}), "may");
}

TEST(Access, EnforcedQosMustBeTheAssociations) {
  EXPECT_EQ(Why("config enforce qos\nqos normal\nassoc lab user ann qos high"),
            "account lab of user ann may not use QOS normal; allowed: high");
}

TEST(Access, TimeLimitsOfPartitionQosAndAccount) {
  EXPECT_EQ(Why("partition p ALL max 2h", "a100:1 limit 2h"), "may");
  EXPECT_EQ(Why("partition p ALL max 2h", "a100:1 limit unlimited"),
            "time limit unlimited exceeds the 2 h that partition p allows");
  EXPECT_EQ(
      Why("config enforce limits\nqos normal max-wall 1h\nassoc lab user ann", "a100:1 limit 2h"),
      "time limit 2 h exceeds the 1 h that your QOS or account (MaxWall) allows");
  EXPECT_EQ(Why("qos normal max-wall 1h\nassoc lab user ann", "a100:1 limit 2h"), "may");
}

TEST(Access, ALimitOfTheQosHidesThatOfTheAccount) {
  EXPECT_EQ(Why("config enforce limits\nqos normal max-wall 3h\nassoc lab user ann max-wall 1h",
                "a100:1 limit 2h"),
            "may");
}

TEST(Access, SomeQosMayExceedThePartition) {
  EXPECT_EQ(Why("partition p ALL max 2h max-nodes 1\nqos normal flags "
                "PartitionTimeLimit,PartitionMaxNodes",
                "a100:1 limit 3h nodes 2"),
            "may");
}

TEST(Access, NodesPerJob) {
  EXPECT_EQ(Why("partition p ALL max-nodes 1", "a100:1 nodes 2"),
            "partition p allows a job at most 1 node, not 2");
}

TEST(Access, AmountsPerJobAndWhatNoJobAloneMayUse) {
  const std::string limits = "config enforce limits\nassoc lab user ann\n";
  EXPECT_EQ(Why(limits + "qos normal per-job gres/gpu=2", "a100:2"), "may");
  EXPECT_EQ(Why(limits + "qos normal per-job cpu=8", "a100:1 cpus 9"),
            "your QOS or account allows 8 of cpu, and this job needs 9");
  EXPECT_EQ(Why(limits + "qos normal per-user gres/gpu=2", "a100:3"),
            "your QOS or account allows 2 of gres/gpu, and this job needs 3");
  EXPECT_EQ(Why(limits + "qos normal min gres/gpu=1", "cpus 1"),
            "a job here must ask for at least 1 of gres/gpu");
}

TEST(Access, OfSeveralQosOneThatThePartitionTakesIsEnough) {
  const Submitter both = {1001, "ann", "lab", "normal,high"};
  const std::string qos = "qos normal\nqos high\n";
  EXPECT_EQ(Why(qos + "partition p ALL allow-qos high", "a100:1", both), "may");
  EXPECT_EQ(Why(qos + "partition p ALL deny-qos high", "a100:1", both), "may");
  EXPECT_EQ(Why(qos + "qos low\npartition p ALL allow-qos low", "a100:1", both),
            "partition p is for the QOS low, not normal");
  EXPECT_EQ(Why(qos, "a100:1", {1001, "ann", "lab", "normal,hihg"}),
            "there is no QOS 'hihg' (did you mean 'high'?); QOS: high and normal");
}

TEST(Access, LimitsAreThoseOfTheBestQosThatThePartitionTakes) {
  const std::string site =
      "config enforce limits\nassoc lab user ann\nqos high priority 9 per-job gres/gpu=1\n"
      "qos normal priority 1 per-job gres/gpu=4\n";
  const Submitter both = {1001, "ann", "lab", "normal,high"};
  EXPECT_EQ(Why(site, "a100:2", both),
            "your QOS or account allows 1 of gres/gpu, and this job needs 2");
  EXPECT_EQ(Why(site + "partition p ALL deny-qos high", "a100:2", both), "may");
}

TEST(Access, SomePartitionsTakeJobsFromSomeHostsOnly) {
  Snapshot snapshot = SnapshotOf("node n1 a100:4");
  snapshot.partitions.front().alloc_nodes = {"login7"};
  const auto why = [&](const std::string& host) {
    Submitter who = kAnn;
    who.host = host;
    const Partition& partition = snapshot.partitions.front();
    const auto good = CheckAccess(snapshot, partition, RequestOf("a100:1"), who,
                                  FindEffectiveLimits(snapshot, partition, who));
    return good ? "may" : good.error().message;
  };
  EXPECT_EQ(why("login7.example.org"), "may");
  EXPECT_EQ(why("gw1"), "partition main accepts jobs only from login7, not from this host (gw1)");
  EXPECT_EQ(why(""), "may");  // nobody knows from where
}

}  // namespace
}  // namespace gpuadvise
