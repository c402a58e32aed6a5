// Which nodes could ever run a job, by way of ResolveRequirements, and the sentences when too few
// can.
#include "common/scheduler/node_filter.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>

#include "common/scheduler/job_requirements.h"
#include "tests/fakes/snapshot_text.h"

namespace gpuadvise {
namespace {

struct Site {
  Snapshot snapshot;
  NodePool pool;
  std::vector<int32_t> members;

  explicit Site(const std::string& world) : snapshot(SnapshotOf(world)), pool(snapshot) {
    for (const std::string& name : snapshot.partitions[0].nodes) {
      members.push_back(pool.FindNode(name));
    }
  }

  // "n1 n3", or the sentence.
  std::string Nodes(const std::string& request) const {
    const auto shape =
        ResolveRequirements(pool, snapshot, snapshot.partitions[0], members, RequestOf(request));
    if (!shape) return shape.error().message;
    std::string names;
    for (const int32_t node : *shape->nodes) {
      names += (names.empty() ? "" : " ") + pool.nodes()[static_cast<size_t>(node)].name;
    }
    return names;
  }
};

TEST(NodeFilter, FeaturesMayBeJoinedByAndAndOr) {
  const Site site("node n1 features x\nnode n2 features x,y\nnode n3 features y,z\nnode n4");
  EXPECT_EQ(site.Nodes("features x"), "n1 n2");
  EXPECT_EQ(site.Nodes("features x&y"), "n2");
  EXPECT_EQ(site.Nodes("features x|z"), "n1 n2 n3");
  EXPECT_EQ(site.Nodes("cpus 1"), "n1 n2 n3 n4");
}

TEST(NodeFilter, OnlyNodesOfThePartitionCount) {
  EXPECT_EQ(Site("node n[1-4]\npartition p n[2-3]").Nodes("cpus 1"), "n2 n3");
}

TEST(NodeFilter, ExcludedNodesAreLeftOutAndRequiredOnesStay) {
  const Site site("node n[1-4] a:4");
  EXPECT_EQ(site.Nodes("a:1 not n[1-2]"), "n3 n4");
  EXPECT_EQ(site.Nodes("a:1 not n[1-4]"),
            "partition main has no node left after the excluded ones");
  EXPECT_EQ(site.Nodes("a:1 not n1 on n1"),
            "node n1 cannot run this job in partition main; leave it out of the required nodes");
}

TEST(NodeFilter, AReservationHasOnlyItsNodes) {
  const Site site("node n[1-4] a:4\nreserve class n[2-3] from 1h to 9h");
  EXPECT_EQ(site.Nodes("a:1 reservation class"), "n2 n3");
  EXPECT_EQ(site.Nodes("a:1 nodes 3 reservation class"),
            "partition main has only 2 nodes in reservation 'class' (n[2-3]), not 3 nodes");
}

TEST(NodeFilter, NodesThatAreDownAreNamedWithTheirReason) {
  const Site site("node n1 a:4 state DOWN reason disk\nnode n2 a:2");
  EXPECT_EQ(site.Nodes("a:2"), "n2");
  EXPECT_EQ(site.Nodes("a:4"),
            "the nodes of partition main that could run this are out of service: n1 is down "
            "(disk)");
  EXPECT_NE(site.Nodes("a:1 nodes 2 on n1").find("out of service"), std::string::npos);
}

TEST(NodeFilter, TheFirstNeedThatLeavesTooFewIsTheOneThatIsSaid) {
  const Site site("node n1 a:4 cpus 4 features old\nnode n2 cpus 64 mem 9000 features new");
  EXPECT_NE(site.Nodes("a:9 cpus 99 features no").find("-C 'no'"), std::string::npos);
  EXPECT_NE(site.Nodes("a:9 cpus 99 nodes 1-1 features new").find("with 9 × a;"),
            std::string::npos);
  EXPECT_EQ(site.Nodes("a:1 cpus 8 nodes 1-1"),
            "partition main has no node with 8 CPUs; its nodes that fit otherwise have up to 4");
}

TEST(NodeFilter, ThePartitionsOwnLimitsHaveTheirSentences) {
  const Site site("node n1 a:4 mem 90000\npartition p ALL max-mem 8000");
  EXPECT_EQ(site.Nodes("a:1 mem 8001"),
            "partition p gives a job at most 8000 MiB of memory per node, not 8001");
  EXPECT_EQ(site.Nodes("a:1 mem 8000"), "n1");
}

TEST(NodeFilter, AJobOfOneNodeIsKeptToNodesThatServeItAlone) {
  const Site site("node n1 a:2\nnode n2 a:8\nnode n3 a:4");
  EXPECT_EQ(site.Nodes("total a:4"), "n2 n3");
  EXPECT_EQ(site.Nodes("total a:10"), "n1 n2 n3");  // on two
}

TEST(NodeFilter, WhatOneNodeHasOfEachMustBeThereAtOnce) {
  const Site site("node n1 a:4 mem 4000\nnode n2 mem 64000\nnode n3 a:2 mem 64000");
  EXPECT_EQ(site.Nodes("a:2 mem 32000"), "n3");
}

TEST(DescribeGpus, CountsNodesOfEachKind) {
  const Site site("node n[1-3] a:4\nnode n4 a:8 b:2\nnode n5\nnode n6 gpu:1");
  EXPECT_EQ(DescribeGpus(site.pool, site.members),
            "1 × untyped on 1 node, 4 × a on 3 nodes, 8 × a on 1 node and 2 × b on 1 node");
  EXPECT_EQ(DescribeGpus(site.pool, {4}), "none");
}

TEST(NodeFilter, UnknownNamesAreAnsweredWithThoseThatExist) {
  const Site site("node n1 a100:4\nreserve class n1 from 1h to 2h");
  const Error gpu = NoSuchGpu(site.pool, site.snapshot.partitions[0], site.members, "a10").value();
  EXPECT_EQ(gpu.message,
            "no node of this cluster has GPUs of type 'a10' (did you mean 'a100'?); those of "
            "partition main are 4 × a100 on 1 node");
  EXPECT_EQ(NoSuchReservation(site.pool, "clas", false).value().code, ErrorCode::kNotFound);
  EXPECT_EQ(NoSuchReservation(NodePool(SnapshotOf("node n1")), "x", false).value().message,
            "there is no reservation 'x'; there are none");
  EXPECT_EQ(NoSuchReservation(site.pool, "clas", true).value().message.find("class"),
            std::string::npos);
}

// ---- against looking at each node by itself -----------------------------------------------------

int Draw(int low, int high) { return *rc::gen::inRange(low, high + 1); }

struct Wanted {
  int64_t gpus = Draw(0, 4);
  int64_t cpus = Draw(1, 16);
  int64_t memory = Draw(1, 8) * 1000;
  std::string features = *rc::gen::element<std::string>("", "x", "y", "x&y", "x|y");
  int excluded = Draw(0, 6);  // 0: none

  std::string Text() const {
    std::ostringstream text;
    text << "nodes 1-1 cpus " << cpus << " mem " << memory;
    if (gpus > 0) text << " a:" << gpus;
    if (!features.empty()) text << " features " << features;
    if (excluded > 0) text << " not n" << excluded;
    return text.str();
  }

  bool Accepts(const Node& node) const {
    const auto has = [&](const char* feature) {
      return std::find(node.features.begin(), node.features.end(), feature) != node.features.end();
    };
    const bool featured = features.empty() || (features == "x" && has("x")) ||
                          (features == "y" && has("y")) ||
                          (features == "x&y" && has("x") && has("y")) ||
                          (features == "x|y" && (has("x") || has("y")));
    int64_t there = 0;
    for (const GpuCount& gpu : node.gpus) there += gpu.type == "a" ? gpu.count : 0;
    return featured && there >= gpus && node.cpus >= cpus && node.memory_mib >= memory &&
           node.name != "n" + std::to_string(excluded) && node.state.base != NodeBase::kDown;
  }
};

RC_GTEST_PROP(NodeFilter, KeepsExactlyTheNodesThatHaveAllThatIsAsked, ()) {
  std::ostringstream world;
  for (int i = 1; i <= 6; ++i) {
    world << "node n" << i << " cpus " << Draw(1, 16) << " mem " << Draw(1, 8) * 1000
          << *rc::gen::element<std::string>("", " features x", " features y", " features x,y")
          << *rc::gen::element<std::string>("", " a:1", " a:4", " b:4", " a:2 b:2")
          << *rc::gen::element<std::string>("", "", " state DOWN") << "\n";
  }
  const Site site(world.str());
  const Wanted wanted;
  std::string expected;
  for (const Node& node : site.snapshot.nodes) {
    if (wanted.Accepts(node)) expected += (expected.empty() ? "" : " ") + node.name;
  }
  const std::string found = site.Nodes(wanted.Text());
  if (expected.empty()) {
    RC_ASSERT(found.find("partition main") != std::string::npos);
  } else {
    RC_ASSERT(found == expected);
  }
}

}  // namespace
}  // namespace gpuadvise
