// The plan of one backfill pass by itself, against a table of time steps.
#include "common/scheduler/group_plan.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/common/scheduler/queue_of.h"

namespace gpuadvise {
namespace {

Resources Cpus(int64_t count) {
  Resources amount;
  amount.cpus = count;
  return amount;
}

// `nodes` nodes out of the groups 0 … groups - 1, with `cpus` on each.
GroupRequirements Needs(int32_t groups, int64_t nodes, int64_t cpus) {
  GroupRequirements needs;
  needs.nodes = nodes;
  for (int32_t group = 0; group < groups; ++group) needs.demands.push_back({group, 1, Cpus(cpus)});
  return needs;
}

// The plan of a cluster of `nodes` nodes with 8 CPUs each, all free at 0.
struct Plan {
  explicit Plan(int nodes, const std::string& more = "")
      : queue(QueueOf("node n[1-" + std::to_string(nodes) + "] cpus 8" + more)),
        plan(queue->groups()) {
    for (int32_t group = 0; group < nodes; ++group) plan.Reset(group, 0, Cpus(8), 0);
  }
  std::shared_ptr<const QueueModel> queue;
  GroupPlan plan;
};

std::vector<int32_t> Places(const GroupSlot& slot) {
  std::vector<int32_t> places;
  for (const GroupAllocation& placed : slot.nodes) places.push_back(placed.demand);
  std::sort(places.begin(), places.end());
  return places;
}

TEST(GroupPlan, AJobStartsWhereItsNeedsAreFreeForAllOfItsTime) {
  Plan one(1);
  one.plan.Take(Needs(1, 1, 6), {100, {{0, 1}}}, 50);
  EXPECT_EQ(one.plan.Earliest(Needs(1, 1, 4), 100, 0).start, 0);
  EXPECT_EQ(one.plan.Earliest(Needs(1, 1, 4), 101, 0).start, 150);
  EXPECT_EQ(one.plan.Earliest(Needs(1, 1, 2), 101, 0).start, 0);
  EXPECT_EQ(one.plan.Earliest(Needs(1, 1, 4), 10, 95).start, 150);
}

TEST(GroupPlan, NoSlotIsGivenFromTheLatestTimeOn) {
  Plan one(1);
  one.plan.Take(Needs(1, 1, 8), {0, {{0, 1}}}, 50);
  EXPECT_EQ(one.plan.Earliest(Needs(1, 1, 1), 10, 0, 51).start, 50);
  EXPECT_EQ(one.plan.Earliest(Needs(1, 1, 1), 10, 0, 50).start, kNever);
  EXPECT_EQ(one.plan.Earliest(Needs(1, 1, 9), 10, 0).start, kNever);
}

TEST(GroupPlan, AJobWithoutALimitNeedsAllTimeToCome) {
  Plan one(1);
  one.plan.Take(Needs(1, 1, 8), {1'000'000, {{0, 1}}}, 10);
  EXPECT_EQ(one.plan.Earliest(Needs(1, 1, 1), kNever, 0).start, 1'000'010);
  one.plan.Take(Needs(1, 1, 8), {2'000'000, {{0, 1}}}, kNever);
  EXPECT_EQ(one.plan.Earliest(Needs(1, 1, 1), kNever, 0).start, kNever);
}

TEST(GroupPlan, AReservationKeepsWholeNodesWhateverItsJobAsksFor) {
  Plan two(2);
  two.plan.Reserve(Needs(2, 1, 1), {100, {{0, 1}}}, 100, 200);
  const GroupSlot slot = two.plan.Earliest(Needs(2, 2, 1), 150, 0);
  EXPECT_EQ(slot.start, 200);
  EXPECT_EQ(two.plan.Earliest(Needs(2, 1, 8), 500, 0).start, 0);  // on the other
}

TEST(GroupPlan, WhatEndsComesFree) {
  Plan two(2);
  for (int32_t group = 0; group < 2; ++group) {
    two.plan.Reset(group, 10, Cpus(0), 0);
    two.plan.Release(group, 60 * (group + 1), Cpus(4));
  }
  EXPECT_EQ(two.plan.Earliest(Needs(2, 1, 4), 5, 10).start, 60);
  EXPECT_EQ(two.plan.Earliest(Needs(2, 2, 4), 5, 10).start, 120);
  EXPECT_EQ(two.plan.Earliest(Needs(2, 1, 5), 5, 10).start, kNever);
}

TEST(GroupPlan, ARequiredNodeIsWaitedForWhateverElseIsFree) {
  Plan three(3);
  three.plan.Take(Needs(3, 1, 8), {0, {{1, 1}}}, 70);
  GroupRequirements needs = Needs(3, 2, 1);
  EXPECT_EQ(three.plan.Earliest(needs, 10, 0).start, 0);
  needs.demands[1].required = true;
  EXPECT_EQ(three.plan.Earliest(needs, 10, 0).start, 70);
}

TEST(GroupPlan, OfNodesThatAreFreeAtOnceTheFullestIsTaken) {
  Plan three(3);
  three.plan.Take(Needs(3, 1, 2), {0, {{0, 1}}}, 100);
  three.plan.Take(Needs(3, 1, 6), {0, {{1, 1}}}, 100);
  EXPECT_EQ(Places(three.plan.Earliest(Needs(3, 1, 2), 10, 0)), std::vector<int32_t>{1});
  EXPECT_EQ(Places(three.plan.Earliest(Needs(3, 1, 4), 10, 0)), std::vector<int32_t>{0});
  EXPECT_EQ(Places(three.plan.Earliest(Needs(3, 1, 8), 10, 0)), std::vector<int32_t>{2});
}

TEST(GroupPlan, OthersReservedWindowsAreKeptAndOnesOwnIsNot) {
  Plan one(1, "\nreserve class n1 from 1h to 2h");
  EXPECT_EQ(one.plan.Earliest(Needs(1, 1, 1), 3600, 0).start, 0);
  EXPECT_EQ(one.plan.Earliest(Needs(1, 1, 1), 3601, 0).start, 7200);
  GroupRequirements own = Needs(1, 1, 1);
  own.reservation = 0;
  EXPECT_EQ(one.plan.Earliest(own, 3601, 0).start, 0);
}

TEST(GroupPlan, TheCoarseGridIsNeverEarlyAndByASixteenthLateAtMost) {
  const auto queue = QueueOf("node n[1-70] cpus 8");  // a pool
  for (const int64_t end : {1, 59, 60, 61, 1000, 5000, 86'400, 1'000'000}) {
    GroupPlan plan(queue->groups(), GroupPlan::Grid::kCoarse);
    plan.Reset(0, 0, Cpus(0), 0);
    plan.Release(0, end, Cpus(8));
    const int64_t start = plan.Earliest(Needs(1, 1, 8), 60, 0).start;
    EXPECT_GE(start, end);
    EXPECT_LE(start, end + std::max<int64_t>(60, end / 8)) << end;
  }
}

TEST(FillOrder, RequiredOnesThenLowWeightsThenFullNodes) {
  const auto queue = QueueOf(
      "node n1 cpus 8 weight 3\nnode n2 cpus 8 weight 1\nnode n3 cpus 8 weight 1\nnode n4 cpus 8 "
      "weight 9");
  GroupRequirements needs = Needs(4, 2, 1);
  needs.demands[3].required = true;
  const std::vector<Resources> free = {Cpus(1), Cpus(8), Cpus(2), Cpus(8)};
  const std::vector<const Resources*> places = {&free[0], &free[1], &free[2], &free[3]};
  EXPECT_EQ(FillOrder(queue->groups(), needs, {1, 1, 1, 1}, places, {0, 0, 0, 0}),
            (std::vector<int32_t>{3, 2, 1, 0}));
  EXPECT_EQ(FillOrder(queue->groups(), needs, {1, 0, 1, 1}, places, {0, 0, 0, 0}),
            (std::vector<int32_t>{3, 2, 0}));
}

// ---- against a table
// -----------------------------------------------------------------------------

int Draw(int low, int high) { return *rc::gen::inRange(low, high + 1); }

// Free CPUs of each node in each step; what lies beyond the table is as its last step.
struct Table {
  explicit Table(int nodes) : free(static_cast<size_t>(nodes), std::vector<int64_t>(120, 8)) {}

  bool Fits(size_t node, int64_t cpus, int64_t from, int64_t steps) const {
    for (int64_t t = from; t < from + steps; ++t) {
      if (free[node][static_cast<size_t>(std::min<int64_t>(t, 119))] < cpus) return false;
    }
    return true;
  }
  std::vector<int32_t> Fitting(int64_t cpus, int64_t from, int64_t steps) const {
    std::vector<int32_t> nodes;
    for (size_t node = 0; node < free.size(); ++node) {
      if (Fits(node, cpus, from, steps)) nodes.push_back(static_cast<int32_t>(node));
    }
    return nodes;
  }
  void Take(const std::vector<int32_t>& nodes, int64_t cpus, int64_t from, int64_t steps) {
    for (const int32_t node : nodes) {
      for (int64_t t = from; t < std::min<int64_t>(from + steps, 120); ++t) {
        free[static_cast<size_t>(node)][static_cast<size_t>(t)] -= cpus;
      }
    }
  }
  std::vector<std::vector<int64_t>> free;
};

RC_GTEST_PROP(GroupPlan, FindsTheEarliestSlotThatATableOfStepsShows, ()) {
  const int nodes = Draw(1, 4);
  Plan plan(nodes);
  Table table(nodes);
  for (int i = Draw(1, 10); i > 0; --i) {
    const int64_t wanted = Draw(1, nodes), cpus = Draw(1, 8), steps = Draw(1, 9);
    const GroupRequirements needs = Needs(nodes, wanted, cpus);
    int64_t from = Draw(0, 3), start = from;
    while (static_cast<int64_t>(table.Fitting(cpus, start, steps).size()) < wanted) ++start;
    const GroupSlot slot = plan.plan.Earliest(needs, 10 * steps, 10 * from);
    RC_ASSERT(slot.start == 10 * start);
    RC_ASSERT(plan.plan.HasSlotAt(needs, 10 * steps, 10 * from) == (start == from));
    RC_ASSERT(plan.plan.HasSlotAt(needs, 10 * steps, 10 * start));
    const std::vector<int32_t> places = Places(slot);
    const std::vector<int32_t> fitting = table.Fitting(cpus, start, steps);
    RC_ASSERT(static_cast<int64_t>(places.size()) == wanted);
    RC_ASSERT(std::includes(fitting.begin(), fitting.end(), places.begin(), places.end()));
    if (Draw(0, 2) > 0) {
      plan.plan.Take(needs, slot, 10 * steps);
      table.Take(places, cpus, start, steps);
    } else {
      plan.plan.Reserve(needs, slot, slot.start, slot.start + 10 * steps);
      table.Take(places, 8, start, steps);
    }
  }
}

}  // namespace
}  // namespace gpuadvise
