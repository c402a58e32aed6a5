// The two passes over a queue, without the simulation around them.
#include "common/scheduler/scheduler_cycle.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <string>

#include "tests/common/scheduler/queue_of.h"

namespace gpuadvise {
namespace {

// A cluster with its queue, whose jobs start when a pass says so.
class Site final : public SchedulerEvents {
 public:
  explicit Site(const std::string& world)
      : queue(QueueOf(world)), nodes(NodesOf(*queue)), passes(*queue, nodes, pending, *this) {
    for (size_t i = 0; i < queue->pending().size(); ++i) {
      const PendingJob& job = queue->pending()[i];
      pending.push_back({&job, job.rank, -1, 0, static_cast<int32_t>(i)});
    }
  }
  bool Competes(const Waiting& waiting) const override {
    return !held.contains(waiting.job->id) && nodes.WithinLimits(*waiting.job);
  }
  void Start(const Waiting& waiting, size_t option, const GroupSlot& slot) override {
    nodes.Start(ActiveIn(nodes, *waiting.job, slot, option, slot.start));
    started += (started.empty() ? "" : " ") + std::to_string(waiting.job->id);
    if (option > 0) started += "/" + std::to_string(option);
  }
  void Lose(const ActiveJob& job) override { lost += std::to_string(job.id) + " "; }
  bool Done() const override { return false; }

  const std::string& Main() { return passes.MainCycle(0), started; }
  const std::string& Backfill() { return passes.BackfillCycle(0), started; }

  std::shared_ptr<const QueueModel> queue;
  SimulatedNodes nodes;
  std::vector<Waiting> pending;
  std::set<int64_t> held;
  std::string started, lost;
  SchedulerCycle passes;
};

std::string Main(const std::string& world) { return Site(world).Main(); }
std::string Backfill(const std::string& world) { return Site(world).Backfill(); }

// Two nodes of which one is busy for two hours, and a first job that needs both.
const char* const kReserved =
    "node n[1-2] a:4\nrun 7 n1 a:4 ends 2h\npend 8 a:4 nodes 2 limit 1h\n";

TEST(MainCycle, StartsInTheOrderOfTheQueueWhatFits) {
  EXPECT_EQ(Main("node n[1-2] a:4\npend 8 a:4\npend 9 a:4\npend 10 a:4"), "8 9");
  EXPECT_EQ(Main("node n1 a:4\npend 8 a:4 priority 1\npend 9 a:4 priority 2"), "9");
}

TEST(MainCycle, TheFirstThatDoesNotFitHoldsBackItsPartition) {
  EXPECT_EQ(Main("node n1 a:4\nrun 7 n1 a:2 ends 1h\npend 8 a:4\npend 9 a:2"), "");
  EXPECT_EQ(Main("node n[1-2] a:4\npartition p n1\npartition q n2\nrun 7 n1 a:2 ends 1h\n"
                 "pend 8 a:4 in p\npend 9 a:2 in p\npend 10 a:2 in q"),
            "10");
}

TEST(MainCycle, AFullPartitionLeavesTheNextOneOfTheJob) {
  EXPECT_EQ(Main("node n[1-2] a:4\npartition p n1\npartition q n2\nrun 7 n1 a:4 ends 1h\n"
                 "pend 8 a:4 in p,q"),
            "8/1");
}

TEST(MainCycle, WhoDoesNotCompeteHoldsNobodyBack) {
  Site site("node n1 a:4\nrun 7 n1 a:2 ends 1h\npend 8 a:4\npend 9 a:2");
  site.held = {8};
  EXPECT_EQ(site.Main(), "9");
}

TEST(MainCycle, ABeginTimeAheadHoldsNobodyBack) {
  EXPECT_EQ(Main("node n1 a:4\npend 8 a:4 begin 1h\npend 9 a:4"), "9");
}

TEST(MainCycle, LooksAtNoMoreJobsThanTheQueueDepth) {
  const std::string world = "node n[1-4] a:4\npend 8 a:4\npend 9 a:4\npend 10 a:4\n";
  EXPECT_EQ(Main(world + "config parameters default_queue_depth=2"), "8 9");
  EXPECT_EQ(Main(world), "8 9 10");
}

TEST(MainCycle, WhoHasStartedDoesNotStartAgain) {
  Site site("node n[1-40] a:4\npend 8 a:4 count 25\npend 9 a:4 nodes 15");
  site.Main();
  EXPECT_EQ(site.nodes.actives().size(), 26u);
  site.Main();
  EXPECT_EQ(site.nodes.actives().size(), 26u);
}

TEST(MainCycle, AJobThatIsPutIntoTheQueueTakesItsTurn) {
  Site site("node n1 a:4\npend 8 a:4\npend 9 a:4");
  Waiting last = site.pending.back();
  site.pending.pop_back();
  site.passes.Insert(0, last);
  EXPECT_EQ(site.Main(), "9");
}

TEST(MainCycle, AJobThatIsPutAheadOfThoseWhoHaveStartedIsSeen) {
  Site site("node n[1-2] a:4\npend 8 a:4\npend 9 a:4");
  const Waiting last = site.pending.back();
  site.pending.pop_back();
  site.Main();
  site.Main();  // has gone past job 8
  site.passes.Insert(0, last);
  EXPECT_EQ(site.Main(), "8 9");
}

TEST(MainCycle, WhoeverFitsIntoWhatIsFreeTakesNobodysNodes) {
  Site site(
      "config preempt qos preempt-mode REQUEUE\nqos low\nqos high preempts low\n"
      "node n[1-2] a:4\nrun 6 n1 a:4 ends 9h qos low\n"
      "pend 8 a:4 nodes 2 qos low\npend 9 a:4 qos high");
  EXPECT_EQ(site.Main(), "");  // behind job 8, until backfill looks
  EXPECT_EQ(site.Backfill(), "9");
  EXPECT_EQ(site.lost, "");
}

TEST(MainCycle, AStrongQosTakesTheNodesOfOneWeakJobAndNoMore) {
  Site site(
      "config preempt qos preempt-mode REQUEUE\nqos low\nqos high preempts low\n"
      "node n[1-2] a:4\nrun 6 n1 a:4 ends 9h qos low\nrun 7 n2 a:4 ends 9h qos low\n"
      "pend 8 a:4 qos low\npend 9 a:4 qos high");
  EXPECT_EQ(site.Main(), "9");
  EXPECT_EQ(site.lost.size(), 2u) << site.lost;
}

TEST(BackfillCycle, AShortJobStartsBeforeTheReservation) {
  EXPECT_EQ(Backfill(std::string(kReserved) + "pend 9 a:4 limit 2h"), "9");
}

TEST(BackfillCycle, AJobThatWouldDelayTheReservationWaits) {
  EXPECT_EQ(Backfill(std::string(kReserved) + "pend 9 a:4 limit 121m"), "");
}

TEST(BackfillCycle, ThoseWhoStartTakeTheRoomOfThoseBehind) {
  EXPECT_EQ(Backfill(std::string(kReserved) + "pend 9 a:4 limit 1h\npend 10 a:4 limit 1h"), "9");
}

TEST(BackfillCycle, AReservationTakesWholeNodes) {
  const std::string world = "node n1 a:4 cpus 8\nrun 7 n1 a:3 ends 2h\npend 8 a:2 limit 1h\n";
  EXPECT_EQ(Backfill(world + "pend 9 a:1 limit 3h"), "");
  EXPECT_EQ(Backfill(world + "pend 9 a:1 limit 2h"), "9");
}

TEST(BackfillCycle, WhoStartsBeyondTheWindowIsPromisedNothing) {
  EXPECT_EQ(Backfill(std::string(kReserved) + "pend 9 a:4 limit 9h\n" +
                     "config parameters bf_window=119"),
            "9");
}

TEST(BackfillCycle, YoungOrUnimportantJobsArePromisedNothing) {
  const std::string world = std::string(kReserved) + "pend 9 a:4 limit 9h\nconfig parameters ";
  EXPECT_EQ(Backfill(world + "bf_min_age_reserve=3600"), "");  // an hour old
  EXPECT_EQ(Backfill(world + "bf_min_age_reserve=3601"), "9");
  EXPECT_EQ(Backfill(world + "bf_min_prio_reserve=10000"), "");
  EXPECT_EQ(Backfill(world + "bf_min_prio_reserve=10001"), "9");
}

TEST(BackfillCycle, LooksAtNoMoreJobsThanItMayTest) {
  const std::string world = std::string(kReserved) + "pend 9 a:4 limit 1h\nconfig parameters ";
  EXPECT_EQ(Backfill(world + "bf_max_job_test=1"), "");
  EXPECT_EQ(Backfill(world + "bf_max_job_test=2"), "9");
}

TEST(BackfillCycle, AnArrayIsOneOfTheJobsThatItMayTest) {
  for (const std::string count : {"1990", "2500", "20000"}) {
    const std::string world = "node n1 a:4\nnode m1 b:4\nrun 7 n1 a:4 ends 2h\npend 8 a:4 count " +
                              count + "\npend 9 b:1\nconfig parameters ";
    EXPECT_EQ(Backfill(world + "bf_max_job_test=1"), "") << count;
    EXPECT_EQ(Backfill(world + "bf_max_job_test=2"), "9") << count;
    EXPECT_EQ(Backfill(world + "bf_interval=30"), "9") << count;
  }
}

TEST(MainCycle, AnArrayIsOneOfTheJobsThatItLooksAt) {
  EXPECT_EQ(Main("node n1 a:4\nnode m1 b:4\npend 8 a:1 count 4\npend 9 b:1\n"
                 "config parameters default_queue_depth=2"),
            "8 8 8 8 9");
}

TEST(BackfillCycle, KeepsNodesForSoManyTasksOfAnArray) {
  const std::string world =  // the second task would have the node of which job 9 takes half
      "node n[1-2] a:4\nrun 5 n1 a:4 ends 1h\nrun 6 n2 a:2 ends 2h\npend 8 a:4 limit 10h count 3\n"
      "pend 9 a:2 limit 3h\nconfig parameters bf_interval=30";
  EXPECT_EQ(Backfill(world), "");
  EXPECT_EQ(Backfill(world + ",bf_max_job_array_resv=2"), "");
  EXPECT_EQ(Backfill(world + ",bf_max_job_array_resv=1"), "9");
}

TEST(BackfillCycle, KeepsNodesForNoMoreTasksThanTheThrottleLeaves) {
  const auto world = [](const std::string& throttle) {
    return "node n[1-2] a:4\nrun 5 n1 a:4 ends 1h\nrun 6 n2 a:2 ends 2h\n"
           "pend 8 a:4 limit 10h count 3 throttle " +
           throttle + "\npend 9 a:2 limit 3h";
  };
  EXPECT_EQ(Backfill(world("2")), "");
  EXPECT_EQ(Backfill(world("1")), "9");
}

TEST(BackfillCycle, AnyNumberOfTasksMayStart) {
  const std::string world = "node n[1-40] a:1\npend 8 a:1 count 30\npend 9 a:1 user bob\n";
  EXPECT_EQ(Backfill(world + "config parameters bf_max_job_user=1,bf_max_job_array_resv=2").size(),
            30 * 2 + 1u);
}

TEST(BackfillCycle, StartsAndTriesNoMoreOfAUserThanItMay) {
  const std::string world =
      "node n[1-3] a:4\npend 8 a:4\npend 9 a:4\npend 10 a:4 user bob\nconfig parameters ";
  EXPECT_EQ(Backfill(world + "bf_max_job_start=2"), "8 9");
  EXPECT_EQ(Backfill(world + "bf_max_job_user=1"), "8 10");
  EXPECT_EQ(Backfill(world + "bf_max_job_part=1"), "8");
}

TEST(BackfillCycle, OfTwoPartitionsThatAreFreeTheFirstIsTaken) {
  const std::string nodes = "node n[1-2] a:4\npartition p n1\npartition q n2\n";
  EXPECT_EQ(Backfill(nodes + "pend 8 a:4 in p,q"), "8");
  EXPECT_EQ(Backfill(nodes + "run 7 n1 a:4 ends 1h\npend 8 a:4 in p,q"), "8/1");
}

TEST(BackfillCycle, AReservationAheadIsKeptFree) {
  EXPECT_EQ(Backfill("node n1 a:4\nreserve class n1 from 1h to 2h\n"
                     "pend 8 a:4 limit 61m\npend 9 a:4 limit 1h"),
            "9");
}

// ---- against what must hold for every queue -----------------------------------------------------

int Draw(int low, int high) { return *rc::gen::inRange(low, high + 1); }

std::string Minutes(int tens) { return std::to_string(10 * tens) + "m"; }

std::string DrawWorld(int nodes, int most_nodes_of_a_job) {
  std::ostringstream world;
  world << "node n[1-" << nodes << "] a:8 cpus 64\n";
  for (int node = 1; node <= nodes; ++node) {
    for (int i = Draw(0, 3); i > 0; --i) {
      world << "run " << 10 * node + i << " n" << node << " a:" << Draw(1, 2) << " ends "
            << Minutes(Draw(1, 9)) << "\n";
    }
  }
  for (int id = 1000 + Draw(1, 12); id >= 1000; --id) {
    world << "pend " << id << " a:" << Draw(1, 8) << " nodes " << Draw(1, most_nodes_of_a_job)
          << " limit " << Minutes(Draw(1, 9)) << " priority " << Draw(1, 5) << "\n";
  }
  return world.str();
}

// When each job that is left could start if it were alone with those who run.
int64_t EarliestAlone(Site& site, const PendingJob& job) {
  const PartitionOption& way = job.options.front();
  return site.nodes.PlanAt(0).Earliest(*way.requirements, way.duration, 0).start;
}

RC_GTEST_PROP(BackfillCycle, NeverDelaysTheFirstJobOfTheQueue, ()) {
  Site site(DrawWorld(Draw(1, 4), 1));
  const PendingJob& first = site.queue->pending().front();
  const int64_t before = EarliestAlone(site, first);
  const std::string& started = site.Backfill();
  if (before == 0) {
    RC_ASSERT(started.substr(0, 4) == std::to_string(first.id));
  } else {
    RC_ASSERT(EarliestAlone(site, first) == before);
  }
}

RC_GTEST_PROP(BackfillCycle, NeverDelaysTheFirstJobOfSeveralNodes, ()) {
  Site site(DrawWorld(Draw(2, 5), 2));
  const PendingJob& first = site.queue->pending().front();
  const int64_t before = EarliestAlone(site, first);
  site.Backfill();
  if (before > 0) RC_ASSERT(EarliestAlone(site, first) == before);
}

// One node, minute by minute: in order, each job takes the first gap that is long enough; who
// cannot start now keeps the whole node for that time.
std::string SlowBackfill(const QueueModel& queue) {
  std::vector<int64_t> free(400, 8);  // of steps of ten minutes
  const auto take = [&](int64_t from, int64_t to, int64_t gpus) {
    for (int64_t t = from; t < to; ++t) free[static_cast<size_t>(t)] -= gpus;
  };
  for (const RunningJob& job : queue.running()) {
    take(0, job.until / 600, job.held.front().each->any_gpus);
  }
  std::string started;
  for (const PendingJob& job : queue.pending()) {
    const int64_t gpus = job.options.front().requirements->demands.front().each.any_gpus;
    const int64_t steps = job.options.front().duration / 600;
    int64_t start = 0;
    for (int64_t fits = 0; fits < steps; ++start) {
      fits = free[static_cast<size_t>(start)] >= gpus ? fits + 1 : 0;
    }
    start -= steps;
    if (start == 0) started += (started.empty() ? "" : " ") + std::to_string(job.id);
    take(start, start + steps, start == 0 ? gpus : 8);
  }
  return started;
}

RC_GTEST_PROP(BackfillCycle, StartsWhatPlanningStepByStepStarts, ()) {
  Site site(DrawWorld(1, 1));
  RC_ASSERT(site.Backfill() == SlowBackfill(*site.queue));
}

RC_GTEST_PROP(MainCycle, StartsTheFrontOfTheQueueAsFarAsItFits, ()) {
  Site site(DrawWorld(1, 1));
  int64_t left = 8;
  for (const RunningJob& job : site.queue->running()) left -= job.held.front().each->any_gpus;
  std::string expected;
  for (const PendingJob& job : site.queue->pending()) {
    left -= job.options.front().requirements->demands.front().each.any_gpus;
    if (left < 0) break;
    expected += (expected.empty() ? "" : " ") + std::to_string(job.id);
  }
  RC_ASSERT(site.Main() == expected);
}

// ---- SchedulerParameters -----------------------------------------------------------------------

// A job of two partitions that waits for one node in each; job 9 would be in its way in the second.
const char* const kTwoPartitions =
    "node n[1-2] a:4\npartition p1 n1\npartition p2 n2\n"
    "run 5 n1 a:4 ends 1h in p1\nrun 6 n2 a:2 ends 2h in p2\n"
    "pend 8 a:4 limit 1h in p1,p2\npend 9 a:2 limit 4h in p2\n";

TEST(BackfillCycle, KeepsNodesInEachPartitionOfAJob) {
  EXPECT_EQ(Backfill(kTwoPartitions), "");
  EXPECT_EQ(Backfill(std::string("config parameters bf_one_resv_per_job\n") + kTwoPartitions), "9");
}

TEST(BackfillCycle, KeepsNodesForTheFirstJobsOfAPartition) {
  const std::string world =
      "node n[1-2] a:4\nrun 5 n1 a:4 ends 1h\nrun 6 n2 a:2 ends 2h\npend 8 a:4 limit 1h\n"
      "pend 9 a:4 limit 1h\npend 10 a:4 limit 1h\npend 11 a:2 limit 5h\n";
  EXPECT_EQ(Backfill(world), "");
  EXPECT_EQ(Backfill("config parameters bf_job_part_count_reserve=1\n" + world), "11");
  EXPECT_EQ(Backfill("config parameters bf_job_part_count_reserve=3\n" + world), "");
}

TEST(BackfillCycle, LooksAtSoManyJobsOfAnAssociation) {
  const std::string world =
      "node n1 a:4\nrun 5 n1 a:2 ends 1h\npend 8 a:4 user bob\npend 9 a:1 limit 10m user bob\n"
      "pend 10 a:1 limit 10m user bob account other\n";
  EXPECT_EQ(Backfill(world), "9 10");
  EXPECT_EQ(Backfill("config parameters bf_max_job_assoc=1\n" + world), "10");
  EXPECT_EQ(Backfill("config parameters bf_max_job_user=1,bf_max_job_assoc=2\n" + world), "9 10");
}

TEST(BackfillCycle, LooksAtSoManyJobsOfAUserInAPartition) {
  const std::string world =
      "node n1 a:4\npartition p1 ALL\npartition p2 ALL\nrun 5 n1 a:1 ends 1h\n"
      "pend 8 a:4 in p1\npend 9 a:1 limit 10m in p1\npend 10 a:1 limit 10m in p2\n";
  EXPECT_EQ(Backfill(world), "9 10");
  EXPECT_EQ(Backfill("config parameters bf_max_job_user_part=1\n" + world), "10");
}

TEST(MainCycle, TriesSoManyJobsOfEachPartition) {
  const std::string world =
      "node n[1-2] a:4\npartition p1 n1\npartition p2 n2\npend 8 a:1 in p1\npend 9 a:1 in p1\n"
      "pend 10 a:1 in p2\n";
  EXPECT_EQ(Main(world), "8 9 10");
  EXPECT_EQ(Main("config parameters partition_job_depth=1\n" + world), "8 10");
}

TEST(MainCycle, AJobOverALimitHoldsItsPartitionBackWithAssocLimitStop) {
  const std::string world =
      "config enforce limits\nqos normal per-user gres/gpu=2\nqos big\nassoc lab user ann\n"
      "node n1 a:8\nrun 5 n1 a:2 ends 1h\npend 8 a:1\npend 9 a:1 qos big\n";
  EXPECT_EQ(Main(world), "9");
  EXPECT_EQ(Main("config parameters assoc_limit_stop\n" + world), "");
}

TEST(MainCycle, AJobThatWaitsForALicenceHoldsNobodyBackWithAssocLimitStop) {
  EXPECT_EQ(Main("config parameters assoc_limit_stop\nlicence x 1 used 1\nnode n1 a:8\n"
                 "run 5 n1 a:2 ends 1h licenses x=1\npend 8 a:1 licenses x=1\npend 9 a:1\n"),
            "9");
}

TEST(MainCycle, DoesNotRunWhereItsIntervalIsMinusOne) {
  EXPECT_EQ(Main("config parameters sched_interval=-1\nnode n1 a:8\npend 8 a:1\n"), "");
  EXPECT_EQ(Backfill("config parameters sched_interval=-1\nnode n1 a:8\npend 8 a:1\n"), "8");
}

TEST(BackfillCycle, KeepsNoNodesInAMagneticReservation) {
  const std::string world =
      "node n1 a:4\nreserve class n1 from 0h to 9h users ann,bob flags MAGNETIC\n"
      "run 5 n1 a:2 ends 1h reservation class\npend 8 a:4 limit 1h\npend 9 a:2 limit 4h user bob\n";
  EXPECT_EQ(Backfill(world), "9/1");
  EXPECT_EQ(Backfill("config parameters bf_allow_magnetic_slot\n" + world), "");
}

}  // namespace
}  // namespace gpuadvise
