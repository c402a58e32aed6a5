#include "common/slurm/priority.h"

#include <gtest/gtest.h>

#include "common/slurm/policy.h"
#include "tests/fakes/snapshot_text.h"

namespace gpuadvise {
namespace {

// Two accounts, three users, two QOS, on 4 nodes with 128 CPUs.
constexpr const char* kSite =
    "config priority multifactor fairshare 10000 size 500 qos 3000 partition 100 assoc 70\n"
    "qos high priority 100\n"
    "qos normal priority 10\n"
    "assoc root\n"
    "assoc a0 parent root\n"
    "assoc a1 parent root\n"
    "assoc a0 user ann fair 0.333333 default\n"
    "assoc a1 user ann fair 1 priority 5\n"
    "assoc a1 user bob fair 0.666667 default priority 7\n"
    "node n[1-4] a100:4\n"
    "partition slow n[1-4] factor 1\n"
    "partition fast n[1-2] factor 4\n";

PriorityFactors Factors(const std::string& site, const std::string& request, const Submitter& who,
                        const std::string& partition = "slow") {
  const Snapshot snapshot = SnapshotOf(site);
  return PredictPriority(snapshot, RequestOf(request), *FindPartition(snapshot, partition), who);
}

TEST(Priority, IsTheSumOfTheWeightedFactors) {
  const PriorityFactors factors = Factors(kSite, "a100:4 nodes 2 cpus 32", {1, "bob", "", "high"});
  EXPECT_EQ(factors.age, 0);
  EXPECT_DOUBLE_EQ(factors.fair_share, 10000 * 2 / 3.0);
  EXPECT_DOUBLE_EQ(factors.job_size, 500 * (2 / 4.0 + 32 / 128.0) / 2);
  EXPECT_DOUBLE_EQ(factors.qos, 3000);
  EXPECT_DOUBLE_EQ(factors.partition, 25);
  EXPECT_DOUBLE_EQ(factors.association, 70);
  EXPECT_EQ(factors.total, static_cast<int64_t>(6666.66 + 187.5 + 3000 + 25 + 70));
}

TEST(Priority, IsCutNotRounded) {
  const Snapshot snapshot =
      SnapshotOf("config priority multifactor size 1001\nnode n[1-4] a100:4 cpus 4\n");
  // 1001 × (1/4 + 1/16) / 2 = 156.4; with 2 CPUs 187.69.
  const Partition& main = snapshot.partitions.front();
  EXPECT_EQ(PredictPriority(snapshot, RequestOf("cpus 1"), main, {}).total, 156);
  EXPECT_EQ(PredictPriority(snapshot, RequestOf("cpus 2"), main, {}).total, 187);
}

TEST(Priority, SixDigitsOfAFairTreeRankLoseNoPoint) {
  // 3 users: 0.333333 × 3000 is 999.999, but the rank 1/3 gives 1000.
  const std::string site =
      "config priority multifactor fairshare 3000\nnode n1\n"
      "assoc a user ann fair 0.333333 default\nassoc a user bob fair 1\nassoc a user cat fair "
      "0.666667\n";
  const Snapshot snapshot = SnapshotOf(site);
  EXPECT_EQ(
      PredictPriority(snapshot, RequestOf("cpus 1"), snapshot.partitions[0], {1, "ann", "", ""})
          .total,
      1000);
}

TEST(Priority, TheAccountNamedDecidesTheFairShare) {
  EXPECT_NEAR(Factors(kSite, "a100:1", {1, "ann", "a0", ""}).fair_share, 3333.33, 0.01);
  EXPECT_NEAR(Factors(kSite, "a100:1", {1, "ann", "a1", ""}).fair_share, 10000, 0.01);
  EXPECT_NEAR(Factors(kSite, "a100:1", {1, "ann", "", ""}).fair_share, 3333.33, 0.01);
}

TEST(Priority, UnknownUsersAndQosCountNothing) {
  const PriorityFactors factors = Factors(kSite, "a100:1", {9, "eve", "a0", "gold"});
  EXPECT_EQ(factors.fair_share, 0);
  EXPECT_EQ(factors.association, 0);
  EXPECT_EQ(factors.qos, 0);
}

TEST(Priority, IsAtLeastOne) {
  EXPECT_EQ(Factors("config priority multifactor\nnode n1\npartition slow n1", "cpus 1", {}).total,
            1);
}

TEST(Priority, SmallJobsCanBeFavoured) {
  const std::string site =
      "config priority multifactor size 1000 favor-small yes\n"
      "node n[1-4] cpus 32\npartition slow n[1-4]";
  EXPECT_DOUBLE_EQ(Factors(site, "cpus 1", {}).job_size, 1000 * (3 / 4.0 + 127 / 128.0) / 2);
}

TEST(Priority, SizeRelativeToTimeCountsCpusPerMinute) {
  const std::string site =
      "config priority multifactor size 100000 flags SMALL_RELATIVE_TO_TIME\n"
      "node n[1-4] cpus 32\npartition slow n[1-4]";
  // One node stands for 32 CPUs: 32 / 60 / 128.
  EXPECT_DOUBLE_EQ(Factors(site, "cpus 1 limit 1h", {}).job_size, 100000 * (32.0 / 60 / 128));
  EXPECT_DOUBLE_EQ(Factors(site, "cpus 64 limit 10m", {}).job_size, 100000 * (64.0 / 10 / 128));
}

TEST(Priority, TresAreSharesOfThePartition) {
  const std::string site =
      "config priority multifactor tres CPU=1000,Mem=100,GRES/gpu=800,gres/gpu:a100=80\n"
      "node n[1-2] a100:4 cpus 32 mem 100000\nnode n3 l40s:8 cpus 32 mem 100000\n"
      "partition slow n[1-2]\npartition all n[1-3]";
  EXPECT_DOUBLE_EQ(Factors(site, "a100:4 cpus 16 mem 50000", {}).tres,
                   1000 * 16 / 64.0 + 100 * 50000 / 200000.0 + 800 * 4 / 8.0 + 80 * 4 / 8.0);
  EXPECT_DOUBLE_EQ(Factors(site, "a100:4 cpus 16 mem 50000", {}, "all").tres,
                   1000 * 16 / 96.0 + 100 * 50000 / 300000.0 + 800 * 4 / 16.0 + 80 * 4 / 8.0);
}

TEST(Priority, FlagsTurnNormalisingOff) {
  const std::string flags = "config flags NO_NORMAL_QOS,NO_NORMAL_PART,NO_NORMAL_ASSOC\n";
  const PriorityFactors factors =
      Factors(kSite + flags, "a100:1", {1, "bob", "", "normal"}, "fast");
  EXPECT_EQ(factors.qos, 30000);
  EXPECT_EQ(factors.partition, 400);
  EXPECT_EQ(factors.association, 490);
}

TEST(Priority, BasicComesAfterAllThatWait) {
  const std::string site =
      "node n1 a100:4\npartition slow n1\npend 7 a100:1 priority 90\n"
      "pend 8 a100:1 priority 80\npend 9 a100:1 priority 0";
  EXPECT_EQ(Factors(site, "a100:1", {}).total, 79);
  EXPECT_EQ(Factors("node n1\npartition slow n1", "cpus 1", {}).total, 4294901759);
}

TEST(PriorityScale, CountsTheWholeCluster) {
  const PriorityScale scale = MakePriorityScale(SnapshotOf(kSite));
  EXPECT_EQ(scale.nodes, 4);
  EXPECT_EQ(scale.cpus, 128);
  EXPECT_EQ(scale.most_qos, 100);
  EXPECT_EQ(scale.most_association, 7);
  EXPECT_EQ(scale.most_partition, 4);
  EXPECT_EQ(scale.user_associations, 3);
}

}  // namespace
}  // namespace gpuadvise
