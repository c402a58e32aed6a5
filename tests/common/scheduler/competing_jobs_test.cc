#include "common/scheduler/competing_jobs.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/common/scheduler/queue_of.h"

namespace gpuadvise {
namespace {

const PendingJob& JobOf(const QueueModel& queue, int64_t id) {
  return *std::find_if(queue.pending().begin(), queue.pending().end(),
                       [&](const PendingJob& job) { return job.id == id; });
}

std::set<int32_t> GroupsOf(const PendingJob& job) {
  std::set<int32_t> groups;
  for (const PartitionOption& option : job.options) {
    for (const GroupDemand& demand : option.requirements->demands) groups.insert(demand.group);
  }
  return groups;
}

bool ShareANode(const PendingJob& a, const PendingJob& b) {
  const std::set<int32_t> others = GroupsOf(b);
  const std::set<int32_t> own = GroupsOf(a);
  return std::any_of(own.begin(), own.end(), [&](int32_t group) { return others.contains(group); });
}

TEST(CompetingJobs, AreThoseThatCouldUseTheSameNodes) {
  const auto queue = QueueOf(
      "node n1 a:4\nnode n2 b:4\npend 8 a:1 priority 3\npend 9 b:1 priority 2\n"
      "pend 10 gpu:1 priority 1");
  PendingJob asked = JobOf(*queue, 8);
  asked.replaces_job = 8;
  EXPECT_EQ(queue->rivals().Of(asked).competing, 1);  // job 10
  asked = JobOf(*queue, 10);
  asked.replaces_job = 10;
  EXPECT_EQ(queue->rivals().Of(asked).competing, 2);
  EXPECT_EQ(queue->rivals().Of(asked).before, 2);
}

TEST(CompetingJobs, ThoseAheadAreNamedInQueueOrder) {
  const auto queue = QueueOf(
      "node n1 a:4\nnode n2 b:4\npend 7 a:1 priority 5 count 3\npend 8 a:1 priority 9\n"
      "pend 9 b:1 priority 7\npend 10 gpu:1 priority 1");
  EXPECT_EQ(JobsAheadOf(10, queue->pending(), 10), (std::vector<int64_t>{8, 9, 7}));
  EXPECT_EQ(JobsAheadOf(10, queue->pending(), 2), (std::vector<int64_t>{8, 9}));
  EXPECT_EQ(JobsAheadOf(7, queue->pending(), 10), (std::vector<int64_t>{8}));
  EXPECT_TRUE(JobsAheadOf(8, queue->pending(), 10).empty());
  EXPECT_TRUE(JobsAheadOf(99, queue->pending(), 10).empty());
}

TEST(CompetingJobs, AllTasksOfTheJobThatIsReplacedAreLeftOut) {
  const auto queue = QueueOf("node n1 a:4\npend 8 a:1 count 5\npend 9 a:1");
  PendingJob asked = JobOf(*queue, 8);
  EXPECT_EQ(queue->rivals().Of(asked).competing, 6);
  asked.replaces_job = 8;
  EXPECT_EQ(queue->rivals().Of(asked).competing, 1);
}

TEST(CompetingJobs, AJobThatIsReplacedStandsNeitherBeforeNorBesideItself) {
  const auto queue = QueueOf("node n1 a:4\nnode n2 b:4\npend 8 a:1\npend 9 b:1");
  PendingJob asked = JobOf(*queue, 8);
  asked.replaces_job = 8;
  asked.rank.priority -= 100;  // behind its own place
  EXPECT_EQ(queue->rivals().Of(asked).before, 0);
  asked.options = JobOf(*queue, 9).options;  // other nodes, where job 8 was no rival
  EXPECT_EQ(queue->rivals().Of(asked).competing, 1);
  EXPECT_EQ(queue->rivals().Of(asked).before, 1);
}

RC_GTEST_PROP(CompetingJobs, AreAsManyAsLookingAtEachJobFinds, ()) {
  const auto draw = [](int low, int high) { return *rc::gen::inRange(low, high + 1); };
  std::ostringstream world;
  world << "node n1 a:4\nnode n2 b:4\nnode n3 a:2 b:2\npartition p n[1-2]\npartition q n[2-3]\n";
  for (int id = 10 + draw(1, 12); id > 10; --id) {
    world << "pend " << id << *rc::gen::element<std::string>(" a:1", " b:1", " gpu:1", " b:4")
          << *rc::gen::element<std::string>(" in p", " in q", " in p,q") << " priority "
          << draw(1, 4) << "\n";
  }
  const auto queue = QueueOf(world.str());
  for (PendingJob asked : queue->pending()) {
    int64_t competing = 0, before = 0;
    for (const PendingJob& other : queue->pending()) {
      if (!ShareANode(asked, other)) continue;
      ++competing;
      before += other.rank < asked.rank ? 1 : 0;
    }
    const CompetingJobs found = queue->rivals().Of(asked);
    RC_ASSERT(found.competing == competing);
    RC_ASSERT(found.before == before);
    asked.replaces_job = asked.id;
    RC_ASSERT(queue->rivals().Of(asked).competing == competing - 1);
  }
}

}  // namespace
}  // namespace gpuadvise
