#include "common/gpu/gpu_pool.h"

#include <gtest/gtest.h>

#include "common/gpu/gres_names.h"
#include "tests/fakes/seed_cluster.h"
#include "tests/fakes/shipped_catalogues.h"
#include "tests/fakes/snapshot_text.h"

namespace gpuadvise {
namespace {

const GpuPool* PoolOf(const std::vector<GpuPool>& pools, const std::string& type) {
  for (const GpuPool& pool : pools) {
    if (pool.gres_type == type) return &pool;
  }
  return nullptr;
}

TEST(FindGpuPools, TheSeedClusterHasFivePools) {
  const Snapshot snapshot = SnapshotOf(kSeedCluster);
  const std::vector<GpuPool> pools = FindGpuPools(snapshot, ShippedGpus());
  EXPECT_EQ(pools.size(), 5u);
  const GpuPool* turing = PoolOf(pools, "gpu2080");
  ASSERT_NE(turing, nullptr);
  EXPECT_EQ(turing->Name(), "RTX 2080 Ti");
  EXPECT_EQ(turing->total, 60);
  EXPECT_EQ(turing->nodes.size(), 15u);
  EXPECT_EQ(PoolOf(pools, "h100_1g.11gb")->model->is_mig_slice, true);
}

TEST(FindGpuPools, AnUnknownTypeIsAPoolWithoutAModel) {
  const Snapshot snapshot = SnapshotOf("node n1 quantumcard:2\n");
  const std::vector<GpuPool> pools = FindGpuPools(snapshot, ShippedGpus());
  ASSERT_EQ(pools.size(), 1u);
  EXPECT_EQ(pools[0].model, nullptr);
  EXPECT_EQ(pools[0].Name(), "quantumcard");
}

TEST(FindGpuPools, RootOnlyPartitionsAreNotOffered) {
  const Snapshot snapshot = SnapshotOf("node n1 a100:2\npartition secret ALL root-only\n");
  EXPECT_TRUE(FindGpuPools(snapshot, ShippedGpus()).empty());
}

TEST(FindGpuPools, TheSlowestNodeSaysHowFastItsPoolIsConnected) {
  const Snapshot snapshot =
      SnapshotOf("node n1 l40s:4 features ib\nnode n2 l40s:4 features ib,slow\n");
  SiteGpus site;
  site.interconnects = {{{"", "slow", ""}, {0, 3}}, {{"", "ib", ""}, {0, 25}}};
  const GpuNaming both(ShippedGpus().catalogue(), site);
  EXPECT_DOUBLE_EQ(FindGpuPools(snapshot, both)[0].interconnect.network_gb_per_s, 3);
  site.interconnects = {{{"", "slow", ""}, {0, 3}}};
  const GpuNaming one(ShippedGpus().catalogue(), site);
  EXPECT_DOUBLE_EQ(FindGpuPools(snapshot, one)[0].interconnect.network_gb_per_s, 0);
}

TEST(CountFreeGpus, NoneInMaintenanceAndNoneThatIsCutIntoShards) {
  const Snapshot away = SnapshotOf("node n1 a100:4 cpus 8 state IDLE+MAINTENANCE");
  EXPECT_EQ(CountFreeGpus(away.nodes[0], "a100"), 0);
  const Snapshot cut =
      SnapshotOf("node n1 a100:2 l40s:2 cpus 8 shards 8\nrun 1 n1 shards 3 ends 1h");
  EXPECT_EQ(CountFreeGpus(cut.nodes[0], "a100"), 0);  // 2 shards a GPU, so that 3 are of two GPUs
  EXPECT_EQ(CountFreeGpus(cut.nodes[0], "l40s"), 2);
}

TEST(CountFreeGpus, NoneOfWhichMpsAreHandedOut) {
  const Snapshot cut = SnapshotOf("node n1 a100:2 cpus 8 mps 200\nrun 1 n1 mps 50 ends 1h");
  EXPECT_EQ(CountFreeGpus(cut.nodes[0], "a100"), 1);
  const Snapshot both = SnapshotOf("node n1 a100:2 cpus 8 mps 200\nrun 1 n1 mps 150 ends 1h");
  EXPECT_EQ(CountFreeGpus(both.nodes[0], "a100"), 0);
}

TEST(CountFreeGpus, NeedsAFreeCpuBesideTheFreeGpu) {
  const Snapshot part = SnapshotOf("node n1 a100:4 cpus 32\nrun 7 n1 a100:1 cpus 8 ends 1h\n");
  EXPECT_EQ(CountFreeGpus(part.nodes[0], "a100"), 3);
  const Snapshot full = SnapshotOf("node n1 a100:4 cpus 32\nrun 7 n1 a100:1 cpus 32 ends 1h\n");
  EXPECT_EQ(CountFreeGpus(full.nodes[0], "a100"), 0);
  const Snapshot drained = SnapshotOf("node n1 a100:4 state DRAIN\n");
  EXPECT_EQ(CountFreeGpus(drained.nodes[0], "a100"), 0);
}

TEST(MakeSelector, TypedGresNeedsNone) {
  const Snapshot snapshot = SnapshotOf(kSeedCluster);
  const std::vector<GpuPool> pools = FindGpuPools(snapshot, ShippedGpus());
  for (const GpuPool& pool : pools) {
    EXPECT_TRUE(MakeSelector(pool, pools).constraint.empty());
    EXPECT_TRUE(MakeSelector(pool, pools).exclude.empty());
  }
}

class ToSlurmTypesTest : public testing::Test {
 protected:
  Result<GpuCounts> Ask(const std::string& name) {
    return ToSlurmTypes({{name, 2}}, "", pools_, ShippedGpus().catalogue());
  }
  Snapshot snapshot_ = SnapshotOf(std::string(kSeedCluster) +
                                  "node a[1-2] nvidia_a100_40gb:8\nnode b1 nvidia_a100_80gb:8\n");
  std::vector<GpuPool> pools_ = FindGpuPools(snapshot_, ShippedGpus());
};

TEST_F(ToSlurmTypesTest, SlurmsOwnSpellingStays) {
  EXPECT_EQ(Ask("gpu4090").value(), (GpuCounts{{"gpu4090", 2}}));
}

TEST_F(ToSlurmTypesTest, APersonsNameFindsTheType) {
  EXPECT_EQ(Ask("l40s").value(), (GpuCounts{{"gpul40s", 2}}));
  EXPECT_EQ(Ask("RTX 4090").value(), (GpuCounts{{"gpu4090", 2}}));
}

TEST_F(ToSlurmTypesTest, TheMemorySizeDecidesBetweenTwo) {
  EXPECT_EQ(Ask("a100-80gb").value(), (GpuCounts{{"nvidia_a100_80gb", 2}}));
  Result<GpuCounts> open = Ask("a100");
  ASSERT_FALSE(open);
  EXPECT_EQ(open.error().code, ErrorCode::kBadInput);
  EXPECT_NE(open.error().message.find("nvidia_a100_40gb"), std::string::npos);
}

TEST_F(ToSlurmTypesTest, AnUnknownNameListsWhatThereIs) {
  Result<GpuCounts> unknown = Ask("b200");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::kNotFound);
  EXPECT_NE(unknown.error().message.find("gpul40s"), std::string::npos);
}

}  // namespace
}  // namespace gpuadvise
