#include "common/node_timeline.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace gpuadvise {
namespace {

Resources Cpus(int64_t cpus) {
  Resources amount;
  amount.cpus = cpus;
  return amount;
}

TEST(NodeTimeline, TakesFromToAndGivesBack) {
  NodeTimeline line(Cpus(8));
  line.Take(10, 20, Cpus(3));
  EXPECT_EQ(line.FreeThroughout(0, 10).cpus, 8);
  EXPECT_EQ(line.FreeThroughout(0, 11).cpus, 5);
  EXPECT_EQ(line.FreeThroughout(19, 30).cpus, 5);
  EXPECT_EQ(line.FreeThroughout(20, 30).cpus, 8);
}

TEST(NodeTimeline, WhatNeverEndsLeavesNoStepBehind) {
  NodeTimeline line(Cpus(8));
  line.Take(10, kNever, Cpus(3));
  EXPECT_EQ(line.size(), 2u);
  EXPECT_EQ(line.FreeThroughout(kNever - 1, kNever).cpus, 5);
}

TEST(NodeTimeline, AnEmptyIntervalTakesNothing) {
  NodeTimeline line(Cpus(8));
  line.Take(10, 10, Cpus(3));
  EXPECT_EQ(line.size(), 1u);
}

TEST(NodeTimeline, GpusOfEveryTypeAreCountedApart) {
  Resources capacity;
  capacity.gpus = {4, 2};
  NodeTimeline line(capacity);
  Resources first;
  first.gpus = {3, 0};
  Resources second;
  second.gpus = {0, 2};
  line.Take(0, 10, first);
  line.Take(10, 20, second);
  // Three GPUs are free at any time, but only one is the same all through.
  EXPECT_EQ(line.FreeThroughout(0, 10).TotalGpus(), 3);
  EXPECT_EQ(line.FreeThroughout(10, 20).TotalGpus(), 4);
  EXPECT_EQ(line.FreeThroughout(0, 20).TotalGpus(), 1);
}

RC_GTEST_PROP(NodeTimeline, AgreesWithAddingUpEveryInterval, ()) {
  NodeTimeline line(Cpus(1000));
  std::vector<int64_t> free(64, 1000);
  for (int i = *rc::gen::inRange(0, 20); i > 0; --i) {
    const int64_t from = *rc::gen::inRange(0, 64);
    const int64_t to = *rc::gen::inRange(0, 64);
    const int64_t cpus = *rc::gen::inRange(0, 9);
    line.Take(from, to, Cpus(cpus));
    for (int64_t t = from; t < to; ++t) free[static_cast<size_t>(t)] -= cpus;
  }
  for (int64_t t = 0; t < 64; ++t) {
    RC_ASSERT(line.FreeThroughout(t, t + 1).cpus == free[static_cast<size_t>(t)]);
    RC_ASSERT(line.Free(line.StepAt(t)).cpus == free[static_cast<size_t>(t)]);
  }
}

}  // namespace
}  // namespace gpuadvise
