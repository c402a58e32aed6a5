#include "client/run/run_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "client/run/batch_for_gpu.h"

namespace gpuadvise::client {
namespace {

using testing::HasSubstr;

constexpr int64_t kGib = int64_t{1} << 30;

LogFact Step(int64_t step, int64_t total) {
  LogFact fact;
  fact.step = step;
  fact.total_steps = total;
  return fact;
}

GpuSample Gpu(double use, int64_t gib) { return {gib * kGib, 24 * kGib, use, 300}; }

TEST(RunWatch, TimesStepsItselfAndSaysWhatIsLeft) {
  RunWatch watch(600);
  watch.Begin(100);
  watch.AddLine(Step(10, 100), OutOfMemorySign::kNone, 130);  // the first one holds the start-up
  watch.AddLine(Step(20, 100), OutOfMemorySign::kNone, 150);
  EXPECT_DOUBLE_EQ(*watch.SecondsPerStep(), 2);
  EXPECT_DOUBLE_EQ(*watch.SecondsLeft(), 160);
  EXPECT_THAT(watch.ProgressLine(), HasSubstr("step 20/100 · 2 s a step · 3 m left"));
}

TEST(RunWatch, StepsThatGoBackAreAnotherLoop) {
  RunWatch watch(600);
  watch.Begin(0);
  watch.AddLine(Step(50, 100), OutOfMemorySign::kNone, 10);
  watch.AddLine(Step(3, 10), OutOfMemorySign::kNone, 20);  // an evaluation's bar
  EXPECT_EQ(*watch.step(), 50);
}

TEST(RunWatch, SilenceOfLogAndGpusIsSaidOnce) {
  RunWatch watch(600);
  watch.Begin(0);
  watch.AddLine({}, OutOfMemorySign::kNone, 100);
  EXPECT_TRUE(watch.NewHints(650).empty());
  EXPECT_EQ(watch.NewHints(701).size(), 1u);
  EXPECT_TRUE(watch.NewHints(702).empty());
  watch.AddLine({}, OutOfMemorySign::kNone, 800);
  EXPECT_THAT(watch.NewHints(1400)[0], HasSubstr("the training may hang"));
}

TEST(RunWatch, ABusyGpuIsASignOfLife) {
  RunWatch watch(600);
  watch.Begin(0);
  watch.AddSamples({Gpu(1, 10)}, 500);
  EXPECT_TRUE(watch.NewHints(1000).empty());
}

TEST(RunWatch, LittleUseIsSaidAfterTheStart) {
  RunWatch watch(1e9);
  watch.Begin(0);
  watch.AddLine(Step(1, 100), OutOfMemorySign::kNone, 60);
  for (double now = 0; now <= 400; now += 2) watch.AddSamples({Gpu(0.5, 10), Gpu(0.5, 12)}, now);
  EXPECT_TRUE(watch.NewHints(200).empty());
  EXPECT_THAT(watch.NewHints(400)[0], HasSubstr("busy 50 % of the time"));
  EXPECT_TRUE(watch.NewHints(401).empty());
  EXPECT_EQ(watch.gpus()[1].peak_memory_bytes, 12 * kGib);
}

TEST(SmallerBatch, KeepsTheEffectiveBatchExactly) {
  EXPECT_TRUE(rc::check([] {
    const Batch before{*rc::gen::inRange<int64_t>(2, 1000), *rc::gen::inRange<int64_t>(1, 100)};
    const auto after = SmallerBatch(before);
    RC_ASSERT(after.has_value());
    RC_ASSERT(after->micro_batch <= before.micro_batch / 2);
    RC_ASSERT(after->micro_batch * after->accumulation == before.micro_batch * before.accumulation);
  }));
  EXPECT_EQ(SmallerBatch({8, 4})->micro_batch, 4);
  EXPECT_EQ(SmallerBatch({5, 6})->micro_batch, 2);  // 2 × 15
  EXPECT_FALSE(SmallerBatch({1, 32}));
  EXPECT_THAT(NextOfTheLadder(), HasSubstr("gradient_checkpointing"));
}

}  // namespace
}  // namespace gpuadvise::client
