#include "client/sweep/sweep_runs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/sweep/sweep_moves.h"
#include "tests/client/fake_slurm.h"

namespace gpuadvise::client {
namespace {

using testing::ElementsAre;
using Numbers = std::vector<int64_t>;

// Runs 1 to 6: 1 to 3 on L40S as job 10, the others on RTX 2080 Ti as job 20.
SweepRecord Record() {
  SweepRecord record;
  record.array = "1-6";
  record.jobs = {{10, "l40s", "gpu", 1, 1, {1, 2, 3}}, {20, "rtx2080ti", "gpu", 1, 1, {4, 5, 6}}};
  return record;
}

std::vector<RunState> StatesOf(const std::vector<SweepRun>& runs) {
  std::vector<RunState> states;
  for (const SweepRun& run : runs) states.push_back(run.state);
  return states;
}

TEST(QueuedTasks, AreThoseOfArrays) {
  FakeSlurm slurm;
  slurm.answers["squeue"] = "10|10|3|PD\n501|10|1|R\n77|77|N/A|PD\nsome warning\n504|20|4|CG\n";
  const auto tasks = QueuedTasks(slurm, "ann");
  ASSERT_TRUE(tasks);
  ASSERT_EQ(tasks->size(), 3u);
  EXPECT_EQ((*tasks)[0].task, 3);
  EXPECT_TRUE((*tasks)[0].waits);
  EXPECT_FALSE((*tasks)[2].waits);
}

TEST(RunsOf, EachRunIsWhereTheQueueAndTheFolderSay) {
  const auto runs = RunsOf(Record(), {{10, 10, 2, true}, {503, 10, 3, false}, {99, 99, 6, true}},
                           {{1, {501, 0}}, {3, {503, {}}}, {4, {504, 3}}, {5, {505, {}}}});
  EXPECT_THAT(StatesOf(runs), ElementsAre(RunState::kDone, RunState::kWaiting, RunState::kRunning,
                                          RunState::kFailed, RunState::kFailed, RunState::kLost));
  EXPECT_EQ(runs[3].status, 3);
  EXPECT_EQ(runs[4].status, std::nullopt);
  EXPECT_EQ(
      RunsInWords(runs),
      "1 of 6 done, 1 running, 1 waiting, 2 failed (4 and 5), 1 neither begun nor queued (6)");
}

TEST(RunsOf, ARequeuedRunWaitsAgainAndADoneOneStaysDone) {
  const auto runs =
      RunsOf(Record(), {{501, 10, 1, true}, {20, 20, 4, true}}, {{1, {501, 143}}, {4, {504, 0}}});
  EXPECT_EQ(runs[0].state, RunState::kWaiting);
  EXPECT_TRUE(runs[0].taken);
  EXPECT_EQ(runs[3].state, RunState::kDone);  // the one that waits will have nothing to do
}

TEST(RunsOf, ARunThatSaysThatItIsDoneIsDoneThoughTheQueueStillHasItsJob) {
  const auto runs = RunsOf(Record(), {{501, 10, 1, false}, {502, 10, 2, true}, {503, 10, 3, false}},
                           {{1, {501, 0}}, {2, {502, 0}}, {3, {503, 1}}});
  EXPECT_EQ(runs[0].state, RunState::kDone);
  EXPECT_EQ(runs[1].state, RunState::kWaiting);  // requeued by its user
  EXPECT_EQ(runs[2].state, RunState::kRunning);  // it may be requeued
}

TEST(RunsOf, ARunIsWhereItsJobIsAlsoOfAnArrayThatIsNotRecorded) {
  const auto runs = RunsOf(Record(), {{601, 60, 2, false}}, {{2, {601, {}}}});
  EXPECT_EQ(runs[1].state, RunState::kRunning);
  EXPECT_EQ(runs[1].array, 60);
}

api::Advice Advice(int64_t on_l40s, int64_t on_2080ti) {
  api::Advice advice;
  advice.strategies.resize(2);
  advice.strategies[0].rank = 1;
  advice.strategies[0].gpu = "l40s";
  advice.strategies[1].rank = 2;
  advice.strategies[1].gpu = "rtx2080ti";
  for (api::Strategy& row : advice.strategies) {
    row.partition = "gpu";
    row.gpus_per_node = row.nodes = 1;
  }
  api::Sweep sweep;
  sweep.members = on_l40s + on_2080ti;
  for (const auto& [rank, members] : {std::pair(1, on_l40s), std::pair(2, on_2080ti)}) {
    if (members == 0) continue;
    api::SweepShare& share = sweep.shares.emplace_back();
    share.rank = rank;
    share.members = members;
  }
  advice.sweep = sweep;
  return advice;
}

std::vector<SweepRun> Waiting() {
  return RunsOf(Record(),
                {{10, 10, 2, true}, {10, 10, 3, true}, {20, 20, 4, true}, {20, 20, 5, true}},
                {{1, {501, 0}}, {6, {506, 0}}});
}

TEST(MovesTo, TheLastOfATypeWithTooManyGoToTheOther) {
  const SweepMoves moves = MovesTo(Advice(3, 1), Record(), Waiting(), {}, true);
  ASSERT_EQ(moves.cancel.size(), 1u);
  EXPECT_EQ(moves.cancel.at(20), Numbers({5}));
  ASSERT_EQ(moves.submit.size(), 1u);
  EXPECT_EQ(moves.submit[0].rank, 1);
  EXPECT_EQ(moves.submit[0].tasks, Numbers({5}));
}

TEST(MovesTo, ARequeuedRunStaysWhereItIs) {
  std::vector<SweepRun> runs = Waiting();
  runs[4].taken = true;  // run 5, the last
  EXPECT_EQ(MovesTo(Advice(3, 1), Record(), runs, {}, true).cancel.at(20), Numbers({4}));
}

TEST(MovesTo, WhatIsThereAlreadyDoesNotMove) {
  EXPECT_TRUE(MovesTo(Advice(2, 2), Record(), Waiting(), {}, true).empty());
  EXPECT_TRUE(MovesTo(Advice(4, 0), Record(), Waiting(), {}, false).empty());
}

TEST(MovesTo, RunsWithoutAPlaceGoWhereThePlanHasRoom) {
  const SweepMoves moves = MovesTo(Advice(2, 4), Record(), Waiting(), {9, 8}, false);
  EXPECT_TRUE(moves.cancel.empty());
  ASSERT_EQ(moves.submit.size(), 1u);
  EXPECT_EQ(moves.submit[0].rank, 2);
  EXPECT_EQ(moves.submit[0].tasks, Numbers({8, 9}));
}

TEST(MovesTo, EveryRunWithoutAPlaceGetsOneAlsoBesideThePlan) {
  // The plan has room for one more on the second type only if one moved, which is not asked.
  const SweepMoves moves = MovesTo(Advice(5, 0), Record(), Waiting(), {7}, false);
  ASSERT_EQ(moves.submit.size(), 1u);
  EXPECT_EQ(moves.submit[0].tasks, Numbers({7}));
}

TEST(IsWorthMoving, WhereEvenALateEndIsSoonerThanTheEndWhereRunsWait) {
  api::Sweep sweep;
  sweep.makespan = {3'000, 3'600, 4'000, 3'600};
  EXPECT_FALSE(IsWorthMoving(sweep));  // nothing waits
  sweep.as_it_waits = api::Seconds{3'000, 4'100, 9'000, 5'000};
  EXPECT_FALSE(IsWorthMoving(sweep));  // by less than 5 %
  sweep.as_it_waits = api::Seconds{4'000, 4'300, 9'000, 5'000};
  EXPECT_TRUE(IsWorthMoving(sweep));
  sweep.makespan = {100, 3'600, 4'300, 3'600};
  EXPECT_FALSE(IsWorthMoving(sweep));
}

}  // namespace
}  // namespace gpuadvise::client
