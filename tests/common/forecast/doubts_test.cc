// What is said beside a forecast, and that nothing is said where it cannot move it.
#include "common/forecast/doubts.h"

#include <gtest/gtest.h>

#include <string>

#include "common/forecast/start_of.h"
#include "tests/fakes/snapshot_text.h"

namespace gpuadvise {
namespace {

std::string DoubtsIn(const Snapshot& world, const std::string& request) {
  JobRequest asked = RequestOf(request);
  const auto start = StartOf(*PrepareQueue(world), asked, {1001, "ann", "lab", "normal"});
  if (!start) return start.error().message;
  std::string text;
  for (const std::string& doubt : start->doubts) text += doubt + "\n";
  return text;
}

std::string DoubtsIn(const std::string& world, const std::string& request) {
  return DoubtsIn(SnapshotOf(world), request);
}

TEST(Doubts, APlainClusterHasNone) { EXPECT_EQ(DoubtsIn("node n[1-2] a:4", "a:4 nodes 2"), ""); }

TEST(Doubts, ANodeThatIsPoweredUpFirst) {
  const std::string world =
      "config resume-timeout 10m\nnode n1 a:4 state IDLE+POWERED_DOWN\nnode n2 b:4\n";
  EXPECT_EQ(DoubtsIn(world, "a:1"), "its node must power up first: up to 10 m\n");
  EXPECT_EQ(DoubtsIn(world, "b:1"), "");
}

TEST(Doubts, LicencesThatAreSharedOrUnknown) {
  const std::string world = "node n1 a:4\nlicence matlab 4 remote\nlicence ansys 4\n";
  EXPECT_EQ(DoubtsIn(world, "a:1 licenses matlab=1"),
            "licence matlab is shared with other clusters, whose use is not known\n");
  EXPECT_EQ(DoubtsIn(world, "a:1 licenses ansys=1"), "");
  EXPECT_EQ(DoubtsIn("node n1 a:4", "a:1 licenses matlab=1"),
            "this cluster's licences are not known: it may wait for one\n");
}

TEST(Doubts, TopologyWhereItIsAskedForOrBinds) {
  EXPECT_EQ(DoubtsIn("config topology tree\nnode n[1-2] a:4", "a:4 nodes 2"), "");
  EXPECT_EQ(DoubtsIn("config topology tree\nnode n[1-2] a:4", "a:4 nodes 2 switches 1"),
            "--switches is not simulated: it may wait longer\n");
  EXPECT_EQ(DoubtsIn("config topology block\nnode n[1-2] a:4", "a:4"), "");
  EXPECT_NE(
      DoubtsIn("config topology block\nnode n[1-2] a:4", "a:4 nodes 2").find("topology/block"),
      std::string::npos);
}

TEST(Doubts, NodesOfOneUser) {
  EXPECT_NE(DoubtsIn("node n1 a:4", "a:1 exclusive-to user").find("jobs of the same user"),
            std::string::npos);
}

TEST(Doubts, PartsOfSeveralNodesThatItCouldUse) {
  const std::string world =
      "node n[1-2] a:4\nnode n3 b:4\nreserve r n[1-2] from 0h to 9h tres cpu=8,gres/gpu=2\n";
  EXPECT_EQ(DoubtsIn(world, "a:1"),
            "reservation r holds part of 2 nodes: which part is not known\n");
  EXPECT_EQ(DoubtsIn(world, "b:1"), "");
}

TEST(Doubts, AReservationWithoutNodesYet) {
  const std::string world = "node n[1-2] a:4\nreserve r none from 2h to 9h nodes 1\n";
  EXPECT_EQ(DoubtsIn(world, "a:1"), "reservation r takes 1 node that Slurm has not selected yet\n");
}

TEST(Doubts, RunningJobsThatWouldStartAgainBeforeAll) {
  Snapshot world = SnapshotOf("node n1 a:4\nnode n2 b:4\nrun 7 n1 a:2 ends 1h");
  world.jobs.front().expedited_requeue = true;
  EXPECT_NE(DoubtsIn(world, "a:1").find("--requeue=expedite"), std::string::npos);
  EXPECT_EQ(DoubtsIn(world, "b:1"), "");
}

}  // namespace
}  // namespace gpuadvise
