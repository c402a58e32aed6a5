#include "common/scheduler/simulated_nodes.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <string>

#include "tests/common/scheduler/queue_of.h"

namespace gpuadvise {
namespace {

constexpr int64_t kHour = 3600;
constexpr int64_t kHighest = kNever;  // a priority above all

// A cluster whose waiting jobs are what the tests start, or ask about, by id.
struct Cluster {
  explicit Cluster(const std::string& world) : queue(QueueOf(world)), nodes(NodesOf(*queue)) {}

  const PendingJob& Job(int64_t id) const {
    return *std::find_if(queue->pending().begin(), queue->pending().end(),
                         [&](const PendingJob& job) { return job.id == id; });
  }
  const PartitionOption& Way(int64_t id) const { return Job(id).options.front(); }
  bool Fits(int64_t id, int64_t now = 0) const { return nodes.FitNow(Way(id), now).start == now; }

  // "n1+n2": where the slot lies; "none".
  std::string Names(int64_t id, const GroupSlot& slot) const {
    if (slot.start >= kNever) return "none";
    std::string names;
    for (const GroupAllocation& placed : slot.nodes) {
      const GroupDemand& demand = Way(id).requirements->demands[static_cast<size_t>(placed.demand)];
      const NodeGroup& group = queue->groups().groups()[static_cast<size_t>(demand.group)];
      names += (names.empty() ? "" : "+") +
               queue->pool().nodes()[static_cast<size_t>(group.nodes.front())].name;
    }
    return names;
  }
  std::string Where(int64_t id) const { return Names(id, nodes.FitNow(Way(id), 0)); }

  void Start(int64_t id, int64_t now = 0) {
    nodes.Start(ActiveIn(nodes, Job(id), nodes.FitNow(Way(id), now), 0, now));
  }
  std::string EndUntil(int64_t now) {
    std::string ended;
    nodes.EndUntil(now, [&](const ActiveJob& job) { ended += std::to_string(job.id) + " "; });
    return ended;
  }

  std::shared_ptr<const QueueModel> queue;
  SimulatedNodes nodes;
};

TEST(SimulatedNodes, WhatAJobHoldsIsFreeAgainWhenItEnds) {
  Cluster cluster("node n1 a:4\npend 8 a:3 limit 1h\npend 9 a:2");
  EXPECT_TRUE(cluster.Fits(9));
  cluster.Start(8);
  EXPECT_FALSE(cluster.Fits(9));
  EXPECT_EQ(cluster.EndUntil(kHour - 1), "");
  EXPECT_FALSE(cluster.Fits(9, kHour - 1));
  EXPECT_EQ(cluster.EndUntil(kHour), "8 ");
  EXPECT_TRUE(cluster.Fits(9, kHour));
}

TEST(SimulatedNodes, EndsComeInTheOrderOfTime) {
  Cluster cluster("node n[1-3] a:4\nrun 5 n1 a:4 ends 3h\nrun 6 n2 a:4 ends 1h\npend 8 a:4");
  EXPECT_EQ(cluster.nodes.NextEnd(), kHour);
  cluster.Start(8);
  EXPECT_EQ(cluster.EndUntil(2 * kHour), "6 8 ");
  EXPECT_EQ(cluster.nodes.NextEnd(), 3 * kHour);
  EXPECT_EQ(cluster.EndUntil(kNever - 1), "5 ");
  EXPECT_EQ(cluster.nodes.NextEnd(), kNever);
}

TEST(SimulatedNodes, AJobThatNeverEndsIsNotTheNextEnd) {
  Cluster cluster("node n1 a:4\nrun 5 n1 a:4 ends never\npend 8 a:1");
  EXPECT_EQ(cluster.nodes.NextEnd(), kNever);
  EXPECT_FALSE(cluster.Fits(8));
}

TEST(SimulatedNodes, LowWeightsAndFullNodesAreFilledFirst) {
  EXPECT_EQ(Cluster("node n1 a:4 weight 5\nnode n2 a:4 weight 2\npend 8 a:1").Where(8), "n2");
  EXPECT_EQ(Cluster("node n[1-3] a:4\nrun 5 n3 a:1 ends 1h\npend 8 a:1").Where(8), "n3");
  EXPECT_EQ(Cluster("node n[1-3] a:4\nrun 5 n1 a:4 ends 1h\npend 8 a:1 nodes 2").Where(8), "n2+n3");
}

TEST(SimulatedNodes, WhoIsOverALimitOnUseIsNotWithinIt) {
  Cluster cluster(
      "config enforce limits\nqos normal per-user gres/gpu=4\nassoc lab user ann\n"
      "node n[1-3] a:4\npend 8 a:3 limit 1h\npend 9 a:2\npend 10 a:1");
  EXPECT_TRUE(cluster.nodes.WithinLimits(cluster.Job(9)));
  cluster.Start(8);
  EXPECT_FALSE(cluster.nodes.WithinLimits(cluster.Job(9)));
  EXPECT_TRUE(cluster.nodes.WithinLimits(cluster.Job(10)));
  cluster.EndUntil(kHour);
  EXPECT_TRUE(cluster.nodes.WithinLimits(cluster.Job(9)));
}

TEST(SimulatedNodes, NobodyFitsIntoAReservationOfOthersOrBeforeTheBeginTime) {
  Cluster cluster(
      "node n1 a:4\nreserve class n1 from 1h to 2h\n"
      "pend 8 a:1 limit 1h\npend 9 a:1 limit 61m\npend 10 a:1 limit 9m begin 10m");
  EXPECT_TRUE(cluster.Fits(8));
  EXPECT_FALSE(cluster.Fits(8, 60));
  EXPECT_FALSE(cluster.Fits(9));
  EXPECT_FALSE(cluster.Fits(10, 599));
  EXPECT_TRUE(cluster.Fits(10, 600));
  EXPECT_TRUE(cluster.Fits(9, 2 * kHour));
}

TEST(SimulatedNodes, AReservationIsForItsOwnJobsUntilItEnds) {
  Cluster cluster(
      "node n1 a:4\nreserve class n1 from 0h to 2h\npend 8 a:1 limit 1h reservation class\n"
      "pend 9 a:1 limit 1h");
  EXPECT_TRUE(cluster.Fits(8));
  EXPECT_FALSE(cluster.Fits(9));
  EXPECT_TRUE(cluster.Fits(8, 2 * kHour - 1));
  EXPECT_FALSE(cluster.Fits(8, 2 * kHour));
  EXPECT_TRUE(cluster.Fits(9, 2 * kHour));
}

TEST(SimulatedNodes, FitsSomewhereLooksAtNodesAloneAndNotAtReservations) {
  Cluster cluster(
      "node n[1-2] a:4\nreserve class n1 from 0h to 2h\nrun 5 n2 a:2 ends 1h\n"
      "pend 8 a:4\npend 9 a:3 nodes 2");
  EXPECT_TRUE(cluster.nodes.FitsSomewhere(cluster.Job(8)));
  EXPECT_FALSE(cluster.Fits(8));
  EXPECT_FALSE(cluster.nodes.FitsSomewhere(cluster.Job(9)));
}

const char* const kWeakJobs =
    "config preempt qos preempt-mode REQUEUE\nqos low\nqos high preempts low\nnode n1 a:4\n"
    "run 5 n1 a:1 ends 9h qos low\nrun 6 n1 a:2 ends 9h qos low\nrun 7 n1 a:1 ends 9h qos high\n"
    "pend 8 a:2 qos high\npend 9 a:4 qos high\npend 10 a:1 qos low\n";

TEST(SimulatedNodes, NodesOfWeakerJobsCountForAStrongOne) {
  Cluster cluster(kWeakJobs);
  const auto fits = [&](int64_t id) {
    return cluster.nodes.FitByPreempting(cluster.Way(id), kHighest, 0).start == 0;
  };
  EXPECT_TRUE(fits(8));
  EXPECT_FALSE(fits(9));   // one of its own class stays
  EXPECT_FALSE(fits(10));  // weak itself
}

TEST(SimulatedNodes, WhoLostItsNodesIsNotTheNextEnd) {
  Cluster cluster(
      "config preempt qos preempt-mode REQUEUE\nqos low\nqos high preempts low\nnode n[1-2] a:4\n"
      "run 5 n1 a:4 ends 1h qos low\nrun 6 n2 a:4 ends 2h qos high\npend 8 a:4 qos high");
  const PartitionOption& way = cluster.Way(8);
  cluster.nodes.Preempt(way, kHighest, cluster.nodes.FitByPreempting(way, kHighest, 0));
  EXPECT_EQ(cluster.nodes.NextEnd(), 2 * kHour);
  EXPECT_EQ(cluster.EndUntil(2 * kHour), "6 ");
}

// Ids of those that lose their nodes to job 8, when 5 and 6 have these priorities and ages.
std::string Lost(int64_t five, int64_t six, int64_t start_of_six, const std::string& request,
                 const std::string& config = "") {
  Cluster cluster(config + std::string("config preempt qos preempt-mode REQUEUE\nqos low\n") +
                  "qos high preempts low\nnode n1 a:4\npend 8 qos high " + request +
                  "\nrun 5 n1 a:2 ends 9h qos low\nrun 6 n1 a:2 ends 9h qos low");
  SimulatedNodes nodes(*cluster.queue, {true});
  for (size_t i = 0; i < cluster.nodes.actives().size(); ++i) {
    const ActiveJob& job = cluster.nodes.actives()[i];
    ActiveJob active = job;
    active.held = nodes.Hold(cluster.queue->running()[i].held);
    active.priority = job.id == 5 ? five : six;
    active.started = job.id == 5 ? -600 : start_of_six;
    nodes.Resume(active);
  }
  std::string ids;
  const PartitionOption& way = cluster.Way(8);
  for (const ActiveJob& job :
       nodes.Preempt(way, kHighest, nodes.FitByPreempting(way, kHighest, 0))) {
    ids += std::to_string(job.id);
  }
  return ids + (nodes.FitNow(way, 0).start == 0 ? "" : " in vain");
}

TEST(SimulatedNodes, TheLowestPriorityAndThenTheYoungestLosesItsNodes) {
  EXPECT_EQ(Lost(1, 2, -60, "a:2"), "5");
  EXPECT_EQ(Lost(2, 1, -6000, "a:2"), "6");
  EXPECT_EQ(Lost(1, 1, -60, "a:2"), "6");
  EXPECT_EQ(Lost(1, 1, -6000, "a:2"), "5");
  EXPECT_EQ(Lost(1, 2, -60, "a:4"), "56");
}

TEST(SimulatedNodes, ThePlanLetsJobsEndAtTheirLimitsAndNotWhenTheyDo) {
  Cluster cluster("node n1 a:4\npend 8 a:4 limit 2h\npend 9 a:4");
  ActiveJob job =
      ActiveIn(cluster.nodes, cluster.Job(8), cluster.nodes.FitNow(cluster.Way(8), 0), 0, 0);
  job.end = kHour;
  cluster.nodes.Start(job);
  const PartitionOption& way = cluster.Way(9);
  const auto planned = [&](int64_t now) {
    return cluster.nodes.PlanAt(now).Earliest(*way.requirements, way.duration, now).start;
  };
  EXPECT_EQ(planned(0), 2 * kHour);
  cluster.EndUntil(kHour);
  EXPECT_EQ(planned(kHour), kHour);
}

TEST(SimulatedNodes, AJobOfSeveralNodesFreesThemAllInThePlan) {
  Cluster cluster("node n[1-3] a:4\nrun 5 n[1-3] a:4 ends 1h\npend 9 a:4 nodes 3");
  const PartitionOption& way = cluster.Way(9);
  EXPECT_EQ(cluster.nodes.PlanAt(0).Earliest(*way.requirements, way.duration, 0).start, kHour);
}

TEST(SimulatedNodes, WhoIsOverItsLimitIsPlannedToEndAtTheNextLook) {
  Cluster cluster("node n1 a:4\nrun 5 n1 a:4 ends 1h\npend 9 a:4");
  const PartitionOption& way = cluster.Way(9);
  EXPECT_EQ(cluster.nodes.PlanAt(9000).Earliest(*way.requirements, way.duration, 9000).start, 9001);
}

TEST(SimulatedNodes, SlurmLooksOnlyAfterStridesThatDouble) {
  Cluster cluster(
      "node n[1-5] a:4\nrun 1 n1 a:4 ends 600s\nrun 2 n2 a:4 ends 630s\nrun 3 n3 a:4 ends 661s\n"
      "run 4 n4 a:4 ends 721s\nrun 5 n5 a:4 ends 722s\npend 8 a:4");
  const auto planned = [&](int64_t start) {
    return cluster.nodes.StartAsPlanned(cluster.Way(8), start);
  };
  EXPECT_EQ(planned(600), 630);  // with who ends within 30 s
  EXPECT_EQ(planned(630), 630);
  EXPECT_EQ(planned(661), 721);  // then within 60 s
  EXPECT_EQ(planned(722), 722);
  EXPECT_EQ(planned(700), 700);  // by nobody's end
}

// Four nodes whose jobs end one after the other, and a job that waits for one of them.
int64_t Planned(const std::string& parameters, const std::string& request, int64_t start) {
  Cluster cluster("config parameters " + parameters + "\nnode n[1-5] a:4 cpus 4\n" + "run 1 n1 " +
                  request + " ends 600s\nrun 2 n2 " + request + " ends 661s\n" + "run 3 n3 " +
                  request + " ends 745s\nrun 4 n4 " + request + " ends 746s\n" + "run 5 n5 " +
                  request + " ends 2h\npend 8 a:4");
  return cluster.nodes.StartAsPlanned(cluster.Way(8), start);
}

TEST(SimulatedNodes, StridesGrowByASetAmountWithWindowLinear) {
  EXPECT_EQ(Planned("defer", "a:2", 661), 661);                // 60 s from then: to 721 s
  EXPECT_EQ(Planned("bf_window_linear=60", "a:2", 661), 746);  // 90 s
}

TEST(SimulatedNodes, EndsOfJobsOnWholeNodesAreKnownWithRunningJobReserve) {
  EXPECT_EQ(Planned("defer", "a:4", 745), 746);
  EXPECT_EQ(Planned("bf_running_job_reserve", "a:4", 745), 745);
  EXPECT_EQ(Planned("bf_licenses", "a:4", 745), 745);
  EXPECT_EQ(Planned("bf_running_job_reserve", "a:2", 745), 746);
}

TEST(SimulatedNodes, TheYoungestLosesItsNodesWithYoungestFirst) {
  const std::string youngest = "config parameters preempt_youngest_first\n";
  EXPECT_EQ(Lost(1, 2, -60, "a:2", youngest), "6");
  EXPECT_EQ(Lost(2, 1, -6000, "a:2", youngest), "5");
}

// ---- against an obvious model -------------------------------------------------------------------

int Draw(int low, int high) { return *rc::gen::inRange(low, high + 1); }

std::string DrawCluster(int nodes) {
  std::ostringstream world;
  world << "node n[1-" << nodes << "] a:8 cpus 64\n";
  for (int id = 1; id <= 12; ++id) {
    world << "pend " << id << " a:" << Draw(1, 8) << " nodes " << Draw(1, nodes) << " limit "
          << 10 * Draw(1, 9) << "m\n";
  }
  return world.str();
}

std::string FitsOfAll(const Cluster& cluster, int64_t now) {
  std::string fits;
  for (int64_t id = 1; id <= 12; ++id) fits += cluster.Fits(id, now) ? 'y' : 'n';
  return fits;
}

RC_GTEST_PROP(SimulatedNodes, AllocateThenReleaseGivesBackWhatWasThere, ()) {
  Cluster cluster(DrawCluster(3));
  const std::string before = FitsOfAll(cluster, 0);
  for (int i = Draw(0, 12); i > 0; --i) {
    const int id = Draw(1, 12);
    if (cluster.Fits(id)) cluster.Start(id);
  }
  cluster.EndUntil(90 * 60);
  RC_ASSERT(FitsOfAll(cluster, 90 * 60) == before);
  for (const GroupDemand& demand : cluster.Way(1).requirements->demands) {
    RC_ASSERT(cluster.nodes.PlanAt(0).Earliest({{demand}, 1, -1}, kNever, 0).start == 0);
  }
}

// Nodes as counts of free GPUs, and who ends when.
struct Counts {
  std::map<std::string, int64_t> free = {{"n1", 8}, {"n2", 8}, {"n3", 8}};
  std::multimap<int64_t, std::pair<std::string, int64_t>> ends;

  bool Fits(int64_t gpus, int64_t nodes) const {
    return std::count_if(free.begin(), free.end(),
                         [&](const auto& node) { return node.second >= gpus; }) >= nodes;
  }
  void Take(const std::string& node, int64_t gpus, int64_t until) {
    free[node] -= gpus;
    ends.emplace(until, std::pair(node, gpus));
  }
  void EndUntil(int64_t now) {
    for (; !ends.empty() && ends.begin()->first <= now; ends.erase(ends.begin())) {
      free[ends.begin()->second.first] += ends.begin()->second.second;
    }
  }
};

RC_GTEST_PROP(SimulatedNodes, AgreesWithCountingGpusNodeByNode, ()) {
  Cluster cluster(DrawCluster(3));
  Counts counts;
  for (int64_t now = 0; now < 20 * 600; now += 600) {
    cluster.EndUntil(now);
    counts.EndUntil(now);
    const int id = Draw(1, 12);
    const PartitionOption& way = cluster.Way(id);
    const int64_t gpus = way.requirements->demands.front().each.any_gpus;
    const GroupSlot slot = cluster.nodes.FitNow(way, now);
    RC_ASSERT((slot.start == now) == counts.Fits(gpus, way.requirements->nodes));
    RC_ASSERT(cluster.nodes.FitsSomewhere(cluster.Job(id)) == (slot.start == now));
    if (slot.start != now) continue;
    std::istringstream names(cluster.Names(id, slot));
    for (std::string name; std::getline(names, name, '+');) {
      RC_ASSERT(counts.free[name] >= gpus);
      counts.Take(name, gpus, now + way.duration);
    }
    cluster.Start(id, now);
  }
}

}  // namespace
}  // namespace gpuadvise
