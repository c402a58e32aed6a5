#include "common/scheduler/node_groups.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <optional>
#include <string>

#include "common/scheduler/job_requirements.h"
#include "tests/fakes/snapshot_text.h"

namespace gpuadvise {
namespace {

struct Site {
  explicit Site(const std::string& world, size_t pool_from = 2)
      : snapshot(SnapshotOf(world)), pool(snapshot) {
    for (const Partition& partition : snapshot.partitions) {
      members.emplace_back();
      for (const std::string& name : partition.nodes) {
        members.back().push_back(pool.FindNode(name));
      }
    }
    groups.emplace(pool, members, pool_from);
  }
  size_t Count() const { return groups->groups().size(); }
  GroupRequirements On(const std::string& request) const {
    const auto shape =
        ResolveRequirements(pool, snapshot, snapshot.partitions[0], members[0], RequestOf(request));
    EXPECT_TRUE(shape) << (shape ? "" : shape.error().message);
    return groups->SpreadOverGroups(pool, *shape);
  }

  Snapshot snapshot;
  NodePool pool;
  std::vector<std::vector<int32_t>> members;
  std::optional<NodeGroups> groups;
};

TEST(NodeGroups, NodesThatDifferInAnythingAJobCanAskForStayApart) {
  EXPECT_EQ(Site("node n[1-4] a:4").Count(), 1u);
  EXPECT_EQ(Site("node n[1-2] a:4\nnode n[3-4] a:2").Count(), 2u);
  EXPECT_EQ(Site("node n[1-2] a:4\nnode n[3-4] a:4 cpus 8").Count(), 2u);
  EXPECT_EQ(Site("node n[1-2] a:4\nnode n[3-4] a:4 mem 8000").Count(), 2u);
  EXPECT_EQ(Site("node n[1-2] a:4\nnode n[3-4] a:4 features x").Count(), 2u);
  EXPECT_EQ(Site("node n[1-2] a:4\nnode n[3-4] a:4 weight 7").Count(), 2u);
  EXPECT_EQ(Site("node n[1-2] a:4\nnode n[3-4] a:4 state DOWN").Count(), 2u);
  EXPECT_EQ(Site("node n[1-4] a:4\nreserve r n[3-4] from 1h to 2h").Count(), 2u);
  EXPECT_EQ(Site("node n[1-4] a:4\npartition p n[1-2]\npartition q n[1-4]").Count(), 2u);
}

TEST(NodeGroups, FewEqualNodesAreEachTheirOwn) {
  EXPECT_EQ(Site("node n[1-63] a:4", kPoolFrom).Count(), 63u);
  EXPECT_EQ(Site("node n[1-64] a:4", kPoolFrom).Count(), 1u);
}

TEST(NodeGroups, AGroupHasWhatItsNodesHaveTogether) {
  const Site site("node n[1-3] a:4 cpus 8 mem 1000");
  const NodeGroup& group = site.groups->groups().front();
  EXPECT_TRUE(group.pooled());
  EXPECT_EQ(group.each.cpus, 8);
  EXPECT_EQ(group.capacity.cpus, 24);
  EXPECT_EQ(group.capacity.memory_mib, 3000);
  EXPECT_EQ(group.capacity.TotalGpus(), 12);
}

TEST(NodeGroups, ARequestIsSpreadEvenlyOverTheFewestNodes) {
  const GroupRequirements on = Site("node n[1-4] a:4 cpus 8").On("total a:6 tasks 6");
  EXPECT_EQ(on.nodes, 2);
  EXPECT_EQ(on.demands.front().each.any_gpus, 3);
  EXPECT_EQ(on.demands.front().each.cpus, 3);
  EXPECT_EQ(on.demands.front().most, 4);
}

TEST(NodeGroups, AWholeNodeIsAllThatItHas) {
  const GroupRequirements on = Site("node n[1-2] a:4 cpus 8").On("a:1 exclusive");
  EXPECT_EQ(on.demands.front().each.any_gpus, 4);
  EXPECT_EQ(on.demands.front().each.cpus, 8);
}

TEST(NodeGroups, NamedNodesAloneServeWhereTheyAreEnough) {
  const Site site("node n[1-3] a:4", 9);
  EXPECT_EQ(site.On("a:1 on n2").demands.size(), 1u);
  const GroupRequirements more = site.On("a:1 nodes 2 on n2");
  EXPECT_EQ(more.demands.size(), 3u);
  EXPECT_FALSE(more.demands[0].required);
  EXPECT_TRUE(more.demands[1].required);
}

Resources Amounts() {
  Resources amounts;
  amounts.cpus = *rc::gen::inRange(0, 20);
  amounts.memory_mib = *rc::gen::inRange(0, 20);
  amounts.shards = *rc::gen::inRange(0, 4);
  for (size_t type = 0; type < 2; ++type) amounts.gpus[type] = *rc::gen::inRange(0, 5);
  amounts.any_gpus = static_cast<int32_t>(amounts.TotalGpus());
  return amounts;
}

RC_GTEST_PROP(NodesThatFit, IsTheMostThatFitAtOnceInAPool, ()) {
  const Resources each = Amounts(), free = Amounts();
  const GroupDemand demand{0, *rc::gen::inRange(1, 9), each};
  int64_t most = 0;
  while (most < demand.most && Fits(Times(each, most + 1), free)) ++most;
  RC_ASSERT(NodesThatFit(demand, true, free) == most);
  RC_ASSERT(NodesThatFit(demand, false, free) == (Fits(each, free) ? 1 : 0));
}

}  // namespace
}  // namespace gpuadvise
