// Which ways to run a training are tried, and the reason for each that is not.
#include "common/advise/placement.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "tests/fakes/shipped_catalogues.h"
#include "tests/fakes/snapshot_text.h"

namespace gpuadvise {
namespace {

struct Site {
  explicit Site(const std::string& world)
      : snapshot(SnapshotOf(world)), pools(FindGpuPools(snapshot, ShippedGpus())) {
    spec.stages.emplace_back();
  }
  Result<Placements> Find() const {
    return FindPlacements(spec, constraints, snapshot, pools, ShippedGpus().catalogue(),
                          {1001, "ann", "lab", ""});
  }
  // "1 2 4x2": GPUs per node and nodes, where these are several.
  std::string Shapes() const {
    std::string shapes;
    const Result<Placements> found = Find();
    for (const Placement& placement : found ? found->possible : std::vector<Placement>{}) {
      shapes += (shapes.empty() ? "" : " ") + std::to_string(placement.gpus_per_node);
      if (placement.nodes > 1) shapes += "x" + std::to_string(placement.nodes);
    }
    return shapes;
  }
  // The reasons of those that are rejected, or the error and where it lies.
  std::string WhyNot() const {
    const Result<Placements> found = Find();
    if (!found) return found.error().message + " at " + found.error().pointer;
    std::string reasons;
    for (const Rejection& rejection : found->rejected) {
      reasons += (reasons.empty() ? "" : "; ") + rejection.reasons.front();
    }
    return reasons;
  }

  Snapshot snapshot;
  std::vector<GpuPool> pools;
  TrainSpec spec;
  Constraints constraints;
};

TEST(Placement, DoublesTheGpusAndTriesHalfANodeAndAllOfIt) {
  EXPECT_EQ(Site("node n1 l40s:8").Shapes(), "1 2 4 8");
  EXPECT_EQ(Site("node n1 l40s:6").Shapes(), "1 2 3 4 6");
  EXPECT_EQ(Site("node n1 l40s:7").Shapes(), "1 2 4 7");
  EXPECT_EQ(Site("node n1 l40s:1").Shapes(), "1");
}

TEST(Placement, ExcludedKindsOfGpuAreNotConsidered) {
  Site site("node n1 l40s:1\nnode n2 a100:2");
  site.spec.resources.exclude_gpus = {"a100", "h200"};
  EXPECT_EQ(site.Shapes(), "1");
  EXPECT_EQ(site.WhyNot(), "");
  site.spec.resources.exclude_gpus = {"a100", "l40s"};
  EXPECT_EQ(site.WhyNot(),
            "exclude_gpus leaves no GPU to consider: take a name out at "
            "/spec/resources/exclude_gpus");
  site.spec.resources.exclude_gpus = {"l40s", "a10000"};
  EXPECT_NE(site.WhyNot().find("at /spec/resources/exclude_gpus/1"), std::string::npos)
      << site.WhyNot();
}

TEST(Placement, SeveralNodesAreTriedWholeAndOnlyWhereTheSpecAllowsThem) {
  Site site("node n[1-5] l40s:4");
  EXPECT_EQ(site.Shapes(), "1 2 4");
  site.spec.resources.max_nodes = 9;
  EXPECT_EQ(site.Shapes(), "1 2 4 4x2 4x4");
  site.spec.resources.max_gpus = 8;
  EXPECT_EQ(site.Shapes(), "1 2 4 4x2");
}

TEST(Placement, WhatTheCallerFixesIsAllThatIsTried) {
  Site site("node n[1-4] l40s:4");
  site.constraints.gpus_per_node = 3;
  EXPECT_EQ(site.Shapes(), "3");
  site.constraints.nodes = 2;
  EXPECT_EQ(site.Shapes(), "3x2");
}

TEST(Placement, AFixedTotalIsOnOneNodeOrOnWholeNodes) {
  Site site("node n[1-3] l40s:4");
  site.constraints.gpus_total = 3;
  EXPECT_EQ(site.Shapes(), "3");
  site.constraints.gpus_total = 8;
  EXPECT_EQ(site.Shapes(), "4x2");
  site.constraints.gpus_per_node = 2;
  EXPECT_EQ(site.WhyNot(), "only 3 nodes can be used");
  site.constraints.nodes = 2;
  EXPECT_EQ(site.WhyNot(),
            "8 GPUs cannot be divided evenly as gpus_per_node and nodes say at "
            "/constraints/gpus_total");
  site.constraints.gpus_per_node.reset();
  EXPECT_EQ(site.Shapes(), "4x2");
}

TEST(Placement, AFixedTotalThatNodesCannotHaveSaysWhy) {
  Site site("node n[1-3] l40s:4");
  site.constraints.gpus_total = 6;
  EXPECT_EQ(site.WhyNot(), "6 GPUs are not a multiple of the 4 on a node");
  site.constraints.gpus_total = 16;
  EXPECT_EQ(site.WhyNot(), "only 3 nodes can be used");
  site.constraints.gpus_total = 8;
  site.spec.resources.max_nodes = 1;
  EXPECT_EQ(site.WhyNot(), "8 GPUs need 2 nodes, max_nodes is 1");
}

TEST(Placement, SlicesAreTriedOneAtATime) {
  const Site site("node n1 h100_1g.11gb:7");
  EXPECT_EQ(site.Shapes(), "1");
  EXPECT_EQ(site.WhyNot(), "slices have no peer-to-peer, so one slice per job");
}

TEST(Placement, NamesOfTheSpecAndOfFlagsFilterTheGpus) {
  Site site("node n1 l40s:1\nnode n2 rtx4090:1\nnode n3 a100:1");
  site.spec.resources.gpus = {"l40s", "rtx4090"};
  EXPECT_EQ(site.Shapes(), "1 1");
  site.constraints.gpus = {"rtx4090", "a100"};
  ASSERT_EQ(site.Shapes(), "1");
  EXPECT_EQ(site.Find()->possible.front().pool->Id(), "rtx4090");
}

TEST(Placement, ANameThatNoGpuHasIsTheCallersToMend) {
  Site site("node n1 l40s:1");
  site.spec.resources.gpus = {"l40s", "b200"};
  EXPECT_EQ(site.WhyNot(), "this cluster has no GPU 'b200'; it has L40S at /spec/resources/gpus/1");
  site.spec.resources.gpus = {};
  site.constraints.gpus = {"b200"};
  EXPECT_TRUE(site.WhyNot().ends_with("at /constraints/gpus/0")) << site.WhyNot();
}

TEST(Placement, AnUnknownPartitionPointsToWhereItWasSaid) {
  Site site("node n1 l40s:1\npartition gpu n1");
  site.constraints.partition = "gpuu";
  EXPECT_EQ(site.WhyNot(),
            "there is no partition 'gpuu' (did you mean 'gpu'?); partitions: gpu at "
            "/constraints/partition");
  site.spec.slurm.partition = "gpuu";
  EXPECT_TRUE(site.WhyNot().ends_with("at /spec/slurm/partition")) << site.WhyNot();
}

TEST(Placement, APartitionKeepsToItsPools) {
  Site site("node n1 l40s:1\nnode n2 l40s:2\npartition p n1\npartition q n2");
  EXPECT_EQ(site.Shapes(), "1 1 2");
  site.constraints.partition = "p";
  EXPECT_EQ(site.Shapes(), "1");
}

TEST(Placement, MoreGpusOrNodesThanThereAreIsAnError) {
  Site site("node n[1-2] l40s:4\nnode n3 rtx4090:2");
  site.constraints.gpus_per_node = 5;
  EXPECT_TRUE(site.WhyNot().ends_with("at /constraints/gpus_per_node")) << site.WhyNot();
  site.constraints.gpus_per_node = 3;
  EXPECT_EQ(site.Shapes(), "3");
  EXPECT_EQ(site.WhyNot(), "its nodes have 2 GPUs");
  site.constraints.nodes = 3;
  EXPECT_TRUE(site.WhyNot().ends_with("at /constraints/nodes")) << site.WhyNot();
}

TEST(Placement, PoolsThatCannotBeUsedSayWhy) {
  EXPECT_EQ(Site("node n1 l40s:1 state DOWN").WhyNot(), "its node n1 is down or drained");
  EXPECT_EQ(Site("node n[1-2] l40s:1 state DOWN").WhyNot(), "all 2 nodes are down or drained");
  EXPECT_EQ(Site("node n1 l40s:1\npartition p n1 state DOWN").WhyNot(),
            "partition p starts no jobs now");
  EXPECT_EQ(Site("node n1 quantumcard:2").WhyNot(),
            "unknown GPU type 'quantumcard': the site can name it in gpu_aliases or untyped_gpus");
  Site old("node n1 rtx2080ti:1");
  old.spec.stages[0].training.bf16 = "true";
  EXPECT_EQ(old.WhyNot(), "bf16 is required and this GPU has none");
}

TEST(Placement, NodesThatAreDownCountNeitherForTheirGpusNorInNumber) {
  Site site("node n1 l40s:8 state DOWN\nnode n[2-3] l40s:4");
  EXPECT_EQ(site.Shapes(), "1 2 4");
  site.constraints.nodes = 3;
  EXPECT_EQ(site.WhyNot(),
            "only 2 nodes can be used; only 2 nodes can be used; "
            "only 2 nodes can be used");
}

TEST(Placement, AJobGetsTheShareOfTheNodeThatItsGpusAre) {
  const Site site("node n1 l40s:4 cpus 30 mem 100000");
  const std::vector<Placement> found = site.Find()->possible;
  EXPECT_EQ(found[0].cpus_per_node, 7);
  EXPECT_EQ(found[0].memory_per_node_mib, 25000);
  EXPECT_EQ(found[2].cpus_per_node, 30);
  EXPECT_EQ(Site("node n1 l40s:4 cpus 2").Find()->possible[0].cpus_per_node, 1);
  EXPECT_FALSE(
      Site("config def-mem-per-cpu 500\nnode n1 l40s:4").Find()->possible[0].memory_per_node_mib);
}

TEST(Placement, TheSpecsOwnCpusAndMemoryPerGpuMustFit) {
  Site site("node n1 l40s:4 cpus 30 mem 100000");
  site.spec.resources.cpus_per_gpu = 8;
  site.spec.resources.mem_per_gpu_bytes = int64_t{20'000} << 20;
  EXPECT_EQ(site.Shapes(), "1 2");
  EXPECT_EQ(site.WhyNot(), "cpus_per_gpu 8 needs 32 CPUs, its nodes have 30: at most 7 a GPU");
  EXPECT_EQ(site.Find()->possible[1].cpus_per_node, 16);
  EXPECT_EQ(site.Find()->possible[1].memory_per_node_mib, 40'000);
  site.spec.resources.cpus_per_gpu = 1;
  site.spec.resources.mem_per_gpu_bytes = int64_t{30'000} << 20;
  EXPECT_EQ(site.WhyNot(), "mem_per_gpu needs 120000 MiB, its nodes have 100000 MiB");
}

TEST(Placement, TheDefaultQosComesBeforeTheOthersThatTheCallerMayUse) {
  const std::string world =
      "node n1 l40s:1\nassoc lab user ann qos low,high,normal default-qos normal default\n"
      "assoc lab user bob qos secret\n";
  using Names = std::vector<std::string>;
  EXPECT_EQ(Site(world).Find()->possible[0].qos, Names{""});  // nobody checks
  Site enforced("config enforce qos\n" + world);
  EXPECT_EQ(enforced.Find()->possible[0].qos, (Names{"", "low", "high"}));
  enforced.constraints.qos = "high";
  EXPECT_EQ(enforced.Find()->possible[0].qos, Names{"high"});
}

// ---- all that is possible and nothing else ------------------------------------------------------

int Draw(int low, int high) { return *rc::gen::inRange(low, high + 1); }

bool IsPowerOfTwo(int64_t count) { return (count & (count - 1)) == 0; }

RC_GTEST_PROP(Placement, LeavesOutNothingThatTheLimitsAllowAndNothingElseIsIn, ()) {
  const int each = Draw(1, 9), nodes = Draw(1, 9), cpus = Draw(1, 40);
  Site site("node n[1-" + std::to_string(nodes) + "] l40s:" + std::to_string(each) + " cpus " +
            std::to_string(cpus));
  ResourceSpec& limits = site.spec.resources;
  if (Draw(0, 1) == 1) limits.max_nodes = Draw(1, 9);
  if (Draw(0, 1) == 1) limits.max_gpus = Draw(1, 40);
  if (Draw(0, 1) == 1) limits.cpus_per_gpu = Draw(1, 8);
  std::set<std::pair<int64_t, int64_t>> expected;
  for (int64_t gpus = 1; gpus <= each; ++gpus) {
    if (!IsPowerOfTwo(gpus) && gpus != each && 2 * gpus != each) continue;
    for (int64_t many = 1; many <= std::min<int64_t>(nodes, limits.max_nodes.value_or(1)); ++many) {
      if (many > 1 && (!IsPowerOfTwo(many) || gpus != each)) continue;
      if (gpus * many > limits.max_gpus.value_or(1000)) continue;
      if (gpus * limits.cpus_per_gpu.value_or(0) > cpus) continue;
      expected.emplace(gpus, many);
    }
  }
  std::set<std::pair<int64_t, int64_t>> found;
  const Result<Placements> all = site.Find();
  for (const Placement& one : all->possible) found.emplace(one.gpus_per_node, one.nodes);
  RC_ASSERT(found == expected);
}

}  // namespace
}  // namespace gpuadvise
