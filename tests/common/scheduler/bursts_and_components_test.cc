#include "common/scheduler/bursts_and_components.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <string>

#include "common/scheduler/queue_job_builder.h"
#include "common/slurm/job_record.h"
#include "tests/common/scheduler/queue_of.h"

namespace gpuadvise {
namespace {

std::set<int32_t> GroupsOf(const PendingJob& job) {
  std::set<int32_t> groups;
  for (const PartitionOption& option : job.options) {
    for (const GroupDemand& demand : option.requirements->demands) groups.insert(demand.group);
  }
  return groups;
}

RC_GTEST_PROP(Components, NodesAreOfOneExactlyWhereAChainOfJobsJoinsThem, ()) {
  std::ostringstream world;
  world << "node n[1-6] a:1\n";
  for (int id = 10 + *rc::gen::inRange(0, 5); id > 10; --id) {
    world << "pend " << id << " a:1 nodes 2 on n" << *rc::gen::inRange(1, 4) << ",n"
          << *rc::gen::inRange(4, 7) << "\n";
  }
  const auto queue = QueueOf(world.str());
  std::vector<int32_t> slow = {0, 1, 2, 3, 4, 5};  // the least node that each reaches
  for (int round = 0; round < 6; ++round) {
    for (const PendingJob& job : queue->pending()) {
      const std::set<int32_t> groups = GroupsOf(job);
      int32_t least = 6;
      for (const int32_t group : groups) least = std::min(least, slow[static_cast<size_t>(group)]);
      for (const int32_t group : groups) slow[static_cast<size_t>(group)] = least;
    }
  }
  const std::vector<int32_t> found = ComponentsOf(queue->groups(), queue->pending());
  for (size_t a = 0; a < 6; ++a) {
    for (size_t b = 0; b < 6; ++b) RC_ASSERT((found[a] == found[b]) == (slow[a] == slow[b]));
  }
}

TEST(ShapeKey, DiffersInWhatDecidesWhichNodesServeAndNotInTimes) {
  const std::string key = RequirementsKey(RequestOf("a:2 nodes 2 mem 4G limit 1h"), 0);
  EXPECT_EQ(RequirementsKey(RequestOf("a:2 nodes 2 mem 4G limit 9h begin 2h"), 0), key);
  for (const char* other :
       {"a:3 nodes 2 mem 4G", "b:2 nodes 2 mem 4G", "a:2 nodes 3 mem 4G", "a:2 nodes 2 mem 5G",
        "total a:2 nodes 2 mem 4G", "a:2 nodes 2 mem 4G exclusive", "a:2 nodes 2 mem 4G features x",
        "a:2 nodes 2 mem 4G on n1", "a:2 nodes 2 mem 4G not n1", "a:2 nodes 2 mem 4G cpus 9",
        "a:2 nodes 2 mem 4G reservation r", "a:2 nodes 2 mem 4G shards 1"}) {
    EXPECT_NE(RequirementsKey(RequestOf(other), 0), key) << other;
  }
  EXPECT_NE(RequirementsKey(RequestOf("a:2 nodes 2 mem 4G limit 1h"), 1), key);
}

// Numbers of the bursts of jobs submitted at these seconds, in the order of their ids.
std::vector<int32_t> BurstsOf(const std::vector<int64_t>& submitted) {
  std::string world = "node n1 a:4\n";
  for (size_t i = 0; i < submitted.size(); ++i) {
    world += "pend " + std::to_string(i + 1) + " a:1\n";
  }
  Snapshot snapshot = SnapshotOf(world);
  for (size_t i = 0; i < submitted.size(); ++i) {
    snapshot.jobs[i].submit_time = kSnapshotTime + submitted[i];
  }
  std::vector<RunningJob> running;
  std::vector<PendingJob> pending(submitted.size());
  for (size_t i = 0; i < pending.size(); ++i) pending[i].id = snapshot.jobs[i].id;
  FindBursts(snapshot, running, pending);
  std::vector<int32_t> bursts;
  for (const PendingJob& job : pending) bursts.push_back(job.burst);
  return bursts;
}

TEST(FindBursts, AlikeJobsOfOneUserThatFollowEachOtherCloselyAreOne) {
  const std::vector<int32_t> bursts =
      BurstsOf({0, kBurstSeconds, 2 * kBurstSeconds, 3 * kBurstSeconds + 1});
  EXPECT_EQ(bursts[0], bursts[1]);
  EXPECT_EQ(bursts[1], bursts[2]);
  EXPECT_NE(bursts[2], bursts[3]);
  EXPECT_EQ(BurstsOf({0}), std::vector<int32_t>{-1});
}

}  // namespace
}  // namespace gpuadvise
